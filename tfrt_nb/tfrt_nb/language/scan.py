"""Find functions and values in a source that is being edited and may contain any mistake.

The scanner makes one pass over the tokens. Offsets are positions in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import NamedTuple

from tfrt_nb.language.operations import known_results
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, annotated_results

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*"?)|(?P<value>%[\w$.-]+(?:\#\d+)?)
    |(?P<symbol>@(?:[\w$.-]+|"[^"\n]*"))|(?P<block>\^[\w$.-]+)|(?P<type>![\w$.]+|\b(?:s|u)?i\d+\b|\bb?f\d+\b|\bindex\b)
    |(?P<number>-?\b\d[\w.]*(?:[+-]\d+)?)|(?P<word>[A-Za-z_][\w$.]*)|(?P<arrow>->)
    |(?P<newline>\n)|(?P<mark>[(){}<>\[\],:=+*?|&;!%@^#-])""",
    re.VERBOSE,
)
_PLAIN = r"^[ \t]*%[\w$.-]+[ ]=[ ][a-z][\w$.]*(?:[ ]%[\w$.-]+(?:,[ ]%[\w$.-]+)*)?$"
# In a function of 5,000 lines, most lines are plain, and each is scanned as a single token.
_SCANNED = re.compile(rf"(?P<plain>{_PLAIN})|{TOKEN.pattern}", re.VERBOSE | re.MULTILINE)
_FUNCTIONS = frozenset({"func", "func.func", "async.func"})
_START = r"[ \t]*(?:func|func\.func|async\.func)(?![\w.$])"
_HEAD = re.compile(rf"^{_START}[^{{}}\n]*(?:\n(?!{_START})[^{{}}\n]*)*(?:\{{.*)?", re.MULTILINE)
"""Matches a function up to the end of the line with its first brace."""
_OPEN, _CLOSE = "([{<", ")]}>"


class Token(NamedTuple):
    """A piece of the source; `kind` is the name of a group in `TOKEN`."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(slots=True)
class Value:
    """A named value, and its scope, which ends with its region."""

    name: str
    type: str
    start: int
    visible_from: int
    visible_to: int | None = None


@dataclass(slots=True)
class Function:
    """A function as its first line declares it; `start` is the offset of its name."""

    name: str
    signature: str
    start: int
    parameters: tuple[str, ...] = ()


@dataclass(slots=True)
class Statement:
    """An operation, which extends from offset `start` to `end`.

    Its name is at offset `operation`, after the names of its results.
    """

    name: str
    start: int
    operation: int
    end: int


@dataclass(slots=True)
class Region:
    """A region of a host program's operation.

    Of the values outside it, the region can use only the operation's operands.
    """

    start: int
    operands: frozenset[str]
    end: int | None = None


@dataclass
class Scan:
    """The parts of a source that the scanner has found."""

    text: str
    values: list[Value] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens of the source."""
        return list(tokens_of(self.text))

    def visible(self, offset: int) -> list[Value]:
        """Return the values that an operation at `offset` may use, with the latest last.

        If several values have the same name, only the latest is included.
        """
        around = [
            one
            for one in self.regions
            if one.start <= offset and (one.end is None or offset <= one.end)
        ]
        region = max(around, key=lambda one: one.start, default=Region(0, frozenset()))
        found = {
            value.name: value
            for value in self.values
            if value.visible_from <= offset
            and (value.visible_to is None or offset <= value.visible_to)
            and (value.start >= region.start or value.name in region.operands)
        }
        return list(found.values())

    def token_at(self, offset: int) -> Token | None:
        """Return the token that contains the cursor or ends at it, or None.

        A name is preferred to a punctuation mark.
        """
        touching = [t for t in self.tokens if t.start <= offset <= t.end and t.kind != "newline"]
        return max(touching, key=lambda t: (t.kind not in ("mark", "arrow"), t.start), default=None)

    def statement_at(self, offset: int) -> Statement | None:
        """Return the innermost operation around `offset`, or None."""
        inside = [one for one in self.statements if one.start <= offset <= one.end]
        return max(inside, key=lambda one: one.start, default=None)


def tokens_of(text: str, pattern: re.Pattern[str] = TOKEN) -> Iterator[Token]:
    """Yield the tokens of a source, without blanks and without invalid characters."""
    for match in pattern.finditer(text):
        # Calling the class would take twice as long, and a function may have 5,000 lines.
        yield tuple.__new__(Token, (match.lastgroup or "", match[0], match.start()))


@collector_paused()
def scan(text: str) -> Scan:
    """Return the functions, statements, and values in `text`."""
    found = Scan(text)
    _Scanner(found).run([one for one in tokens_of(text, _SCANNED) if one.kind != "comment"])
    return found


def piece_around(text: str, offset: int) -> tuple[int, int]:
    """Return the start and the end of the function around `offset`.

    The function ends where the next function starts. Braces are ignored, because they are rarely
    balanced while an author edits a function.
    """
    starts = [one.start() for one in _HEAD.finditer(text)]
    at = bisect_right(starts, offset)
    return starts[at - 1] if at else 0, starts[at] if at < len(starts) else len(text)


def functions_of(text: str) -> list[Function]:
    """Return the functions of a source; only their first lines are read."""
    return [
        replace(one, start=head.start() + one.start)
        for head in _HEAD.finditer(text)
        for one in _functions_in(head[0])
    ]


@lru_cache(maxsize=2000)
def _functions_in(head: str) -> tuple[Function, ...]:
    return tuple(scan(head).functions)


class _Scanner:
    """Walks over the tokens. `_scopes` contains the values defined inside each open brace."""

    def __init__(self, found: Scan) -> None:
        self._found = found
        self._scopes: list[list[Value]] = [[]]
        self._results_open: list[list[tuple[Value, int]]] = [[]]
        self._regions: list[Region | None] = [None]
        self._latest: list[Value] = []
        self._next: list[Value] = []

    def run(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        at = 0
        while at < len(tokens):
            at = self._step(at)

    def _step(self, at: int) -> int:
        token = self._tokens[at]
        if token.kind == "plain":
            return self._plain(at)
        if token.text == "{":
            self._scopes.append(self._next)
            for value in self._next:
                value.visible_from = min(value.visible_from, token.end)
            self._next = []
            limit = len(self._found.text) + 1
            # The results of an operation are in scope only after its region.
            own = [one for one in self._latest if token.start < one.visible_from <= limit]
            self._results_open.append([(one, one.visible_from) for one in own])
            self._regions.append(self._region(at))
            for one in own:
                one.visible_from = limit + 1
        elif token.text == "}" and len(self._scopes) > 1:
            for value in self._scopes.pop():
                value.visible_to = token.start
            for value, start in self._results_open.pop():
                value.visible_from = max(start, token.end)
            if (region := self._regions.pop()) is not None:
                region.end = token.start
        elif token.kind == "word" and token.text in _FUNCTIONS:
            return self._head(at)
        elif token.kind == "block" and self._text(at + 1) == "(":
            close = self._closing(at + 1)
            self._define(self._parameters(at + 2, close), self._scopes[-1])
            return close
        elif token.text == "as" and self._text(at + 2) == ":":  # `(%x as %a: i32)`
            stop = self._part_end(at + 3, len(self._tokens))
            self._define(self._parameters(at + 1, stop), self._next)
            return stop
        elif token.kind == "value" and self._is_statement_start(at):
            return self._results(at)
        elif token.kind == "value" and self._text(at + 1) == "=":
            self._define([self._carried(at)], self._next)
        elif token.kind in ("word", "string") and self._is_statement_start(at):
            self._statement(at)
        return at + 1

    def _plain(self, at: int) -> int:
        """Scan a line `%a = operation %b, %c`, and return the position after it."""
        line, start = self._tokens[at].text, self._tokens[at].start
        name, _, operation, *_ = line.split(maxsplit=3)
        if (types := known_results(operation)) is None:  # scan its tokens one by one
            own = [one._replace(start=start + one.start) for one in tokens_of(line)]
            self._tokens[at : at + 1] = own
            return at
        first, end = start + line.index("%"), start + len(line)
        one = Statement(operation, first, start + line.index("= ") + 2, end)
        self._found.statements.append(one)
        self._latest = [Value(name, types[0], first, end + 1)]
        self._define(self._latest, self._scopes[-1])
        return at + 1

    def _region(self, at: int) -> Region | None:
        """Return the region that a brace opens, or None if the region sees all outer values."""
        regions, statements = self._found.regions, self._found.statements
        if self._text(at - 1) == "else" and regions:
            regions.append(Region(self._tokens[at].end, regions[-1].operands))
            return regions[-1]
        if not statements or not self._found.text.startswith("tfrt", statements[-1].operation):
            return None
        line = self._found.text[statements[-1].operation : self._tokens[at].start]
        regions.append(Region(self._tokens[at].end, frozenset(re.findall(r"%[\w$.#-]+", line))))
        return regions[-1]

    def _text(self, at: int) -> str:
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _is_statement_start(self, at: int) -> bool:
        if at == 0:
            return True
        before = self._tokens[at - 1]
        if before.text == "{":  # the brace opens a region, not attributes
            return self._text(at + 1) not in ("=", "}") or self._tokens[at].kind == "value"
        return before.kind == "newline" or before.text in ("}", "{")

    def _define(self, values: list[Value], scope: list[Value]) -> None:
        self._found.values += values
        scope += values

    def _carried(self, at: int) -> Value:
        """Return the value that `%i = %a` of a loop defines in the loop's region.

        The value has the type of `%a`.
        """
        token = self._tokens[at]
        types = {value.name: value.type for scope in self._scopes for value in scope}
        type_ = "index" if self._text(at - 1) == "scf.for" else types.get(self._text(at + 2), "")
        return Value(token.text, type_, token.start, token.end)

    def _head(self, at: int) -> int:
        """Scan the first line of a function; its arguments belong to the region that follows."""
        tokens = self._tokens
        symbol = at + 1
        while symbol < len(tokens) and tokens[symbol].kind == "word":  # such as `private`
            symbol += 1
        if symbol >= len(tokens) or tokens[symbol].kind != "symbol":
            return at + 1
        start = tokens[at].start
        self._found.statements.append(
            Statement(tokens[at].text, start, start, self._line_end(start))
        )
        name = tokens[symbol]
        end = symbol + 1
        arguments: list[Value] = []
        types: list[str] = []
        if self._text(end) == "(":
            close = self._closing(end)
            arguments = self._parameters(end + 1, close)
            types = [value.type for value in arguments] or self._types(end + 1, close)
            end = close + 1
        results: list[str] = []
        if self._text(end) == "->":
            stop = end + 1
            while stop < len(tokens) and not (
                tokens[stop].text in ("{", "attributes") or tokens[stop].kind == "newline"
            ):
                stop = self._closing(stop) + 1 if tokens[stop].text in _OPEN else stop + 1
            results = self._types(end + 1, stop)
            end = stop
        shown = results[0] if len(results) == 1 else f"({', '.join(results)})"
        names = tuple(value.name for value in arguments)
        signature = f"({', '.join(types)}) -> {shown}"
        self._found.functions.append(Function(name.text[1:], signature, name.start, names))
        self._found.values += arguments
        self._next = arguments
        while end < len(tokens) and tokens[end].text != "{" and tokens[end].kind != "newline":
            if tokens[end].text == "attributes" and self._text(end + 1) == "{":
                end = self._closing(end + 1) + 1
                continue
            end += 1
        if end >= len(tokens) or tokens[end].kind == "newline":  # this is a declaration
            self._next = []
        return end

    def _parameters(self, at: int, close: int) -> list[Value]:
        values: list[Value] = []
        while at < close:
            token = self._tokens[at]
            if token.kind == "value" and self._text(at + 1) == ":":
                start, at = at + 2, self._part_end(at + 2, close)
                type_ = self._source(start, at).partition("{")[0].strip()
                values.append(Value(token.text, type_, token.start, token.end))
            else:
                at += 1
        return values

    def _results(self, at: int) -> int:
        """Scan `%a, %b:2 = operation ...`, and return the position after it."""
        tokens = self._tokens
        names: list[tuple[Token, int]] = []
        while at < len(tokens) and tokens[at].kind == "value":
            count = 1
            name = tokens[at]
            at += 1
            if self._text(at) == ":" and self._text(at + 1).isdigit():
                count = min(int(self._text(at + 1)), 64)  # the author may type any number
                at += 2
            names.append((name, count))
            if self._text(at) == ",":
                at += 1
        if self._text(at) != "=" or at + 1 >= len(tokens):
            return max(at, 1)
        at += 1
        if tokens[at].kind not in ("word", "string"):
            return at
        statement = self._statement(at, names[0][0].start)
        token = ["!async.token"] if statement.name == "async.execute" else []
        types = [*token, *self._result_types(statement, at)]
        rest = iter(types)
        self._latest = []
        for name, count in names:
            for part in range(count):
                type_ = next(rest, types[-1] if types else "")
                shown = name.text if count == 1 else f"{name.text}#{part}"
                value = Value(shown, type_, name.start, statement.end + 1)
                self._define([value], self._scopes[-1])
                self._latest.append(value)
        return at + 1

    def _statement(self, at: int, start: int | None = None) -> Statement:
        token = self._tokens[at]
        first = token.start if start is None else start
        one = Statement(token.text.strip('"'), first, token.start, self._line_end(token.start))
        self._found.statements.append(one)
        if one.name in ("scf.parallel", "async.parallel_for"):  # `(%i, %j) = (%a, %b) to ...`
            head = takewhile(lambda each: each.text not in ("=", "\n"), self._tokens[at:])
            names = [Value(x.text, "index", x.start, x.end) for x in head if x.kind == "value"]
            self._define(names, self._next)
        return one

    def _line_end(self, start: int) -> int:
        end = self._found.text.find("\n", start)
        return len(self._found.text) if end < 0 else end

    def _result_types(self, statement: Statement, at: int) -> list[str]:
        """Return the types of an operation's results, from its signature or from the source."""
        if (known := known_results(statement.name)) is not None:
            return known
        stop = at + 1
        colon = arrow = -1
        while stop < len(self._tokens) and self._tokens[stop].kind != "newline":
            token = self._tokens[stop]
            if token.text == "->":
                arrow = stop
            elif token.text == ":" and arrow < 0:
                colon = stop
            elif token.text in "([{":
                close = self._closing(stop)
                if token.text == "{" and (close >= len(self._tokens) or max(colon, arrow) >= 0):
                    break  # the brace opens a region
                stop = close
            elif token.text == "}":
                break
            stop += 1
        if arrow >= 0:
            end = arrow + 1
            while end < stop and self._tokens[end].text != "{":
                end = self._closing(end) + 1 if self._tokens[end].text in "(<" else end + 1
            return self._types(arrow + 1, end)
        if colon < 0:
            return self._annotated_results(statement.name, at + 1, stop)
        return [_of_result(statement.name, self._source(colon + 1, stop).strip())]

    def _annotated_results(self, name: str, at: int, stop: int) -> list[str]:
        """Return the result types of a user's kernel in its short form."""
        if name not in USER_FUNCTIONS:
            return []
        known = {value.name: value.type for scope in self._scopes for value in scope}
        operands = [known[one.text] for one in self._tokens[at:stop] if one.text in known]
        return list(annotated_results(name, operands) or ())

    def _types(self, at: int, stop: int) -> list[str]:
        text = self._source(at, stop).strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        return split_types(text)

    def _source(self, at: int, stop: int) -> str:
        stop = min(stop, len(self._tokens))  # if a bracket is still open, `stop` is one too large
        if at >= stop:
            return ""
        return self._found.text[self._tokens[at].start : self._tokens[stop - 1].end]

    def _part_end(self, at: int, close: int) -> int:
        """Return the position at which a type ends: a comma, a bracket, or the end of the line."""
        while at < close:
            token = self._tokens[at]
            if token.kind == "newline" or token.text in (",", ")", "]", "}", "{", "="):
                return at
            at = self._closing(at) + 1 if token.text in "(<[" else at + 1
        return at

    def _closing(self, at: int) -> int:
        """Return the position of the token that closes the bracket at `at`, or the token count."""
        opening = self._tokens[at].text
        closing = _CLOSE[_OPEN.index(opening)]
        depth = 0
        for index in range(at, len(self._tokens)):
            text = self._tokens[index].text
            if text == opening:
                depth += 1
            elif text == closing:
                depth -= 1
                if depth == 0:
                    return index
        return len(self._tokens)


def split_types(text: str) -> list[str]:
    """Split a list of types at its commas."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "(<[":
            depth += 1
        elif character in ")]" or (character == ">" and text[index - 1 : index] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def _of_result(name: str, types: str) -> str:
    """Return the result type after the colon of a short form."""
    if " to " in types:
        return types.rpartition(" to ")[2]
    if name.startswith(("arith.cmpi", "arith.cmpf")):
        return "i1"
    if name == "async.await" and types.startswith("!async.value<"):
        return types.removeprefix("!async.value<")[:-1]
    if name == "memref.load":
        return types.partition("<")[2].rpartition(">")[0].rpartition("x")[2]
    return split_types(types)[-1] if types else ""
