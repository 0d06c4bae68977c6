"""What a learner typed, read as an exercise needs it: `Answer`, `Code` and `Names`.

Each raises `Wrong` with a hint for what it cannot read.
"""

from __future__ import annotations

import contextlib
import dis
import io
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.exercises.orders import is_print, longest_path, needed, print_orders, returning
from tfrt_nb.report import render
from tfrt_runtime.diagnostics import TfrtError

if TYPE_CHECKING:
    from tfrt_nb.programs import Program
    from tfrt_runtime.bef.records import BefFunction
    from tfrt_runtime.host.context import HostContext
    from tfrt_runtime.host.values.async_value import AsyncValue

SECONDS = 5.0
"""How long a program of an answer may run."""
_PREFIX = re.compile(r"^(?:int\d+|f\d+|i\d+|index) = ")
_LABEL = re.compile(r"(?<![\w%])%?(?:\((?P<name>[a-z])\)|(?P<other>[a-z])\s*[:=)])\s*[:=]?\s*")
"""The name of a part, as in `a: 3, b: 4` and `(a) 3 (b) 4`."""
_BULLET = re.compile(r"^(?:[-*]|\d+[.)]) ")
_DASH = re.compile(r"^[-*] ")
"""A line that stands alone is in no list: its `1.` is a number."""
_ARROW = re.compile(r"[-=]?>|[→⇒]")
_BARE_LABEL = re.compile(r"^([a-z]) (?=\S)")
_FILLERS = frozenset({"&", "+", "<", "=", "an", "and", "just", "of", "only", "or", "the", "then"})
_SENTENCE = 8
"""So many words may stand around a short answer; a program has more."""
_NUMBER = re.compile(r"(?P<whole>[-+]?\d+)(?:\.0+)?(?:ms)?")
_MAGIC = re.compile(r"\A\s*%%tfrt.*")
_COMMENT = re.compile(r"//.*")
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS.split())}

_NO_PART = "Part {0} has no answer yet.  Write each part on its own line, or as `{0}: …`."
_MISSING = (
    "  If a cell above defines it, run that cell first;"
    " after a restart of the kernel, run all cells above."
)


class Wrong(Exception):
    """An answer is wrong; the text is the hint."""


@dataclass(frozen=True)
class Answer:
    """An answer in words.  Lines that begin with `#` or `//` are not part of it."""

    text: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that say something, in lower case, with single spaces; a printed line is its number."""
        rows = [" ".join(row.lower().split()) for row in self.text.replace("`", "").splitlines()]
        rows = [row for row in rows if row and not row.startswith(("#", "//"))]
        bullet = _BULLET if len(rows) > 1 else _DASH
        return tuple(_PREFIX.sub("", bullet.sub("", row)) for row in rows)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, without commas, semicolons, final dots, names of parts, and words such as `and`."""
        return _words(_LABEL.sub(" ", " ".join(self.lines)))

    def orders(self) -> set[tuple[str, ...]]:
        """Each line as a sequence of words: one output per line, or several between commas, semicolons, slashes or `or`."""
        found = set[tuple[str, ...]]()
        for row in self.lines:
            mark = next((one for one in (" or ", ";", "/") if one in row), ",")
            pieces = [in_digits(_words(piece)) for piece in row.split(mark)]
            whole = in_digits(_words(row))
            found |= set(pieces) if all(len(piece) > 1 for piece in pieces) else {whole}
        return found

    def number(self, where: str = "") -> int:
        """The one number that the answer has; `where` begins the hint."""
        words = self._number_words
        parts = _LABEL.findall(" ".join(self.lines))
        if len(words) != 1 or len(parts) > 1:
            raise Wrong(f"{where}Write one number and nothing else.")
        return _number(words[0], where)

    def numbers(self, count: int | None = None) -> tuple[int, ...]:
        """The numbers that the answer has; exactly `count` of them."""
        words = self._number_words
        if count is not None and len(words) < count:
            # As in `zero and 200`.
            words = tuple(word for word in self.words if word in _NUMBERS or word in words)
        found = tuple(map(_number, words))
        if count is not None and len(found) != count:
            raise Wrong(f"Write {count} numbers, not {len(found)}.")
        return found

    @cached_property
    def _number_words(self) -> tuple[str, ...]:
        """The words that are numbers, as in `3 kernels, 5 registers`; without any, all words."""
        digits = tuple(word for word in self.words if word.lstrip("+-")[:1].isdigit())
        if digits:
            _refuse_not(self.words)
        if len(self.words) - len(digits) > _SENTENCE:
            return self.words
        return digits or tuple(word for word in self.words if word in _NUMBERS) or self.words

    def choice(self, *allowed: str) -> str:
        """The one of the allowed words that the answer is; `%a` is `a`."""
        return _choice(" ".join(word.removeprefix("%") for word in self.words), allowed, "")

    def unnamed(self) -> tuple[str, ...]:
        """The words that are not names of values, as in `%a 4, %b error` or `a 4, b error`; `four` is `4`."""
        words = self.words
        if len(words) > 1 and "".join(words[::2]) == "abcdefgh"[: (len(words) + 1) // 2]:
            words = words[1::2]
        return in_digits(word for word in words if not word.startswith("%"))

    def parts(
        self, **allowed: type[int | tuple[int, ...]] | Iterable[str] | None
    ) -> dict[str, str]:
        """The parts `a`, `b`, … of the answer: labelled `a: …`, or in this order, one per line or word.

        `allowed` has the words that a part may be, `int` for one number, `tuple` for numbers or, without any, a text, None
        for any text, in which `two` is `2`.
        """
        found: dict[str, str] = {}
        names = list(allowed)
        for line in self._rows(names):
            row = _BARE_LABEL.sub(r"\1: ", line)
            labels = [one for one in _LABEL.finditer(row) if _name(one) in allowed]
            ends = [*(one.start() for one in labels), len(row)][1:]
            for label, end in zip(labels, ends, strict=True):
                found[_name(label)] = row[label.end() : end].strip(" ,;")
            if not labels:
                free = [one for one in names if one not in found]
                if not free:
                    parts = ", ".join(names)
                    raise Wrong(f"There is a line too many: {row!r}.  The parts are {parts}.")
                found[free[0]] = row.strip()
        for name, words in allowed.items():
            read = _words(_PREFIX.sub("", found.get(name, "")))
            if not read:
                raise Wrong(_NO_PART.format(name))
            numbered = in_digits(read)
            if words is None:
                found[name] = " ".join(numbered)
            elif words is tuple:
                numbers = [word for word in numbered if word.isdigit()]
                if numbers:
                    _refuse_not(read)
                found[name] = " ".join(numbers or read)
            elif isinstance(words, type):
                found[name] = str(Answer(found[name]).number(f"Part {name}: "))
            else:
                found[name] = _choice(" ".join(read), tuple(words), f"Part {name}: ")
        return found

    def _rows(self, names: list[str]) -> Sequence[str]:
        """The lines; those of an answer in one line are its words, one for each name, or pieces between semicolons or commas."""
        count = len(names)
        if len(self.lines) == 1 and not _LABEL.search(self.lines[0]):
            line = self.lines[0]
            if [*self.words[::2]] == names and len(self.words) == 2 * count:
                return [
                    f"{name}: {word}" for name, word in zip(names, self.words[1::2], strict=True)
                ]
            for rows in (line.split(";"), line.split(","), self.words):
                if len(rows) == count and all(row.strip() for row in rows):
                    return rows
            if count > 1 and len(self.words) > 1:
                raise Wrong(_NO_PART.format(names[1]))
        return self.lines


@dataclass(frozen=True)
class Failed:
    """A result that is an error."""

    message: str


@dataclass(frozen=True)
class Outcome:
    """What a run did: the words that it printed, its results, and its errors.

    `left` lists the async objects that a compiled program did not release.
    """

    printed: tuple[str, ...]
    results: tuple[object, ...]
    errors: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def result(self) -> object:
        """The first result."""
        if not self.results:
            raise Wrong("The function returns nothing; it must return a result.")
        return self.results[0]


@dataclass(frozen=True)
class Code:
    """An answer that is a program in MLIR syntax; a line `%%tfrt` above it is ignored."""

    text: str

    @cached_property
    def program(self) -> Program:
        """The program; a mistake in its text is the hint, with its line."""
        from tfrt_nb.programs import Program

        if "func" not in self.text:
            raise Wrong("This is no program.  A program begins with `func.func @main`.")
        try:
            # A comment in its place: the lines of the others stay as they are.
            return Program.from_source(_MAGIC.sub("//", self.text), "answer")
        except TfrtError as problem:
            raise Wrong(_rendered(problem, self.text)) from None

    @cached_property
    def bare(self) -> str:
        """The text without its comments."""
        return _COMMENT.sub("", self.text)

    def run(self, *values: object, function: str | None = None, queue: str = "s") -> Outcome:
        """Run a function on a host of its own.

        Raises:
            Wrong: if it does not end in `SECONDS`.
        """
        return _run(self.program, values, self, function, queue)

    def kernels(self, function: str = "main") -> tuple[str, ...]:
        """The names of the kernels of a host function, in the order of the text."""
        return tuple(kernel.name for kernel in self._function(function).kernels)

    def longest_path(self, kernel: str) -> int:
        """The number of uses of a kernel on the path through @main that has the most of them."""
        return longest_path(self._function("main"), kernel)

    def needed(self, kernel: str) -> int:
        """The number of uses of a kernel that the results of @main wait for."""
        return needed(self._function("main"), kernel)

    def _function(self, name: str) -> BefFunction:
        for one in self.program.file.functions:
            if one.name == name:
                return one
        raise Wrong(f"The program needs a function @{name}.")

    def orders(self, *values: object) -> set[tuple[str, ...]]:
        """All outputs that @main may have, whatever order the runtime chooses.

        Raises:
            Wrong: if another function prints.
        """
        file, function = self.program.file, self._function("main")
        for other in file.functions:
            if other is not function and any(is_print(one.name) for one in other.kernels):
                raise Wrong(
                    "Here all prints stand in @main itself, not in a function that it runs."
                )
        prints = [at for at, one in enumerate(function.kernels) if is_print(one.name)]
        # Run the same function with other results: what each print shows, and its chain.
        shown = [function.kernels[at].arguments[0] for at in prints]
        chains = [function.kernels[at].results[0] for at in prints]
        watched = returning(function, (*shown, *chains))
        functions = tuple(watched if one is function else one for one in file.functions)
        ran = _run(type(self.program)._of_file(replace(file, functions=functions)), values, self)
        happened = [
            at
            for at, chain in zip(prints, ran.results[len(prints) :], strict=True)
            if chain is not None and not isinstance(chain, Failed)
        ]
        words = dict(zip(prints, map(str, ran.results), strict=False))
        return {
            tuple(words[at] for at in order if at in happened) for order in print_orders(function)
        }


@dataclass
class Names:
    """An answer in Python: the names that it may use, those that it defines, and what it printed."""

    text: str
    names: dict[str, object] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    printed: str = ""

    @staticmethod
    def of(text: str, names: Mapping[str, object]) -> Names:
        """Run the text over the names that are known already."""
        found = Names(text, dict(names))
        printed = io.StringIO()
        try:
            code = compile(text, "<answer>", "exec")
            found.defined = frozenset(
                one.argval for one in dis.get_instructions(code) if one.opname == "STORE_NAME"
            )
            with contextlib.redirect_stdout(printed):
                exec(code, found.names)  # noqa: S102
        except SyntaxError as problem:
            raise Wrong(f"Line {problem.lineno}: {problem.msg}.") from None
        except NameError as problem:
            raise Wrong(f"{_place(problem)}{problem}.{_MISSING}") from None
        except Exception as problem:  # noqa: BLE001  # the answer may raise anything
            raise Wrong(f"{_place(problem)}{type(problem).__name__}: {problem}") from None
        found.printed = printed.getvalue()
        return found

    def get(self, name: str) -> object:
        """What the answer calls `name`; an earlier answer, which left it in a notebook, does not count."""
        if name not in self.defined:
            raise Wrong(f"The answer defines no `{name}`.")
        return self.names[name]

    def call(self, name: str, *values: object) -> object:
        """The value of a function, kernel or traced program of the answer; waits for it."""
        function = self.get(name)
        if not callable(function):
            raise Wrong(f"`{name}` is {type(function).__name__}; it must be a function.")
        shown = ", ".join(map(reprlib.repr, values))
        return attempt(f"{name}({shown})", lambda: waited_for(function(*values)))


def _run(
    program: Program,
    values: tuple[object, ...],
    code: Code,
    function: str | None = None,
    queue: str = "s",
) -> Outcome:
    """Run a function of the program that `code` is, or was made of."""
    from tfrt_runtime.host.context import HostContext

    printed: list[str] = []
    with HostContext(queue) as host:
        try:
            if program._compiled is not None:
                # Objects that stay behind are counted only when this is set before the run.
                host.shared_context(HostCode).runtime.checked = True
            run = program.run(*values, host=host, function=function, output=printed.append)
        except TfrtError as problem:
            first = problem.diagnostics[0]
            if getattr(first.location, "source", "") == "answer":
                raise Wrong(_rendered(problem, code.text)) from None
            # The place of a missing argument is in the check, of no use to a learner.
            raise Wrong(f"The program is not right yet: {first.message}.") from None
        finished = run.wait(SECONDS)
        results = tuple(map(_value, run.results))
        errors = tuple(one.message for one in run.diagnostics)
        if not finished:
            run.cancel("the exercise is over")
            run.wait(SECONDS)
            raise Wrong(
                f"The program does not end in {SECONDS:g} s: a loop without an end, or a value that no line fills?"
            )
        del run
        left = () if program._compiled is None else _left(host)
    words = tuple(_PREFIX.sub("", row) for row in "".join(printed).splitlines() if row)
    return Outcome(words, results, errors, left)


def _left(host: HostContext) -> tuple[str, ...]:
    """The async objects that are left on a host, each with its line."""
    found = host.shared_context(HostCode).runtime.live_objects()
    lines = [getattr(one.location, "line", None) for one in found]
    return tuple(
        f"a {one.kind}" + (f" of line {line}" if line else "")
        for one, line in zip(found, lines, strict=True)
    )


def _value(one: AsyncValue) -> object:
    """A result as a value, `Failed`, or None when it is not decided."""
    if not one.done():
        return None
    problem = one.exception()
    if problem is None:
        return one.result()
    return Failed(
        problem.diagnostics[0].message if isinstance(problem, TfrtError) else str(problem)
    )


def attempt(what: str, work: Callable[[], object]) -> object:
    """What `work` returns; an exception in it is a hint that begins with `what`."""
    try:
        return work()
    except Exception as problem:  # noqa: BLE001  # the learner's function may raise anything
        raise Wrong(raised(what, problem)) from None


def raised(what: str, problem: Exception) -> str:
    """The hint for an exception in a function of the answer."""
    if isinstance(problem, TfrtError) and isinstance(problem.__cause__, Exception):
        # What a kernel of the answer raised; the error's place is in the check.
        problem = problem.__cause__
    if isinstance(problem, TfrtError):
        first = problem.diagnostics[0]
        if getattr(first.location, "source", "") != "<answer>":
            return f"`{what}` raises {type(problem).__name__}: {first.message}"
    cells = f".{_MISSING}" if isinstance(problem, NameError) else ""
    return f"`{what}` raises {type(problem).__name__}: {problem}{cells}"


def waited_for(value: object) -> object:
    """The value itself, or the result of a run or AsyncValue."""
    result = getattr(value, "result", None)
    return result(timeout=SECONDS) if callable(result) else value


def _words(text: str) -> tuple[str, ...]:
    # Also what stands between numbers, as in `4x10` and `5-6-7`.
    plain = re.sub(r"[,;:|/'\"()\[\]{}]|(?<=\d)[x×*–-](?=\d)", " ", _ARROW.sub(" ", text))
    bare = (word.rstrip(".!") for word in plain.split())
    return tuple(word for word in bare if word and word not in _FILLERS)


def in_digits(words: Iterable[str]) -> tuple[str, ...]:
    """The words; `two` is `2`."""
    return tuple(str(_NUMBERS.get(word, word)) for word in words)


def _name(label: re.Match[str]) -> str:
    """Which part a label names."""
    return str(label["name"] or label["other"])


def _number(word: str, where: str = "") -> int:
    if word in _NUMBERS:
        return _NUMBERS[word]
    found = _NUMBER.fullmatch(word)
    if found is None:
        raise Wrong(f"{where}Write whole numbers in digits; {word!r} is not one.")
    return int(found["whole"])


def _choice(text: str, allowed: tuple[str, ...], where: str) -> str:
    """The one of the allowed words in the text, as in `the blocking pool`."""
    words = text.replace("%", "").split()
    padded = f" {' '.join(words)} "
    found = [word for word in allowed if f" {word} " in padded]
    if found:
        _refuse_not(words)
    if len(found) == 1 and len(words) <= _SENTENCE:
        return found[0]
    listed = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
    raise Wrong(f"{where}Write {listed}; here is {text!r}.")


def _refuse_not(words: Iterable[str]) -> None:
    if "not" in words:
        raise Wrong("Write only what is right.  Leave out `not`, and what it is about.")


def _rendered(problem: TfrtError, text: str) -> str:
    return "The program is not right yet:\n" + render(problem.diagnostics[0], text)


def _place(problem: BaseException) -> str:
    """The line of the answer that raised, as the beginning of a sentence."""
    trace = problem.__traceback__
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<answer>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"Line {line}: " if line else ""
