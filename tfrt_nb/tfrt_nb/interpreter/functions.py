"""A compiled function as a function of Python, and a coroutine as a generator.

    func.func @f(%x: i32) -> i32          def f0(v0, d=0):
      cf.br ^loop(%x : i32)                   b = 0
    ^loop(%i: i32):                           while True:
      ...                                         if b == 0:
      cf.cond_br %c, ^loop(%j), ^end                  v1 = v0; b = 1; continue
    ^end:                                         ...
      return %i : i32                             if v5: v1 = v4; continue
                                                  return v1

A block with one way in is written where control comes from. The others have numbers, and `b` is
that of the next one. Values are local variables, so those of a coroutine are kept while it is
suspended. A function with several results returns a tuple.

The last argument of a function, `d`, counts the calls that it is within, if the module has
functions that ask how much stack is left. Python's frames are on the heap, but a coroutine is
resumed through C, which takes stack, so it counts as many calls.

An alternative is to walk the operations, as `tests/fuzz/async_interpreter.py` does, which needs no
translation: fib(15) as async functions takes 200 times as long there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import cf, func
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.branches import branch_operands
from tfrt_nb.interpreter import buffers, calls, numbers, objects
from tfrt_nb.interpreter.rounding import width_of
from tfrt_nb.interpreter.source import FunctionSource, ModuleSource
from tfrt_nb.jit.llvm_types import UnsupportedType, signature
from tfrt_nb.jit.runtime_calls import lower
from tfrt_nb.passes.control_flow import terminator_of
from tfrt_nb.passes.errors import fail
from tfrt_runtime.scalars import wrapped

_LOWERINGS = {
    **numbers.LOWERINGS,
    **buffers.LOWERINGS,
    **calls.LOWERINGS,
    **objects.LOWERINGS,
}
_DEEPEST = 60
"""Blocks are nested at most so deep: Python takes up to 100 levels of indentation."""
_FEW = 4
"""The most numbers that are compared one after the other."""


class _Function(FunctionSource):
    """Writes the blocks of a function."""

    def __init__(self, module: ModuleSource, op: func.FuncOp) -> None:
        super().__init__(module, op)
        self._ways_in: dict[Block, int] = {}
        self._numbers: dict[Block, int] = {}

    def text(self) -> str:
        """Return the source.

        Raises:
            PassError: at an operation that cannot be compiled.
        """
        op = self.op
        try:
            signature(op.function_type)
        except UnsupportedType as error:
            fail(op, str(error))
        for block in op.body.blocks:
            for target in terminator_of(block).successors:
                self._ways_in[target] = self._ways_in.get(target, 0) + 1
        entry = op.body.blocks[0]
        self._numbers[entry] = 0
        written: dict[int, list[str]] = {}
        self.indent = 0
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
        """Write a block, and after it those that only it leads to."""
        block: Block | None = start
        while block is not None:
            self._operations(block)
            block = self._leave(terminator_of(block))

    def _operations(self, block: Block) -> None:
        for op in block.ops:
            if op is not block.last_op and op not in self.skipped:
                lower(self, op, _LOWERINGS)

    def _leave(self, op: Operation) -> Block | None:
        """Write a terminator; return the block that goes on in the same place, if there is one."""
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
                if op in self.skipped:  # a suspension after its await
                    return self.goes_to(op.successors[1])
                lower(self, op, _LOWERINGS)
                return self.goes_to(op.successors[1])

    def _second_condition(self, op: cf.ConditionalBranchOp) -> cf.ConditionalBranchOp | None:
        """Return the branch of `then` if it leads to the same `else`: both conditions have to hold.

        Interrupts are looked for like this.
        """
        second = terminator_of(op.then_block)
        if (
            isinstance(second, cf.ConditionalBranchOp)
            and second.else_block is op.else_block
            and second.cond.owner in (*op.then_block.ops,)
            and self._ways_in[op.then_block] == 1
            and not (op.else_block.args or op.then_block.args)
        ):
            return second
        return None

    def return_(self, values: Sequence[SSAValue]) -> None:
        """Leave the function with its results; a coroutine keeps them for whoever started it."""
        names = [*map(self.name, values)]
        results = names[0] if len(names) == 1 else f"({', '.join(names)})"
        if self.is_coroutine:
            self.line(f"h.results = {results}")
            self.line("return")
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
            left = ", ".join(map(self.name, target.args))
            self.line(f"{left} = {', '.join(map(self.name, passed))}")
        return self.goes_to(target)

    def goes_to(self, target: Block) -> Block | None:
        """Return a block that is to be written here, or continue at its number."""
        is_short = target.first_op is target.last_op and isinstance(target.last_op, func.ReturnOp)
        is_next = self._ways_in[target] == 1 and target not in self._numbers
        if is_short or (is_next and self.indent < _DEEPEST):
            return target
        number = self._numbers.setdefault(target, len(self._numbers))
        self.line(f"b = {number}")
        self.line("continue")
        return None


def _dispatched(written: dict[int, list[str]], first: int, end: int, indent: int) -> Iterator[str]:
    """Yield the blocks with the numbers from `first` up to `end`, with a choice between them."""
    before = "    " * indent
    if end - first > _FEW:
        middle = (first + end) // 2
        yield f"{before}if b < {middle}:"
        yield from _dispatched(written, first, middle, indent + 1)
        yield from _dispatched(written, middle, end, indent)
        return
    for number in range(first, end):
        yield f"{before}if b == {number}:"
        yield from (f"{before}    {line}" for line in written[number])


def function_text(module: ModuleSource, op: func.FuncOp) -> str:
    """Return the source of a function.

    Raises:
        PassError: at an operation that cannot be compiled.
    """
    return _Function(module, op).text()
