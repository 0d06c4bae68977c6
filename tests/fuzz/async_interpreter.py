"""An interpreter of async programs, which runs one operation after another on Python values.

It walks the parser's high-level operations, without any pass or runtime, and runs each task and
each async function to its end where it is reached, which is one of the orders that concurrency
permits.

If threads decide which of several errors is kept, in a group or a parallel loop, an error is the
set of all possible ones.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_ import functions, runtime, tasks
from tfrt_nb.dialects.async_.types import TokenType
from tfrt_nb.internal_errors import location_of

Errors = frozenset[tuple[str, int]]
"""Messages and lines, one of which is the error's."""


class Failed(Exception):
    """The running operation has failed."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(errors)
        self.errors = errors


@dataclass
class Future:
    """A resolved token or value."""

    payload: Any = None
    errors: Errors = frozenset()


@dataclass
class Group:
    """A group and its members so far."""

    size: int
    members: list[Future] = field(default_factory=list)

    @property
    def errors(self) -> Errors:
        return frozenset().union(*(member.errors for member in self.members))


@dataclass(frozen=True)
class Result:
    """A program's output, and the possible errors of its main function."""

    output: str
    errors: Errors = frozenset()


Values = dict[SSAValue, Any]
Leave = tuple[Operation, list[Any]]
"""The terminator by which a region was left, and its operands."""


def interpret(module: ModuleOp) -> Result:
    """Run the function `main`."""
    machine = Interpreter(module)
    try:
        machine.call("main", [])
    except Failed as failure:
        return Result("".join(machine.output), failure.errors)
    return Result("".join(machine.output))


class Interpreter:
    """A running program: its functions, and its output so far."""

    def __init__(self, module: ModuleOp) -> None:
        self.functions = {
            op.sym_name.data: op
            for op in module.body.block.ops
            if isinstance(op, func.FuncOp | functions.FuncOp)
        }
        self.output: list[str] = []

    def call(self, name: str, arguments: list[Any]) -> list[Any]:
        """Run a function to its end, and return its results; those of an async function are
        futures.
        """
        function = self.functions[name]
        if function.is_declaration:
            self._print(name, arguments)
            return []
        run = lambda: self.region(function.body, arguments, {})[1]
        if isinstance(function, func.FuncOp):
            return run()
        return self._futures(run, function.function_type.outputs.data)

    def _futures(self, run: Callable[[], list[Any]], types: Sequence[Any]) -> list[Any]:
        """Return the results of a task: first its token, if it has one."""
        has_token = isinstance(types[0], TokenType)
        try:
            payloads = run()
        except Failed as failure:
            return [Future(errors=failure.errors) for _ in types]
        return [*([Future()] if has_token else []), *map(Future, payloads)]

    def _print(self, name: str, arguments: list[Any]) -> None:
        match name:
            case "printI64":
                self.output.append(str(arguments[0]))
            case "printF64":
                self.output.append(f"{arguments[0]:g}")
            case "printNewline":
                self.output.append("\n")
            case _:
                raise AssertionError(name)

    def region(self, region: Region, arguments: list[Any], outside: Values) -> Leave:
        """Run a region from its first block until an operation leaves it."""
        values = dict(outside)
        block: Block = region.blocks[0]
        while True:
            values.update(zip(block.args, arguments, strict=True))
            for op in block.ops:
                match op:
                    case cf.BranchOp():
                        block, arguments = op.successor, [values[a] for a in op.arguments]
                    case cf.ConditionalBranchOp():
                        if values[op.cond]:
                            block, passed = op.then_block, op.then_arguments
                        else:
                            block, passed = op.else_block, op.else_arguments
                        arguments = [values[a] for a in passed]
                    case _ if op.next_op is None:
                        return op, [values[a] for a in op.operands]
                    case _:
                        results = self.operation(op, values)
                        values.update(zip(op.results, results, strict=True))

    def operation(self, op: Operation, values: Values) -> Sequence[Any]:
        """Run an operation, and return its results."""
        operands = [values[operand] for operand in op.operands]
        if op.name.startswith(("arith.", "memref.")):
            return compute(op, operands)
        match op:
            case func.CallOp() | functions.CallOp():
                return self.call(op.callee.root_reference.data, operands)
            case cf.AssertOp():
                check(op, operands[0], op.msg.data)
                return ()
            case tasks.ExecuteOp():
                return self._futures(lambda: self._task(op, values), op.result_types)
            case tasks.AwaitOp() | tasks.AwaitAllOp():
                return await_(operands[0], len(op.results))
            case tasks.CreateGroupOp():
                return (Group(operands[0]),)
            case tasks.AddToGroupOp():
                member, group = operands
                group.members.append(member)
                return (len(group.members) - 1,)
            case runtime.RuntimeAwaitOp() | runtime.RuntimeAddRefOp() | runtime.RuntimeDropRefOp():
                return ()
            case runtime.RuntimeCreateOp():
                return (Future(),)
            case runtime.RuntimeStoreOp():
                operands[1].payload = operands[0]
                return ()
            case runtime.RuntimeSetAvailableOp():
                return ()
            case runtime.RuntimeSetErrorOp():
                operands[0].errors = errors_at(op, f"set to an error by '{op.name}'")
                return ()
            case runtime.RuntimeIsErrorOp():
                return (bool(operands[0].errors),)
            case _:
                return self._structured(op, operands, values)

    def _task(self, op: tasks.ExecuteOp, values: Values) -> list[Any]:
        for dependency in op.dependencies:
            await_(values[dependency], 0)
        payloads = [await_(values[operand], 1)[0] for operand in op.body_operands]
        return self.region(op.body, payloads, values)[1]

    def _structured(self, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
        match op:
            case scf.IfOp():
                region = op.true_region if operands[0] else op.false_region
                return self.region(region, [], values)[1] if region.blocks else ()
            case scf.ForOp():
                lower, upper, step, *carried = operands
                for index in range(lower, upper, step):
                    carried = self.region(op.body, [index, *carried], values)[1]
                return carried
            case scf.WhileOp():
                while True:
                    _, (goes_on, *operands) = self.region(op.before_region, operands, values)
                    if not goes_on:
                        return operands
                    operands = self.region(op.after_region, operands, values)[1]
            case scf.IndexSwitchOp():
                cases = dict(zip(op.cases.get_values(), op.case_regions, strict=True))
                return self.region(cases.get(operands[0], op.default_region), [], values)[1]
            case scf.ParallelOp():
                return self._parallel(op, values)
            case _:
                raise AssertionError(op.name)

    def _parallel(self, op: scf.ParallelOp, values: Values) -> Sequence[Any]:
        """Run all iterations, even if some fail.

        With a reduction, run only those up to the first failure.
        """
        bounds = zip(op.lowerBound, op.upperBound, op.step, strict=True)
        ranges = [range(*(values[bound] for bound in dimension)) for dimension in bounds]
        carried = [values[value] for value in op.initVals]
        failed: Errors = frozenset()
        for indices in itertools.product(*ranges):
            try:
                reduce, terms = self.region(op.body, [*indices], values)
            except Failed as failure:
                if carried:
                    raise
                failed |= failure.errors
                continue
            carried = [
                self.region(combine, [so_far, term], values)[1][0]
                for combine, so_far, term in zip(reduce.regions, carried, terms, strict=True)
            ]
        if failed:
            raise Failed(failed)
        return carried


def await_(awaited: Future | Group, results: int) -> Sequence[Any]:
    """Return the payload, if there is one."""
    if isinstance(awaited, Group):
        assert len(awaited.members) == awaited.size
    if awaited.errors:
        raise Failed(awaited.errors)
    return (awaited.payload,) if results and isinstance(awaited, Future) else ()


def check(op: Operation, holds: bool, message: str) -> None:
    """Fail at the operation unless the condition holds."""
    if not holds:
        raise Failed(errors_at(op, message))


def errors_at(op: Operation, message: str) -> Errors:
    """Return an error with this message at the operation."""
    place = location_of(op)
    assert place is not None
    return frozenset({(message, place.line)})


def wrap(number: int, type_: object) -> int:
    """Return the number in two's complement of the type's width; one bit is a bool."""
    width = type_.width.data if isinstance(type_, IntegerType) else 64
    if width == 1:
        return bool(number & 1)
    return (number + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)


INTEGERS: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.divsi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "arith.remsi": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
FLOATS: dict[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
}
PREDICATES: tuple[Callable[[int, int], bool], ...] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
"""The signed predicates, by their numbers in MLIR."""


def compute(op: Operation, operands: list[Any]) -> Sequence[Any]:
    """Compute an operation of `arith` or `memref` on numbers and lists."""
    if op.name in INTEGERS:
        if op.name in ("arith.divsi", "arith.remsi"):
            check(op, operands[1] != 0, "division by zero")
        return (wrap(INTEGERS[op.name](*operands), op.results[0].type),)
    if op.name in FLOATS:
        return (FLOATS[op.name](*operands),)
    match op:
        case arith.ConstantOp():
            number = op.value.value.data
            is_integer = isinstance(op.result.type, IntegerType | IndexType)
            return (wrap(number, op.result.type) if is_integer else number,)
        case arith.CmpiOp():
            return (PREDICATES[op.predicate.value.data](*operands),)
        case arith.SelectOp():
            return (operands[1] if operands[0] else operands[2],)
        case Operation(name="arith.extui" | "arith.index_cast"):
            return (int(operands[0]),)
        case Operation(name="arith.trunci"):
            return (wrap(operands[0], op.result.type),)
        case Operation(name="arith.sitofp"):
            return (float(operands[0]),)
        case memref.AllocOp():
            assert isinstance(op.memref.type, MemRefType)
            return ([None] * op.memref.type.get_shape()[0],)
        case memref.LoadOp():
            buffer, index = operands
            check(op, 0 <= index < len(buffer), "index #0 is out of bounds")
            return (buffer[index],)
        case memref.StoreOp():
            value, buffer, index = operands
            check(op, 0 <= index < len(buffer), "index #0 is out of bounds")
            buffer[index] = value
            return ()
        case memref.DeallocOp():
            return ()
        case _:
            raise AssertionError(op.name)
