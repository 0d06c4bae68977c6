"""The text of one LLVM function under construction.

A `Lowering` is a function of a `FunctionBody` and an operation. It looks up the names of the
operands, writes instructions, and binds the results to names.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tfrt_nb.dialects.async_.extensions import (
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.runtime import CoroIdOp, RuntimeCreateOp
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.internal_errors import location_of
from tfrt_nb.jit.llvm_types import llvm_type, result_type, size_of
from tfrt_nb.jit.names import LIBRARY, global_symbol, plain_name, text_constant
from tfrt_nb.jit.places import Places
from tfrt_nb.jit.runtime_calls import RUNTIME_FUNCTIONS
from tfrt_nb.passes.control_flow import block_of, terminator_of
from tfrt_runtime.async_runtime.externals import PythonExternal
from tfrt_runtime.async_runtime.printing import PRINTING
from tfrt_runtime.bef.wire import bytes_of
from tfrt_runtime.diagnostics import Location

_CALLED_BY_OURS = LIBRARY | PRINTING.keys()
# The second prefix has no final "e", because MLIR misspells `mlirAsyncRuntimGetNumWorkerThreads`.
_OUR_PREFIXES = ("llvm.", "mlirAsyncRuntim", "tfrt", "__", ".", "defined.", "external.")

Argument: TypeAlias = tuple[str, str]
"""An argument of a call: its LLVM type and its operand."""


STACK_LIMIT = "%stack.limit"
"""The parameter with the lowest stack address that a recursive function may use.

In a module with `ModuleText.attempts`, the parameter is the attempt, whose first word is that
address.
"""
RECORD = "{ ptr, i64, ptr, i64, i64, i64 }"
"""The LLVM type of a place record (`layouts.PLACE_SIZE`): message, file, line, and column."""
LIVE_COUNTER = '@".live"'
"""A counter of calls from hosts plus existing coroutines.

While the counter is 0, no code of the module can run.
"""


@dataclass
class ModuleText:
    """The text that all functions of a module share: declarations, constants, and helpers.

    `adapted` contains the functions that kernels call. With `counts`, the module has a
    `LIVE_COUNTER`. `helpers` contains functions that lowerings need.
    """

    adapted: frozenset[str] = frozenset()
    counts: bool = False
    attempts: bool = False
    """Whether attempts call the functions, which are then hot functions; see `adapters`."""

    declarations: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    texts: dict[str, tuple[str, int]] = field(default_factory=dict)
    globals: list[str] = field(default_factory=list)
    watches_interrupts: bool = False
    """Whether the module has an `INTERRUPT_FLAG`."""
    constant_globals: frozenset[str] = frozenset()
    """The global buffers that programs must not change."""
    quick: frozenset[str] = frozenset()
    """The functions that should compile quickly.

    LLVM does not optimize them. If the bodies of tasks are such functions and have equal types, the
    tasks share code.
    """
    fallible: frozenset[str] = frozenset()
    """The functions whose first result says whether they failed."""
    resolving: frozenset[str] = frozenset()
    """The functions that take a task's results as objects and resolve them."""
    sites: dict[int, str] = field(default_factory=dict)
    """The places that log events (`layouts.SITE_RECORD` and following), by number."""
    spawners: dict[Hashable, str] = field(default_factory=dict)
    """The functions that spawn tasks, by the shape of the tasks."""
    spawns: dict[tuple[str, bool], str] = field(default_factory=dict)
    """The start of a spawning call's text, by function symbol and whether the token is unused."""
    defined: frozenset[str] = frozenset()
    """The MLIR functions that have bodies."""
    limited: frozenset[str] = frozenset()
    """The functions that check how much stack is left.

    They take the end of the stack as an argument; see `limited_function`.
    """
    helpers: dict[str, str] = field(default_factory=dict)
    externals: Mapping[str, PythonExternal] = field(default_factory=dict)
    """The Python functions that the program declares."""
    places: Places | None = None
    """The object that records the operation from which each instruction comes."""

    def declare(self, name: str, returns: str, parameters: str) -> str:
        """Declare the function if it is not declared yet, and return its name."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {returns} {global_symbol(name)}({parameters})"
        return f"@{name}"

    def runtime_call(self, name: str, *operands: str) -> str:
        """Return the text of a call to a runtime function, and declare the function."""
        returns, *types = RUNTIME_FUNCTIONS[name]
        symbol = self.declare(name, returns, ", ".join(types))
        given = ", ".join(f"{type_} {one}" for type_, one in zip(types, operands, strict=True))
        return f"call {returns} {symbol}({given})"

    def function(self, symbol: str) -> str:
        """Return the LLVM function that an MLIR symbol names.

        If the program defines a function whose name the compiled code needs for itself, the
        program's function gets another name.
        """
        is_ours = symbol in _CALLED_BY_OURS or symbol.startswith(_OUR_PREFIXES)
        if is_ours and symbol in self.defined:
            return global_symbol(f"defined.{plain_name(symbol)}")
        # LLVM accepts any character in a name except NUL.
        return global_symbol(f"defined.{plain_name(symbol)}" if "\0" in symbol else symbol)

    def limited_function(self, symbol: str) -> str:
        """Return the name of the function that takes the end of the stack as its last argument.

        `symbol` must be in `limited`. The LLVM function that `function` names looks up the end of
        the stack and then calls this one.
        """
        return f'@"__limited.{self.function(symbol)[2:]}'

    def text(self, content: str) -> tuple[str, int]:
        """Return the name of a constant with the text in UTF-8, and its length in bytes."""
        if content not in self.texts:
            data = bytes_of(content)
            type_, value = text_constant(data)
            self.texts[content] = self.constant(f"{type_} {value}"), len(data)
        return self.texts[content]

    def constant(self, value: str) -> str:
        """Return the name of a private constant; equal constants share a name."""
        return self.constants.setdefault(value, f"@.constant.{len(self.constants)}")

    def maker(self, op: Operation) -> str | None:
        """Return a record of the operation that creates an object, or None if its place is
        unknown.
        """
        place = location_of(op)
        return None if place is None else self._record(source_name(op), place)

    def failure(self, message: str, op: Operation) -> str:
        """Return a record with a message and the file, line, and column of an operation."""
        return self._record(message, location_of(op))

    def site(self, number: int, op: Operation) -> str:
        """Return the global that describes the logging place `number`, where `op` logs."""
        if number not in self.sites:
            name, record = f"@.site.{number}", self._record("", location_of(op))
            self.globals.append(
                f"{name} = internal global {{ ptr, i64, i64 }} {{ ptr {record}, i64 0, i64 0 }}"
            )
            self.sites[number] = name
        return self.sites[number]

    def _record(self, message: str, place: Location | None) -> str:
        file, line, column = (
            ("", 0, 0) if place is None else (place.source, place.line, place.column)
        )
        message_name, message_length = self.text(message)
        file_name, file_length = self.text(file)
        return self.constant(
            f"{RECORD} {{ ptr {message_name}, i64 {message_length}, ptr {file_name}, "
            f"i64 {file_length}, i64 {line}, i64 {column} }}"
        )


MADE_FROM = {"async_execute": "async.execute", "async_dispatch": "scf.parallel"}
"""The source operation of each function that passes create, by the function's prefix."""


def source_name(op: Operation) -> str:
    """Return the name of the source operation from which passes derived `op`.

    `op` creates an object of the async runtime.
    """
    function = op.parent_op()
    # Passes name the functions of tasks after the tasks' source operations.
    if isinstance(op, RuntimeSpawnOp):
        symbol = op.callee.root_reference.data
    elif not isinstance(op, RuntimeCreateOp):
        return op.name.replace("async.runtime.", "async.")
    elif isinstance(function, FuncOp) and "passthrough" in function.attributes and _is_result(op):
        symbol = function.sym_name.data
    else:
        return op.name
    return next((MADE_FROM[name] for name in MADE_FROM if symbol.startswith(name)), "async.func")


def _is_result(create: Operation) -> bool:
    """Return whether a coroutine creates the object before its body, as one of its own results."""
    following = create.next_op
    while following is not None and not isinstance(following, CoroIdOp):
        following = following.next_op
    return following is not None


@dataclass
class FunctionBody:
    """The instructions of a function, block by block, and the names of the values in them.

    The order of the blocks puts definitions before uses. Phi instructions may use later values, so
    `text` adds them at the end.
    """

    null = "null"
    resume = "@__resume"
    """The function that resumes a coroutine; the runtime gets a pointer to it."""

    module: ModuleText
    frees_buffers: bool = False
    """Whether the function must free buffers from `memref.alloca` on the heap."""
    looks_ahead: bool = False
    """Whether an await of a resolved object continues without a suspension."""
    has_limit: bool = False
    """Whether the last parameter is `STACK_LIMIT`."""
    place: str = ""
    """The suffix of each instruction that states the place of the current operation, or ""."""
    _first: list[str] = field(default_factory=list)
    _flags: dict[int, str] = field(default_factory=dict)
    _values: dict[SSAValue, str] = field(default_factory=dict)
    _blocks: dict[Block, list[str]] = field(default_factory=dict)
    _labels: dict[Block, str] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)
    _count: int = 0

    def start(self, block: Block) -> None:
        """Make `block` the current block, and name its arguments."""
        self._lines = self._blocks.setdefault(block, [])
        for argument in block.args:
            if argument not in self._values:
                self.bind(argument, self.fresh())

    def fresh(self) -> str:
        """Return a new name."""
        self._count += 1
        return f"%v{self._count}"

    def bind(self, value: SSAValue, operand: str) -> None:
        """Bind the value to a name or a constant."""
        self._values[value] = operand

    def name(self, value: SSAValue) -> str:
        """Return the operand for the value: a name or a constant."""
        return self._values[value]

    def typed(self, value: SSAValue) -> str:
        """Return the operand for the value, preceded by its type."""
        return f"{llvm_type(value.type)} {self.name(value)}"

    def typed_list(self, values: Sequence[SSAValue]) -> str:
        """Return operands with types, separated by commas."""
        return ", ".join(self.typed(value) for value in values)

    def label(self, block: Block) -> str:
        """Return the block as a branch operand."""
        return f"label %{self._label(block)}"

    def _label(self, block: Block) -> str:
        return self._labels.setdefault(block, f"b{len(self._labels)}")

    def emit(self, instruction: str) -> None:
        """Write an instruction whose result, if any, is not used."""
        self._lines.append(f"  {instruction}{self.place}")

    def branch_off(self, condition: str, target: Block) -> None:
        """Branch to a block without arguments if the condition holds, and continue otherwise."""
        # `_phi` names only the first label of a block, so the successors of the current block must
        # have no arguments.
        name = self.fresh()[1:]
        self.emit(f"br i1 {condition}, {self.label(target)}, label %{name}")
        self._lines.append(f"{name}:")

    def first(self, instruction: str) -> str:
        """Write an instruction at the start of the function, and return the name of its result."""
        name = self.fresh()
        self._first.append(f"  {name} = {instruction}{self.place}")
        return name

    def flag(self, number: int) -> str:
        """Return the address of the word with this number, which is 0 when the function starts."""
        if number not in self._flags:
            self._flags[number] = flag = self.first("alloca i64")
            self._first.append(f"  store i64 0, ptr {flag}{self.place}")
        return self._flags[number]

    def value(self, instruction: str) -> str:
        """Write an instruction, and return the name of its result."""
        name = self.fresh()
        self.emit(f"{name} = {instruction}")
        return name

    def set(self, result: SSAValue, instruction: str) -> None:
        """Write an instruction whose result is the MLIR value."""
        self.bind(result, self.value(instruction))

    def set_frozen(self, result: SSAValue, instruction: str) -> None:
        """Write an instruction, and freeze its result, which may be undefined.

        LLVM treats code that depends on an undefined value as unreachable, even a check of an
        index.
        """
        self.set(result, f"freeze {llvm_type(result.type)} {self.value(instruction)}")

    def size(self, type_: Attribute) -> str:
        """Return the size in bytes of a value of this type."""
        return size_of(llvm_type(type_))

    def runtime(self, name: str, *operands: str, results: Sequence[SSAValue] = ()) -> str:
        """Call a runtime function, and bind its result to `results`.

        Return the name of the result, or "" if there is none.
        """
        call = self.module.runtime_call(name, *operands)
        if call.startswith("call void "):
            self.emit(call)
            return ""
        made = self.value(call)
        for result in results:
            self.bind(result, made)
        return made

    def argument(self, value: SSAValue) -> Argument:
        """Return the value as an argument of a call."""
        return llvm_type(value.type), self.name(value)

    def call(self, name: str, returns: str, *arguments: Argument) -> str:
        """Call a function of the runtime or of LLVM.

        Return the name of the result, or "" if there is none.
        """
        function = self.module.declare(name, returns, ", ".join(type_ for type_, _ in arguments))
        operands = ", ".join(f"{type_} {operand}" for type_, operand in arguments)
        if returns == "void":
            self.emit(f"call void {function}({operands})")
            return ""
        return self.value(f"call {returns} {function}({operands})")

    def call_for(
        self, results: Sequence[SSAValue], callee: str, returns: str | None = None
    ) -> None:
        """Call a function that returns the MLIR values `results`.

        `callee` is the function with its arguments. A function returns several values as a struct.
        `returns` is the LLVM result type if it differs from the type of `results`.
        """
        returns = returns or result_type([result.type for result in results])
        call = f"call {returns} {callee}"
        if not results:
            self.emit(call)
        elif len(results) == 1:
            self.set(results[0], call)
        else:
            struct = f"{returns} {self.value(call)}"
            for index, result in enumerate(results):
                self.set(result, f"extractvalue {struct}, {index}")

    def text(self) -> str:
        """Return all blocks. Arguments of all blocks except the first become phi instructions."""
        edges: dict[Block, list[tuple[Operation, int]]] = {}
        for block in self._blocks:
            branch = terminator_of(block)
            for edge, target in enumerate(branch.successors):
                edges.setdefault(target, []).append((branch, edge))
        # The first block has no phi instructions. It starts with the allocations, because LLVM
        # makes only allocations in the first block part of the frame.
        first, *others = self._blocks
        parts = [f"{self._label(first)}:", *self._first, *self._blocks[first]]
        for block in others:
            phis = [self._phi(argument, edges.get(block, ())) for argument in block.args]
            parts += [f"{self._label(block)}:", *phis, *self._blocks[block]]
        return "\n".join(parts)

    def _phi(self, argument: BlockArgument, edges: Iterable[tuple[Operation, int]]) -> str:
        incoming = []
        for branch, edge in edges:
            passed = branch_operands(branch, edge)[argument.index]
            # LLVM does not allow different values for several edges from one block, so
            # `jit.coroutines` has split such edges.
            incoming.append(f"[ {self.name(passed)}, %{self._label(block_of(branch))} ]")
        return f"  {self.name(argument)} = phi {llvm_type(argument.type)} {', '.join(incoming)}"


Lowering = Callable[[FunctionBody, Any], None]
"""A function that writes the instructions of one operation."""
