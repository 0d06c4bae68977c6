"""Parse `expected-error` comments, in which a program declares its runtime errors.

`// expected-error {{text}}` expects at least one error on its line whose message contains the text.
`@+N` or `@-N` before the braces moves the expectation by N lines. `@above` and `@below` move the
expectation to the nearest line above or below that has no such comment. `expected-error-re {{one of
{{[0-9]+}}}}` has regular expressions in the inner braces. As in TFRT's driver, an unmatched comment
is reported only if its file had an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tfrt_runtime.diagnostics import Diagnostic, Location, error

# As in MLIR, the text ends at the last braces. Several comments may be on one line.
_COMMENT = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?:@(?P<where>[+-]\d+|\d+|above|below|unknown))?\s*"
    r"\{\{(?P<text>(?:(?!expected-(?:error|warning|remark|note)).)*)\}\}"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expectation:
    """A diagnostic that is expected on `line` (0 means outside the file).

    `place` is the location of the comment.
    """

    line: int
    text: str
    place: Location
    kind: str = "error"
    is_regex: bool = False

    def stands_for(self, kind: str, said: Diagnostic) -> bool:
        """Return whether the expectation matches a diagnostic's kind, line, and message."""
        line = said.location.line if isinstance(said.location, Location) else 0
        return self.kind == kind and self.line == line and self.fits(said.message)

    def fits(self, message: str) -> bool:
        """Return whether the expectation matches a message."""
        if not self.is_regex:
            return self.text in message
        parts = _INNER.split(self.text)  # outer text and inner expressions alternate
        parts[::2] = map(re.escape, parts[::2])
        try:
            return re.search("".join(parts), message) is not None
        except re.error:
            return False


def split(text: str) -> list[str]:
    """Split a source at the lines `// -----`. Each part keeps its line numbers."""
    parts, start = [], 0
    for line in _SPLIT.finditer(text):
        parts.append("\n" * text.count("\n", 0, start) + text[start : line.start()])
        start = line.end()
    return [*parts, "\n" * text.count("\n", 0, start) + text[start:]]


def find_expectations(text: str, source: str) -> list[Expectation]:
    """Return all expectations in a source."""
    found: list[Expectation] = []
    above, below = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        comments = list(_COMMENT.finditer(line))
        for comment in comments:
            if comment["where"] == "below":
                below.append(len(found))
            start = comment.start() + 1
            place = Location(source, number, start, number, start + len("expected-error"))
            target = _line(number, comment["where"], above)
            found.append(
                Expectation(target, comment["text"], place, comment["kind"], bool(comment["regex"]))
            )
        if not comments:
            for index in below:
                found[index] = replace(found[index], line=number)
            above, below = number, []
    return found


def _line(number: int, where: str | None, above: int) -> int:
    match where:
        case None | "below":  # resolved once the next line without a comment is known
            return number
        case "above":
            return above
        case "unknown":
            return 0
    return number + int(where) if where[0] in "+-" else int(where)


def check(
    diagnostics: Iterable[Diagnostic],
    expectations: Mapping[str, list[Expectation]],
    headline: str = "unexpected error: runtime error: ",
) -> list[Diagnostic]:
    """Return the differences: unexpected errors, and then unmet expectations.

    Args:
        diagnostics: the diagnostics in the order in which they occurred.
        expectations: the expectations, by source.
        headline: the text before the message of an unexpected error.
    """
    problems: list[Diagnostic] = []
    met: set[Expectation] = set()
    sources: set[str] = set()
    for diagnostic in diagnostics:
        message, place = f"runtime error: {diagnostic.message}", diagnostic.location
        if isinstance(place, Location):
            sources.add(place.source)
        fitting = _fitting(expectations, message, place)
        answered = next((one for one in fitting if one.kind == "error"), None)
        if answered is not None:
            met.add(answered)
        elif fitting:
            text = f"'error' diagnostic emitted when expecting a '{fitting[-1].kind}'"
            problems.append(error(text, fitting[-1].place))
        else:
            problems.append(error(headline + diagnostic.message, place, diagnostic.notes))
    for source in sorted(sources):
        problems += [
            error(f'expected {left.kind} "{left.text}" was not produced', left.place)
            for left in expectations.get(source, [])
            if left not in met
        ]
    return problems


def check_all(
    diagnostics: Iterable[Diagnostic], expectations: Sequence[Expectation]
) -> list[Diagnostic]:
    """Return the differences, as MLIR's tools report them.

    Each comment matches one diagnostic or note. An unexpected note is not a difference, because
    most notes are our own advice, which MLIR's tools do not give.
    """
    left = list(expectations)
    problems: list[Diagnostic] = []
    for diagnostic in diagnostics:
        for one in (diagnostic, *diagnostic.notes):
            # The first note of an error may be the message of MLIR or TFRT.
            said = (one, *one.notes[:1])
            met = next((e for e in left for each in said if e.stands_for(one.severity, each)), None)
            if met is not None:
                left.remove(met)
            elif one is diagnostic:
                problems.append(error(f"unexpected {one.severity}: {one.message}", one.location))
    return problems + [
        error(f'expected {e.kind} "{e.text}" was not produced', e.place) for e in left
    ]


def _fitting(
    expectations: Mapping[str, list[Expectation]], message: str, place: object
) -> list[Expectation]:
    """Return the expectations of any kind on a diagnostic's line that match its message."""
    if isinstance(place, Location):
        candidates, line = expectations.get(place.source, []), place.line
    else:
        candidates, line = [one for found in expectations.values() for one in found], 0
    return [one for one in candidates if one.line == line and one.fits(message)]
