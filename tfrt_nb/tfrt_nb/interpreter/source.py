"""The Python source of a module and its functions, which the lowerings of operations write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.extensions import RuntimeLogOp
from tfrt_nb.internal_errors import location_of
from tfrt_nb.interpreter.machine import RESUME, Machine
from tfrt_nb.interpreter.memory import Records, storage_of
from tfrt_nb.jit.declarations import Externals
from tfrt_nb.jit.function_body import source_name
from tfrt_nb.jit.runtime_calls import RUNTIME_FUNCTIONS
from tfrt_nb.passes.lowering.coroutines import PRESPLIT

_CALLS_OF_COROUTINE = 100


@dataclass
class ModuleSource:
    """The state that the functions of a module share.

    `scope` contains the objects that the source refers to. It becomes the functions' globals.
    """

    machine: Machine
    functions: dict[str, func.FuncOp]
    records: Records
    addresses: Mapping[str, int]
    """The addresses of functions outside the program, by name."""
    externals: Externals
    globals: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """The global buffers of the module."""
    counts_calls: bool = False
    scope: dict[str, object] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _sites: dict[int, int] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def keep(self, item: object) -> str:
        """Return the name by which the source refers to an object."""
        if id(item) not in self._names:
            name = self._names[id(item)] = f"k{len(self._names)}"
            self.scope[name] = item  # also keeps the item alive, so that its id stays unique
        return self._names[id(item)]

    def site(self, op: RuntimeLogOp) -> int:
        """Return the address of the words that describe a logging place (`layouts.SITE_RECORD`)."""
        number = op.site.value.data
        if number not in self._sites:
            self._sites[number] = self.records.words(self.records.record("", location_of(op)), 0, 0)
        return self._sites[number]

    def maker(self, op: Operation) -> str | None:
        """Return a record of the operation that creates an object, or None without a place."""
        place = location_of(op)
        return None if place is None else str(self.records.record(source_name(op), place))

    def failure(self, message: str, op: Operation) -> str:
        """Return a record with a message and the place of an operation."""
        return str(self.records.record(message, location_of(op)))

    def function(self, symbol: str) -> str:
        """Return the name of a function of the module in the source."""
        if not self._numbers:
            self._numbers = {name: number for number, name in enumerate(self.functions)}
        return f"f{self._numbers[symbol]}"


class FunctionSource:
    """Builds the Python source of one function. The operations' lowerings add its statements."""

    null = "0"
    resume = str(RESUME)

    def __init__(self, module: ModuleSource, op: func.FuncOp) -> None:
        self.module, self.op = module, op
        self.is_coroutine = op.attributes.get("passthrough") == PRESPLIT
        self._values: dict[SSAValue, str] = {}
        self.lines: list[str] = []
        self.at_start: list[str] = []
        self.indent = 1
        self.skipped: set[Operation] = set()
        """The operations that an earlier operation has already written."""

    def name(self, value: SSAValue) -> str:
        """Return the expression for an operand: the name of its variable, or a number."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = f"v{len(self._values)}"
        return found

    def bind(self, value: SSAValue, expression: str) -> None:
        """Bind a value to an expression that may be repeated any number of times."""
        self._values[value] = expression

    def let(self, value: SSAValue, expression: str) -> None:
        """Assign an expression to a value's variable."""
        self.line(f"{self.name(value)} = {expression}")

    def line(self, text: str) -> None:
        """Add a statement at the current indentation."""
        self.lines.append("    " * self.indent + text)

    def first(self, text: str) -> None:
        """Write a statement that runs once, when the function starts."""
        if text not in self.at_start:
            self.at_start.append(text)

    def keep(self, item: object) -> str:
        """Return the name by which the source refers to an object."""
        return self.module.keep(item)

    def abi(self, name: str, *operands: object) -> str:
        """Return a call of a function of the runtime."""
        return f"{self.keep(self.module.machine.abi(name))}({', '.join(map(str, operands))})"

    def size(self, type_: Attribute) -> str:
        """Return the size in bytes of a value of this type."""
        return str(storage_of(type_).size)

    def runtime(self, name: str, *operands: str, results: Sequence[SSAValue] = ()) -> str:
        """Call a function of the runtime, and assign its result to `results`."""
        call = self.abi(name, *operands)
        if RUNTIME_FUNCTIONS[name][0] == "i1":
            call += " & 1"
        self.line(" = ".join([*map(self.name, results), call]))
        return call

    @property
    def depth(self) -> str:
        """The expression for the depth of calls that this function makes.

        The function passes it as the last argument.
        """
        return f"d + {_CALLS_OF_COROUTINE if self.is_coroutine else 1}"

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Indent the statements that are written in the block."""
        self.indent += 1
        yield
        self.indent -= 1
