"""The forms in which an exercise reads a learner's text: `Answer`, `Code`, and `Names`.

All of them raise `Wrong`, with a hint, for an answer that they cannot read.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import io
import re
import reprlib
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.exercises.orders import is_print, linear_orders, needed, returning
from tfrt_nb.report import render
from tfrt_runtime.diagnostics import TfrtError

if TYPE_CHECKING:
    from tfrt_nb.programs import Program
    from tfrt_runtime.bef.records import BefFunction
    from tfrt_runtime.host.context import HostContext
    from tfrt_runtime.host.values.async_value import AsyncValue

SECONDS = 5.0
"""The time limit of a program in an answer, in seconds."""
_PREFIX = re.compile(r"^(?:int\d+|f\d+|i\d+|index) = ")
_MAGIC = re.compile(r"\A\s*%%tfrt.*")
_COMMENT = re.compile(r"//.*")
_MISSING = (
    "  If a cell above defines it, run that cell first;"
    " after a restart of the kernel, run all cells above."
)


class Wrong(Exception):
    """Signals that an answer is wrong. The text of the exception is the hint."""


@dataclass(frozen=True)
class Answer:
    """A Python literal, or one literal per part: `a = 3`, `b = [first, 4]`.

    A bare name is a word: `waiting` is the same as "waiting". The text is parsed but never run.
    `form` is an example of an answer, which each hint about an unreadable answer shows. `part`
    selects the part whose value the methods read.
    """

    text: str
    form: str = ""
    part: str = ""

    def parts(self, *names: str) -> tuple[Answer, ...]:
        """Return the parts with these names, which an answer writes as `a = …`, `b = …`."""
        return tuple(replace(self, part=name) for name in names)

    def number(self) -> int:
        """Return the answer as an integer."""
        return self.numbers(1)[0]

    def numbers(self, count: int | None = None) -> tuple[int, ...]:
        """Return the answer as a tuple of `count` integers, or of any number if `count` is None."""
        found = self.items(count)
        # Exclude True, which Python counts as an integer.
        numbers = tuple(one for one in found if type(one) is int)
        if numbers != found:
            raise self._unfit("Write whole numbers")
        return numbers

    def items(self, count: int | None = None, words: Collection[str] = ()) -> tuple[object, ...]:
        """Return the answer as a tuple of words and numbers.

        The tuple has `count` elements. If `count` is None, it may have any number of elements.

        A single item counts as a list. `words` contains the words that the exercise knows. If it is
        empty, any word is accepted.
        """
        found = self._flat(self._value)
        if count not in (None, len(found)):
            raise self._unfit(f"Write {count} value{'s' * (count != 1)}, not {len(found)}")
        unknown = [one for one in found if words and isinstance(one, str) and one not in words]
        if unknown:
            raise self._unfit(f"{unknown[0]!r} is not one of the choices")
        return found

    def choice(self, *allowed: str) -> str:
        """Return the answer, which must be one of the allowed words."""
        word = str(self._value)
        if word in allowed:
            return word
        words = [one if one.isidentifier() else repr(one) for one in allowed]
        listed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        raise self._unfit(f"Write {listed}")

    def hint_for_parts(self, **parts: tuple[str, str, str]) -> str | None:
        """Return the hint for the first wrong part, or None.

        In each part, learners choose between two words: `a=(right word, wrong word, hint)`.
        """
        for part, (right, wrong, hint) in parts.items():
            # Sort the words, because the message about any other word must not reveal the right
            # one.
            if replace(self, part=part).choice(*sorted((right, wrong))) != right:
                return f"Part {part}: {hint}"
        return None

    def orders(self) -> set[tuple[object, ...]]:
        """Return the orders in the answer.

        A list of lists has one order per list. A flat list is a single order.
        """
        value = self._value
        is_one = not isinstance(value, list) or not any(isinstance(one, list) for one in value)
        return {self._flat(one) for one in ([value] if is_one else value)}

    @property
    def _value(self) -> Any:
        if self.part in self._values:
            return self._values[self.part]
        missing = (
            f"Part {self.part} has no answer yet."
            if self.part
            else "Write one value, without a name."
        )
        raise self._wrong(missing)

    def _flat(self, value: object) -> tuple[object, ...]:
        items = tuple(value) if isinstance(value, list) else (value,)
        if any(isinstance(one, list) for one in items):
            raise self._unfit("Write a list of single values")
        return items

    def _unfit(self, wanted: str) -> Wrong:
        where = f"Part {self.part}: " if self.part else ""
        return self._wrong(f"{where}{wanted}; found {reprlib.repr(self._value)}.")

    def _wrong(self, hint: str) -> Wrong:
        return Wrong(f"{hint}  {shown_form(self.form)}".rstrip())

    @cached_property
    def _values(self) -> dict[str, object]:
        """The value of each part, by the part's name. If there are no parts, the name is ""."""
        line, found = 1, dict[str, object]()
        try:
            for row in ast.parse(textwrap.dedent(self.text)).body:
                name, line = "", row.lineno
                match row:
                    case ast.Expr(value):
                        pass
                    case ast.Assign([ast.Name(name)], value):
                        pass
                    case ast.AnnAssign(ast.Name(name), value, None):
                        raise self._wrong(f"Line {line}: write `{name} = {ast.unparse(value)}`.")
                    case _:
                        raise ValueError
                if name in found:
                    again = f"gives {name} again" if name else "is another answer"
                    raise self._wrong(f"Line {line} {again}; write one.")
                found[name] = _literal(value)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
            line = getattr(problem, "lineno", None) or line
            shown = "".join(self.text.split("\n")[line - 1 : line]).strip()
            raise self._wrong(f"Line {line} was not understood: `{shown:.80}`.") from None
        return found


@dataclass(frozen=True)
class Failed:
    """Stands for a function's result that is an error with this message."""

    message: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the words that the program printed, its results, and its errors.

    `left` contains the async objects that a compiled program did not release.
    """

    printed: tuple[str, ...]
    results: tuple[object, ...]
    errors: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def result(self) -> object:
        """The program's first result. If the program returns nothing, the answer is wrong."""
        if not self.results:
            raise Wrong("The function returns nothing; it must return a result.")
        return self.results[0]


@dataclass(frozen=True)
class Code:
    """An answer that is a program in MLIR syntax. A `%%tfrt` line before the program is ignored."""

    text: str

    @cached_property
    def program(self) -> Program:
        """The program. A mistake in its source becomes a hint that shows the line."""
        from tfrt_nb.programs import Program

        if "func" not in self.text:
            raise Wrong("This is not a program.  A program starts with `func.func @main`.")
        try:
            # Replace the `%%tfrt` line with a comment, so that the other lines keep their numbers.
            return Program.from_source(_MAGIC.sub("//", self.text), "answer")
        except TfrtError as problem:
            raise Wrong(_rendered(problem, self.text)) from None

    @cached_property
    def bare(self) -> str:
        """The text without its comments."""
        return _COMMENT.sub("", self.text)

    def run(self, *values: object, function: str | None = None, queue: str = "s") -> Outcome:
        """Run a function on a new host, and return the outcome.

        Raises:
            Wrong: if the function does not finish within `SECONDS`.
        """
        return _run(self.program, values, self, function, queue)

    def kernels(self, function: str = "main") -> tuple[str, ...]:
        """Return the names of the kernels of a host function, in source order."""
        return tuple(kernel.name for kernel in self._function(function).kernels)

    def longest_path(self, kernel: str) -> int:
        """Return the largest number of uses of a kernel on any path through @main."""
        depths: dict[int, int] = {}
        longest = 0
        for one in self._function("main").kernels:
            above = max((depths.get(register, 0) for register in one.arguments), default=0)
            here = above + (one.name == kernel)
            depths |= dict.fromkeys(one.results, here)
            longest = max(longest, here)
        return longest

    def needed(self, kernel: str) -> int:
        """Return how many uses of a kernel the results of @main wait for."""
        return needed(self._function("main"), kernel)

    def _function(self, name: str) -> BefFunction:
        for one in self.program.file.functions:
            if one.name == name:
                return one
        raise Wrong(f"The program needs a function @{name}.")

    def orders(self, *values: object) -> set[tuple[str, ...]]:
        """Return every possible output of @main, one for each order that the runtime may choose.

        Raises:
            Wrong: if another function prints.
        """
        file, function = self.program.file, self._function("main")
        for other in file.functions:
            if other is not function and any(is_print(one.name) for one in other.kernels):
                raise Wrong("Here all prints are in @main itself, not in a function that it runs.")
        prints = [at for at, one in enumerate(function.kernels) if is_print(one.name)]
        # Run the same function, but return the operand and the chain of each print.
        shown = [function.kernels[at].arguments[0] for at in prints]
        watched = returning(function, (*shown, *[function.kernels[at].results[0] for at in prints]))
        functions = tuple(watched if one is function else one for one in file.functions)
        ran = _run(type(self.program)._of_file(replace(file, functions=functions)), values, self)
        happened = [
            at
            for at, chain in zip(prints, ran.results[len(prints) :], strict=True)
            if chain is not None and not isinstance(chain, Failed)
        ]
        words = dict(zip(prints, map(str, ran.results), strict=False))
        return {
            tuple(words[at] for at in order if at in happened)
            for order in linear_orders(function, prints)
        }


@dataclass
class Names:
    """An answer that is Python code, after it has run.

    `names` contains the variables after the run, and `defined` contains the names that the code
    assigns. `printed` is the code's output.
    """

    text: str
    names: dict[str, object] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    printed: str = ""

    @staticmethod
    def of(text: str, names: Mapping[str, object]) -> Names:
        """Run `text`, which may use the names in `names`."""
        found = Names(text, dict(names))
        printed = io.StringIO()
        try:
            code = compile(text, "<answer>", "exec")
            # Read the bytecode, because the answer may assign a name that already exists.
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
        """Return the value that the answer assigns to `name`.

        Values from earlier answers do not count.
        """
        if name not in self.defined:
            raise Wrong(f"The answer defines no `{name}`.")
        return self.names[name]

    def call(self, name: str, *values: object) -> object:
        """Call a function, kernel, or traced program that the answer defines, and return its value.

        The call waits for the value.
        """
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
    """Run a function of `program`, and return the outcome.

    `code` is the answer from which the program comes, perhaps with changes.
    """
    from tfrt_runtime.host.context import HostContext

    printed: list[str] = []
    with HostContext(queue) as host:
        try:
            if program._compiled is not None:
                # The runtime counts leaked objects only if this is set before the run.
                host.shared_context(HostCode).runtime.checked = True
            run = program.run(*values, host=host, function=function, output=printed.append)
        except TfrtError as problem:
            first = problem.diagnostics[0]
            if getattr(first.location, "source", "") == "answer":
                raise Wrong(_rendered(problem, code.text)) from None
            # The location of a missing argument is in the exercise's check, which a learner cannot
            # see.
            raise Wrong(f"The program is not correct yet: {first.message}.") from None
        finished = run.wait(SECONDS)
        results = tuple(map(_value, run.results))
        errors = tuple(one.message for one in run.diagnostics)
        if not finished:
            run.cancel("the exercise is over")
            run.wait(SECONDS)
            raise Wrong(
                f"The program does not finish within {SECONDS:g} s: does it have an endless loop, or wait for a value that no line fills?"  # noqa: E501
            )
        # The run holds its results, which must not count as leftover objects.
        del run
        left = () if program._compiled is None else _left(host)
    words = tuple(_PREFIX.sub("", row) for row in "".join(printed).splitlines() if row)
    return Outcome(words, results, errors, left)


def _left(host: HostContext) -> tuple[str, ...]:
    """Return the async objects that remain on a host, each with the line that created it."""
    found = host.shared_context(HostCode).runtime.live_objects()
    lines = [getattr(one.location, "line", None) for one in found]
    return tuple(
        f"a {one.kind}" + (f" from line {line}" if line else "")
        for one, line in zip(found, lines, strict=True)
    )


def _value(one: AsyncValue) -> object:
    """Return the value of a result, `Failed` if it is an error, or None if it is not resolved."""
    if not one.done():
        return None
    problem = one.exception()
    if problem is None:
        return one.result()
    return Failed(
        problem.diagnostics[0].message if isinstance(problem, TfrtError) else str(problem)
    )


def attempt(what: str, work: Callable[[], object]) -> object:
    """Return the result of `work`. An exception becomes a hint that starts with `what`."""
    try:
        return work()
    except Exception as problem:  # noqa: BLE001  # the learner's function may raise anything
        raise Wrong(raised(what, problem)) from None


def raised(what: str, problem: Exception) -> str:
    """Return the hint for an exception in a function of the answer."""
    if isinstance(problem, TfrtError) and isinstance(problem.__cause__, Exception):
        # A kernel in the answer raised an exception, and the location of the error is in the check.
        problem = problem.__cause__
    if isinstance(problem, TfrtError):
        first = problem.diagnostics[0]
        if getattr(first.location, "source", "") != "<answer>":
            return f"`{what}` raises {type(problem).__name__}: {first.message}"
    cells = f".{_MISSING}" if isinstance(problem, NameError) else ""
    return f"`{what}` raises {type(problem).__name__}: {problem}{cells}"


def waited_for(value: object) -> object:
    """Wait for a run or an AsyncValue, and return its result. Return any other value unchanged."""
    result = getattr(value, "result", None)
    return result(timeout=SECONDS) if callable(result) else value


def shown_form(form: str) -> str:
    """Return the sentence that shows an example of an answer, or "" if there is no example."""
    rows = ", ".join(f"`{row}`" for row in form.splitlines())
    lines = ", each on its own line" if "\n" in form else ""
    return f"Write it like this: {rows}{lines}." if form else ""


def _literal(node: ast.expr) -> object:
    """Return the value of a literal. A name is a word, and any sequence is a list.

    Raises:
        ValueError: if the expression is anything else.
    """
    match node:
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return [*map(_literal, items)]
        case ast.Name() | ast.Attribute():
            return ast.unparse(node)
        case ast.Constant() | ast.UnaryOp():
            return ast.literal_eval(node)
    raise ValueError


def _rendered(problem: TfrtError, text: str) -> str:
    return "The program is not correct yet:\n" + render(problem.diagnostics[0], text)


def _place(problem: BaseException) -> str:
    """Return the start of a sentence with the line of the answer that raised the exception."""
    trace = problem.__traceback__
    line = 0
    while trace is not None:
        # The innermost frame of the answer comes last.
        if trace.tb_frame.f_code.co_filename == "<answer>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"Line {line}: " if line else ""
