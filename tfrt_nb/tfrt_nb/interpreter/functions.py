"""Translate compiled functions to Python functions, and coroutines to generators.

    func.func @f(%x: i32) -> i32          def f0(v0, d=0):
      cf.br ^loop(%x : i32)                   b = 0
    ^loop(%i: i32):                           while True:
      ...                                         if b == 0:
      cf.cond_br %c, ^loop(%j), ^end                  v1 = v0; b = 1; continue
    ^end:                                         ...
      return %i : i32                             if v5: v1 = v4; continue
                                                  return v1

The source of a block with one predecessor is at the predecessor's branch to it. All other blocks
have numbers, and `b` is the number of the next block. Values are local variables, so a suspended
coroutine keeps its values. A function with several results returns a tuple.

If the module has functions that check how much stack is left, a function's last argument, `d`, is
its call depth. Python's frames are on the heap. However, resuming a coroutine goes through C, which
uses the stack, so a call in a coroutine counts as a hundred calls.

Rejected alternative: walking the operations, as `tests/fuzz/async_interpreter.py` does. A walk
needs no translation, but fib(15) as async functions takes 200 times as long.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects import cf, func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeStackIsLowOp
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.dialects.crossing import is_awaited
from tfrt_nb.interpreter import buffers, calls, numbers, objects
from tfrt_nb.interpreter.machine import Machine
from tfrt_nb.interpreter.memory import Records, storage_of, width_of
from tfrt_nb.interpreter.source import FunctionSource, ModuleSource
from tfrt_nb.jit.adapters import argument_order, buffer_text, has_buffers
from tfrt_nb.jit.declarations import Externals, check_declarations
from tfrt_nb.jit.llvm_types import UnsupportedType, signature
from tfrt_nb.jit.lowering import after_passes
from tfrt_nb.jit.names import adapter_name
from tfrt_nb.jit.runtime_calls import lower
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.control_flow import fail, operations_in, terminator_of
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.host.structs import new_words
from tfrt_runtime.scalars import wrapped

_LOWERINGS = {
    **numbers.LOWERINGS,
    **buffers.LOWERINGS,
    **calls.LOWERINGS,
    **objects.LOWERINGS,
}
_DEEPEST = 60
"""The maximum nesting of blocks. Python accepts at most 100 levels of indentation."""
_FEW = 4
"""The maximum number of block numbers that are compared one after another."""


class _Function(FunctionSource):
    """Writes the blocks of a function."""

    def __init__(self, module: ModuleSource, op: func.FuncOp) -> None:
        super().__init__(module, op)
        self._ways_in = Counter[Block]()
        self._numbers: dict[Block, int] = {}

    def text(self) -> str:
        """Return the source.

        Raises:
            PassError: if an operation cannot be compiled.
        """
        op = self.op
        try:
            signature(op.function_type)
        except UnsupportedType as error:
            fail(op, str(error))
        for block in op.body.blocks:
            self._ways_in.update(terminator_of(block).successors)
        self._numbers[op.body.blocks[0]] = 0
        written: dict[int, list[str]] = {}
        self.indent = 0
        # Writing a block may give numbers to more blocks.
        while pending := [one for one in self._numbers if self._numbers[one] not in written]:
            for block in pending:
                self.lines = []
                self._block(block)
                written[self._numbers[block]] = self.lines
        parameters = [*(self.name(argument) for argument in op.args)]
        if self.module.counts_calls:
            parameters.append("d=0")
        kind = "c" if self.is_coroutine else "f"
        number = self.module.function(op.sym_name.data)[1:]
        head = (
            f"def {kind}{number}({', '.join((['h'] if self.is_coroutine else []) + parameters)}):"
        )
        lines = [head, *("    " + line for line in self.at_start)]
        if len(written) == 1:
            lines += ["    " + line for line in written[0]]
        else:
            lines += ["    b = 0", "    while True:"]
            lines += _dispatched(written, 0, len(written), 2)
        if self.is_coroutine:
            start = self.keep(self.module.machine.start)
            given = ", ".join([f"c{number}", *(p.removesuffix("=0") for p in parameters)])
            lines.append(f"def f{number}({', '.join(parameters)}): return {start}({given})")
        return "\n".join(lines) + "\n"

    def _block(self, start: Block) -> None:
        """Write a block and, after it, the blocks to which only this block leads."""
        block: Block | None = start
        while block is not None:
            self._operations(block)
            block = self._leave(terminator_of(block))

    def _operations(self, block: Block) -> None:
        for op in block.ops:
            if op is not block.last_op and op not in self.skipped:
                lower(self, op, _LOWERINGS)

    def _leave(self, op: Operation) -> Block | None:
        """Write a terminator. Return the block that must be written right after it, or None."""
        match op:
            case cf.BranchOp():
                return self._go(op, 0)
            case cf.ConditionalBranchOp():
                second = self._second_condition(op)
                self.line(f"if {self.name(op.cond)}:")
                if second is None:
                    self._nested(op, 0)
                    return self._go(op, 1)
                with self.indented():
                    self._operations(op.then_block)
                # If the first condition is false, set the second condition to false, so that one
                # branch handles both.
                self.line(f"else: {self.name(second.cond)} = 0")
                self._ways_in[op.else_block] -= 1
                return self._leave(second)
            case cf.SwitchOp():
                values = op.case_values.get_values() if op.case_values is not None else ()
                width = width_of(op.flag.type)
                for edge, value in enumerate(values, start=1):
                    case = value & 1 if width == 1 else wrapped(value, width)
                    self.line(f"if {self.name(op.flag)} == {case}:")
                    self._nested(op, edge)
                return self._go(op, 0)
            case func.ReturnOp():
                self.return_(op.arguments)
                return None
            case _:
                if op in self.skipped:  # a suspension that was written with its await
                    return self.goes_to(op.successors[1])
                # A generator suspends inside its `yield`, so only the successor where it resumes is
                # written.
                lower(self, op, _LOWERINGS)
                return self.goes_to(op.successors[1])

    def _second_condition(self, op: cf.ConditionalBranchOp) -> cf.ConditionalBranchOp | None:
        """Return the branch at the end of the `then` block if it leads to the same `else` block.

        In that case, both conditions must hold. Interrupt checks have this form.
        """
        second = terminator_of(op.then_block)
        if (
            isinstance(second, cf.ConditionalBranchOp)
            and second.else_block is op.else_block
            # Other results have no variable of their own, which could be set to false.
            and second.cond.owner
            in [
                one
                for one in op.then_block.ops
                if one.name not in ("arith.constant", "arith.bitcast", "ub.poison")
            ]
            and self._ways_in[op.then_block] == 1
            and not (op.else_block.args or op.then_block.args)
        ):
            return second
        return None

    def return_(self, values: Sequence[SSAValue]) -> None:
        """Write the return of the results. A coroutine keeps the results for its caller."""
        names = [*map(self.name, values)]
        results = names[0] if len(names) == 1 else f"({', '.join(names)})"
        if self.is_coroutine:
            self.line(f"h.results = {results}")
            self.line("return")
            # This statement makes the function a generator even if it never suspends.
            self.first("if 0: yield")
        else:
            buffers.end_buffers(self)
            self.line(f"return {results}" if names else "return")

    def _nested(self, op: Operation, edge: int) -> None:
        with self.indented():
            target = self._go(op, edge)
            if target is not None:
                self._block(target)

    def _go(self, op: Operation, edge: int) -> Block | None:
        target = op.successors[edge]
        passed = branch_operands(op, edge)
        if passed:
            # Assign all arguments in one statement, because a branch may pass the old value of one
            # argument to another.
            left = ", ".join(map(self.name, target.args))
            self.line(f"{left} = {', '.join(map(self.name, passed))}")
        return self.goes_to(target)

    def goes_to(self, target: Block) -> Block | None:
        """Return `target` if its source must be written here.

        Otherwise, write a jump to the number of `target`, and return None.
        """
        # A block that only returns is written at each place, because it is shorter than a jump.
        is_short = target.first_op is target.last_op and isinstance(target.last_op, func.ReturnOp)
        is_next = self._ways_in[target] == 1 and target not in self._numbers
        if is_short or (is_next and self.indent < _DEEPEST):
            return target
        self.line(f"b = {self._numbers.setdefault(target, len(self._numbers))}")
        self.line("continue")
        return None


def _dispatched(written: dict[int, list[str]], first: int, end: int, indent: int) -> Iterator[str]:
    """Yield the source of the blocks with the numbers from `first` up to, but not including, `end`.

    Tests that select the blocks come first.
    """
    before = "    " * indent
    # With many blocks, select one by binary search. No `else` is needed, because every block ends
    # in a jump.
    if end - first > _FEW:
        middle = (first + end) // 2
        yield f"{before}if b < {middle}:"
        yield from _dispatched(written, first, middle, indent + 1)
        yield from _dispatched(written, middle, end, indent)
        return
    for number in range(first, end):
        yield f"{before}if b == {number}:"
        yield from (f"{before}    {line}" for line in written[number])


MODULE = "tfrt_runtime.interpreted"
"""The module name of interpreted functions.

Its prefix marks the functions as the runtime's code, which Ctrl-C does not interrupt.
"""
_DEEPEST_CALLS = 4000
"""The maximum call depth. `deep_stack` allows ten times as many frames."""
_Adapter = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class InterpretedCode:
    """The Python functions that replace a program's machine code."""

    is_interpreted = True

    def __init__(
        self,
        module: ModuleOp,
        externals: Externals,
        addresses: Mapping[str, int],
        adapted: Collection[str],
    ) -> None:
        """Translate a module, which is the output of the passes.

        `externals` contains the declared functions that Python implements. `addresses` contains the
        addresses of the runtime's functions. `adapted` contains the names of the functions that
        kernels call.

        Raises:
            PassError: if an operation or a function cannot be compiled.
        """
        self._records = Records()
        self.machine = Machine(addresses, self._records, _DEEPEST_CALLS)
        ops = [*module.body.block.ops]
        functions = {
            op.sym_name.data: op
            for op in ops
            if isinstance(op, func.FuncOp) and not op.is_declaration
        }
        source = ModuleSource(
            self.machine,
            functions,
            self._records,
            addresses,
            externals,
            counts_calls=any(isinstance(op, RuntimeStackIsLowOp) for op in operations_in(module)),
        )
        for op in ops:
            if isinstance(op, memref.GlobalOp):
                source.globals[op.sym_name.data] = buffers.new_global(self._records, op)
            elif not isinstance(op, func.FuncOp):
                fail(op, f"'{op.name}' cannot be compiled")
        self.text = "\n".join(_Function(source, op).text() for op in functions.values())
        scope: dict[str, Any] = {"__name__": MODULE, **source.scope}
        exec(compile(self.text, "<interpreted>", "exec"), scope)  # noqa: S102 - we wrote the source
        self.functions: dict[str, Callable[..., Any]] = {
            name: scope[source.function(name)] for name in functions
        }
        if any(has_buffers(functions[name].function_type) for name in adapted):
            self.machine.live = self._records.words(0)
        if source.counts_calls:
            # Tasks may outlive their runs, so the recursion limit stays raised as long as the code
            # exists.
            depth = contextlib.ExitStack()
            depth.enter_context(deep_stack())
            weakref.finalize(self, depth.close)
        # Kernels have only the addresses of these callbacks, so this object must keep them alive.
        self._adapters = {
            adapter_name(name): _Adapter(self._adapter(functions[name])) for name in adapted
        }

    def address(self, name: str) -> int:
        """Return the address of an adapter.

        Raises:
            KeyError: if no function has an adapter of that name.
        """
        return ctypes.cast(self._adapters[name], ctypes.c_void_p).value or 0

    def _adapter(self, op: func.FuncOp) -> Callable[[int, int], int]:
        """Return a function that lets a kernel call `op`.

        The returned function fetches the arguments from a frame, calls `op`, and stores the
        results.
        """
        machine, called = self.machine, self.functions[op.sym_name.data]
        inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
        is_fallible = FALLIBLE in op.attributes
        places = [argument_order(inputs).index(i) for i in range(len(inputs))]
        takers = [self._taker(*one) for one in zip(places, inputs, strict=True)]
        # Fetch buffers first, so that there are no references to drop if a buffer is rejected.
        order = sorted(range(len(inputs)), key=lambda i: not isinstance(inputs[i], MemRefType))
        results = outputs[is_fallible:]
        givers = [self._giver(*one) for one in enumerate(results)]
        awaited = [i for i, type_ in enumerate(results) if is_awaited(type_)]
        others = [i for i, type_ in enumerate(results) if not is_awaited(type_)]

        def call(context: int, record: int) -> int:
            machine.count(1)
            values: list[Any] = [None] * len(takers)
            for number, index in enumerate(order):
                # Only the first request of a call may drop the tensors of finished calls; see
                # `jit.adapters`.
                values[index] = takers[index](context, record, number == 0)
                if values[index] is None:
                    machine.count(-1)
                    return 1
            returned = called(*values)
            found = [returned] if len(outputs) == 1 else [*returned] if outputs else []
            has_failed = is_fallible and found.pop(0)
            # If the function fails, its async results still exist: they are errors.
            for index in (*awaited, *(() if has_failed else others)):
                givers[index](context, record, found[index])
            machine.count(-1)
            return int(has_failed)

        def adapter(context: int, record: int) -> int:
            try:
                return call(context, record)
            except BaseException as problem:  # noqa: BLE001 - nothing may pass through the core
                # `call` counts itself before anything can fail.
                machine.abi("tfrtAsyncFail")(machine.failure(problem))
                machine.count(-1)
                return 1

        return adapter

    def _taker(self, place: int, type_: Attribute) -> Callable[[int, int, bool], Any]:
        """Return a function that fetches an argument.

        Its result is None if the argument is a buffer that does not match.
        """
        abi, spec = self.machine.abi, self._spec(type_)
        storage = storage_of(type_)
        if isinstance(type_, MemRefType):
            borrow = abi("tfrtKernelBorrowBuffer")

            def take(context: int, record: int, is_first: bool) -> Any:
                # The names keep the memory alive until it has been read.
                _descriptor, address = _new(storage.size)
                words, request = _new(40)
                words[:5] = [record, place, spec, address, is_first]
                return None if borrow(context, request) & 1 else storage.read(address)

            return take
        if spec:
            assert isinstance(type_, ValueType)
            size, make = storage_of(type_.value_type).size, abi("tfrtKernelBufferObject")
            return lambda context, record, _: make(context, record, place, size, spec)
        if is_awaited(type_):
            made = abi("tfrtKernelObject")
            return lambda context, record, _: made(context, record, place)
        argument = abi("tfrtKernelArgument")
        return lambda context, _record, _: storage.read(argument(context, place))

    def _giver(self, index: int, type_: Attribute) -> Callable[[int, int, Any], object]:
        """Return a function that returns a result to the kernel."""
        abi, spec = self.machine.abi, self._spec(type_)
        storage = storage_of(type_)
        if isinstance(type_, MemRefType):
            give = abi("tfrtKernelReturnBuffer")

            def give_buffer(context: int, record: int, value: Any) -> None:
                _descriptor, address = _new(storage.size)
                storage.write(address, value)
                words, request = _new(40)
                words[:5] = [record, index, spec, address, 0]
                give(context, request)

            return give_buffer
        if is_awaited(type_):
            name, more = ("BufferObject", [spec]) if spec else ("Object", [])
            made = abi(f"tfrtKernelReturn{name}")
            return lambda context, record, value: made(context, record, index, value, *more)
        made, is_word = abi("tfrtKernelReturn"), width_of(type_) > 0

        def give_word(context: int, record: int, value: Any) -> None:
            word = value if is_word else int.from_bytes(storage.pack(value), "little")
            made(context, record, index, wrapped(int(word)))

        return give_word

    def _spec(self, type_: Attribute) -> int:
        """Return the address of the words that describe a buffer to Python, or 0 for others."""
        held = type_.value_type if isinstance(type_, ValueType) else type_
        if not isinstance(held, MemRefType):
            return 0
        return self._records.words(*self._records.text(buffer_text(held)), self.machine.live)


def _new(size: int) -> tuple[Any, int]:
    words = new_words(size)
    return words, ctypes.addressof(words)


def interpret_program(
    module: ModuleOp,
    addresses: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    level: int = 1,
) -> InterpretedCode:
    """Return the program for the interpreter.

    The arguments are the same as for `jit.programs.compile_program`.
    """
    externals = check_declarations(module)
    with collector_paused():
        lowered = after_passes(module, externals, first, level, adapted, spawn=False)
        return InterpretedCode(lowered, externals, addresses, adapted)
