"""`expected-error` comments: which runtime errors a program says it raises.

`// expected-error {{text}}` on a line expects an error there whose message contains the text;
`@+N` or `@-N` in front of the braces moves it by so many lines, `@above` and `@below` to the nearest
line there that expects nothing itself.  As in TFRT's driver, a comment that
no error answers counts only if some error was raised in its file.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tfrt_runtime.diagnostics import Diagnostic, Location, error

_COMMENT = re.compile(r"//.*?expected-error\s*(?:@([+-]?\d+|above|below))?\s*(?=\{\{)")
_TEXT = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """An error that is expected on `line`; `place` is the text in the comment."""

    line: int
    text: str
    place: Location


def find_expectations(text: str, source: str) -> list[Expectation]:
    """All expectations in a source."""
    found = []
    lines = text.split("\n")
    plain = [number for number, line in enumerate(lines, 1) if not _COMMENT.search(line)]
    for number, line in enumerate(lines, 1):
        for comment in _COMMENT.finditer(line):
            words = _TEXT.match(line, comment.end())
            if words is not None:
                start = line.index("expected-error", comment.start())
                end = start + len("expected-error")
                place = Location(source, number, start + 1, number, end + 1)
                found.append(Expectation(_line(number, comment[1], plain), words[1], place))
    return found


def _line(number: int, moved: str | None, plain: Sequence[int]) -> int:
    """The line that a comment on line `number` means; `plain` are those without such a comment."""
    if moved is None:
        return number
    if moved in ("above", "below"):
        after = bisect(plain, number)
        nearest = plain[max(0, after - 1) : after] if moved == "above" else plain[after : after + 1]
        return nearest[0] if nearest else 0
    return number + int(moved) if moved[0] in "+-" else int(moved)


def check(
    diagnostics: Iterable[Diagnostic],
    expectations: Mapping[str, list[Expectation]],
    headline: str = "unexpected error: runtime error: ",
) -> list[Diagnostic]:
    """What does not agree: errors that nobody expected, then expectations that nothing met.

    Args:
        diagnostics: in the order in which they were raised.
        expectations: by source.
        headline: comes before the message of an error that nobody expected.
    """
    problems: list[Diagnostic] = []
    open_ones = {source: list(found) for source, found in expectations.items()}
    sources: set[str] = set()
    for diagnostic in diagnostics:
        message, place = f"runtime error: {diagnostic.message}", diagnostic.location
        if isinstance(place, Location):
            sources.add(place.source)
        if not _take(open_ones, message, place):
            problems.append(error(headline + diagnostic.message, place, diagnostic.notes))
    for source in sorted(sources):
        problems += [
            error(f'expected error "{left.text}" was not produced', left.place)
            for left in open_ones.get(source, [])
        ]
    return problems


def _take(open_ones: Mapping[str, list[Expectation]], message: str, place: object) -> bool:
    """Use up the expectation that a message answers, if there is one.

    A loop may raise the same error many times: one expectation answers all of them.
    """
    if not isinstance(place, Location):
        return False
    for expectation in open_ones.get(place.source, []):
        if expectation.line == place.line and expectation.text in message:
            open_ones[place.source].remove(expectation)
            return True
    return False
