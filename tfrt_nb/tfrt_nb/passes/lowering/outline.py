"""Move the bodies of tasks into functions.

    %t = async.execute [%d] (%v as %x: !async.value<f32>) { "use"(%x, %y) ... }

becomes a call to a private function. The function takes the dependencies, the operands, and the
values that the body captures, in the order of first use. The function first awaits the dependencies
and the operands:

    %t = call @async_execute_fn(%d, %v, %y) : ...

The pass copies constants into the body instead of passing them. Tasks with equal bodies share a
function. If many bodies differ only in numbers, they share a function that takes these numbers as
arguments. The pass compares bodies by a key. The key numbers the values of a body in the order of
their definition, and captured values by their position in the argument list, so names do not
matter. The location of an assertion does matter, because it is part of the error message.

The pass can also spawn tasks. In that case, the task awaits dependencies and operands before it
calls the function, and the function gets the operands' payloads.

    %t = async.runtime.spawn @async_execute_fn(%d, %v, %y) {awaited = 2 : i64} : ...

A body that never waits becomes a plain function that returns the values that the task yields. Any
other body becomes a coroutine that takes the results as its first arguments, resolves them, and
returns nothing.

If a program itself counts references at its tasks, the pass rewrites these counts to the references
that functions need.

    async.add_ref %t {count = 1 : i32}              async.runtime.add_ref %t {count = 1 : i64}
    %u = async.execute [%t, %t] {            =>     async.runtime.add_ref %t {count = 1 : i64}
      async.drop_ref %t {count = 1 : i32}           %u = call @async_execute_fn(%t, %t) : ...
      async.yield
    }

On the high-level operations, a task holds at most one reference to a value, which its body drops.
An outlined function owns a reference for each of its arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AnyFloat,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.dialects.cf import AssertOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnOp
from tfrt_nb.dialects.async_.runtime import AddRefOp, DropRefOp, RuntimeAddRefOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import is_async
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.passes.control_flow import Emitter, ancestors, exchange, operations_in
from tfrt_nb.passes.lowering.coroutines import GIVEN_RESULTS, SHARED_BODY, WAITING, outside_tasks

EARLY_COUNTING = frozenset({AddRefOp, DropRefOp})
"""The operations that count references before tasks are lowered."""


def counts_tasks(module: ModuleOp) -> bool:
    """Return whether a program itself counts references on the high-level operations."""
    return any(type(op) in EARLY_COUNTING for op in operations_in(module))


class TaskCounts:
    """The values that a program itself counts at its tasks, with `async.add_ref` and `drop_ref`.

    The class reads the counts before any task is outlined, because outlining replaces the values
    that bodies use.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._originals: dict[SSAValue, SSAValue] = {}
        self._inside: set[tuple[Operation | None, SSAValue]] = set()
        self._at: set[tuple[Operation | None, SSAValue]] = set()
        for op in operations_in(module):
            if type(op) in EARLY_COUNTING:
                value, task = op.operands[0], _task_around(op)
                self._at.add((task, value))
                while task is not None:
                    self._inside.add((task, value))
                    task = _task_around(task)

    def replaced(self, task: ExecuteOp, call: Operation) -> None:
        """Record that the results of `call` replace the results of `task`."""
        self._originals.update(zip(call.results, task.results, strict=True))

    def missing(self, task: ExecuteOp, taken: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, int]]:
        """Yield each counted value for which the pass must add references, and how many.

        The outlined function needs one reference for each argument in `taken`, so it needs two if a
        value is passed twice. The program itself has added one of them if the task's body contains
        the `async.drop_ref` for it.
        """
        outer = _task_around(task)
        for value in dict.fromkeys(taken):
            # The argument may be the result of a task that a call has already replaced.
            original = self._originals.get(value, value)
            if (outer, original) in self._at:
                more = sum(one is value for one in taken) - ((task, original) in self._inside)
                if more:
                    yield value, more


def write_out_handed_on(module: ModuleOp) -> None:
    """Make explicit the reference that a task passes to a call.

    If a program counts a value and a task only passes it to a call, nothing in the task's body
    shows the count: the call takes over the task's reference. This function adds two counting
    operations to the body, which the counting passes cancel later.
    """
    counts = {op.operands[0]: op for op in operations_in(module) if type(op) in EARLY_COUNTING}
    for op in operations_in(module):
        task = _task_around(op)
        if type(op) is not CallOp or task is None:
            continue
        for value in op.operands:
            uses = [use.operation for use in value.uses if _task_around(use.operation) is task]
            if value in counts and uses == [op]:
                for kind, end in ((AddRefOp, op), (DropRefOp, task.terminator)):
                    Emitter.in_front_of(end)(kind(value)).attributes |= counts[value].attributes


def _task_around(op: Operation) -> ExecuteOp | None:
    return next((outer for outer in ancestors(op) if isinstance(outer, ExecuteOp)), None)


BodyKey: TypeAlias = tuple[Hashable, ...]

MAX_SPECIALISED = 8
"""The maximum number of functions for bodies that differ only in numbers.

Each of these functions contains its numbers. Further bodies share one function that takes the
numbers as arguments.
"""


def captured_values(region: Region) -> list[SSAValue]:
    """Return the outside values that the region uses, each once, in the order of first use.

    Values used in the regions of an operation come before the operation's own operands, as in MLIR.
    """
    used: dict[SSAValue, None] = {}
    inside: set[SSAValue] = set()
    _collect_uses(region, used, inside)
    return [value for value in used if value not in inside]


def _collect_uses(region: Region, used: dict[SSAValue, None], inside: set[SSAValue]) -> None:
    for block in region.blocks:
        inside.update(block.args)
        op = block.first_op
        while op is not None:
            for nested in op.regions:
                _collect_uses(nested, used, inside)
            used.update(dict.fromkeys(op.operands))
            inside.update(op.results)
            op = op.next_op


def replace_uses_inside(region: Region, replacements: Mapping[SSAValue, SSAValue]) -> None:
    """Replace each use of a key of `replacements` in the region, at any depth, with its value.

    The function walks the region instead of the uses, because a value that many tasks capture has
    very many uses.
    """
    if not replacements:
        return
    for op in operations_in(region):
        for index, operand in enumerate(op.operands):
            if operand in replacements:
                op.operands[index] = replacements[operand]


def sink_constants(region: Region, values: Iterable[SSAValue]) -> bool:
    """Copy the constants in `values` to the start of the region.

    Return whether `values` contains any constants.
    """
    block = region.blocks[0]
    first = block.first_op
    assert first is not None
    copies: dict[SSAValue, SSAValue] = {}
    for value in values:
        if isinstance(value.owner, arith.ConstantOp):
            copy = value.owner.clone()
            block.insert_op_before(copy, first)
            copies[value] = copy.result
    if copies:
        replace_uses_inside(region, copies)
    return bool(copies)


def hoist(constants: Sequence[arith.ConstantOp], task: ExecuteOp) -> list[SSAValue]:
    """Move the constants from the task's body to just before the task, and return their values."""
    emit = Emitter.in_front_of(task)
    for constant in constants:
        constant.detach()  # type: ignore[no-untyped-call]
        emit(constant)
    return [constant.result for constant in constants]


@dataclass
class Symbols:
    """Creates unused names for functions that a pass adds to a module, in MLIR's style."""

    module: ModuleOp
    _used: set[str] = field(default_factory=set)
    _counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._used.update(map(symbol_name, self.module.body.block.ops))

    def add(self, wanted: str, type_: FunctionType, body: Region) -> FuncOp:
        """Add a new private function at the end of the module."""
        function = FuncOp(self.fresh(wanted), type_, body, "private")
        self.module.body.block.add_op(function)
        return function

    def fresh(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if that name is taken."""
        name = wanted
        while name in self._used:
            # Continue where the last search stopped. Starting at 0 would take quadratic time for
            # many functions of one name.
            number = self._counters.get(wanted, 0)
            name = f"{wanted}_{number}"
            self._counters[wanted] = number + 1
        self._used.add(name)
        return name


@dataclass
class Outliner:
    """Replaces tasks with calls, or with spawns if `spawns` is true.

    With `share`, equal bodies share a function. `counts` contains the references that the program
    itself counts at its tasks.
    """

    symbols: Symbols
    share: bool = True
    spawns: bool = False
    counts: TaskCounts | None = None
    _known: dict[BodyKey, dict[Hashable, FuncOp]] = field(default_factory=dict)
    """The functions by body key and then by the numbers they contain.

    The second key is None for a function that takes its numbers as arguments.
    """

    def outline(self, task: ExecuteOp) -> FuncOp | None:
        """Replace the task with a call.

        Return the function if it is new and must become a coroutine, and otherwise None.
        """
        captured = captured_values(task.body)
        if sink_constants(task.body, captured):
            captured = captured_values(task.body)
        is_leaf = self.spawns and never_waits(task)
        if not self.spawns:  # without spawns, the function already takes these as arguments
            given = {*task.dependencies, *task.body_operands}
            captured = [value for value in captured if value not in given]
        constants: list[arith.ConstantOp] = []
        key = body_key(task, captured, constants) if self.share else ()
        # Without sharing, each task gets a new dictionary, in which no function is found.
        variants = self._known.setdefault(key, {}) if self.share else {}
        numbers = numbers_to_know(variants, [constant.value for constant in constants])
        # Enough functions contain their numbers, so this body passes its numbers as arguments.
        if numbers is None:
            captured += hoist(constants, task)
        arguments = [*task.dependencies, *task.body_operands, *captured]
        known = variants.get(numbers)
        function = self._new_function(task, captured, is_leaf) if known is None else known
        variants[numbers] = function
        # Several tasks now share the body, so its awaits no longer have a single source location.
        if known is not None and GIVEN_RESULTS in known.attributes:
            known.attributes[SHARED_BODY] = UnitAttr()
        name = function.sym_name.data
        for value, missing in self.counts.missing(task, arguments) if self.counts else ():
            Emitter.in_front_of(task)(RuntimeAddRefOp(value, missing))
        call: RuntimeSpawnOp | CallOp
        if self.spawns:
            awaited = len(task.dependencies) + len(task.body_operands)
            call = RuntimeSpawnOp(name, arguments, task.result_types, awaited)
        else:
            call = CallOp(name, arguments, task.result_types)
        if self.counts:
            self.counts.replaced(task, call)
        exchange(task, call)
        return function if known is None and not is_leaf else None

    def _new_function(self, task: ExecuteOp, captured: list[SSAValue], is_leaf: bool) -> FuncOp:
        body = task.detach_region(task.body)
        task.add_region(Region(Block()))
        block = body.blocks[0]
        stands_for: dict[SSAValue, SSAValue] = {}
        outputs: tuple[Attribute, ...] = ()
        if is_leaf:
            end = block.last_op
            assert isinstance(end, YieldOp)
            outputs = tuple(value.type for value in end.operands)
            # After the body returns, the code that calls it for the task resolves the results.
            exchange(end, ReturnOp(*end.operands))
        elif self.spawns:
            for index, result in enumerate(task.results):
                block.insert_arg(result.type, index)
        else:
            stands_for = _await_first(task, block)
            outputs = tuple(task.result_types)
        stands_for |= {value: _argument(block, value) for value in captured}
        replace_uses_inside(body, stands_for)
        type_ = FunctionType.from_lists(block.arg_types, outputs)
        function = self.symbols.add("async_execute_fn", type_, body)
        function.location = task.location
        if self.spawns and not is_leaf:
            function.attributes[GIVEN_RESULTS] = IntegerAttr(len(task.results), i64)
        return function


def _await_first(task: ExecuteOp, block: Block) -> dict[SSAValue, SSAValue]:
    """Add arguments for the task's dependencies and operands to the body, and await them first.

    Return a map from each dependency or operand to its argument. The body may also use these
    objects without an await.
    """
    payloads = list(block.args)
    emit = Emitter.at_start(block, task.location)
    stands_for: dict[SSAValue, SSAValue] = {}
    for value in task.dependencies:
        argument = _argument(block, value)
        # The task may list a value twice. In the body, the first argument then represents it.
        stands_for.setdefault(value, argument)
        emit(AwaitOp(argument))
    for value, unwrapped in zip(task.body_operands, payloads, strict=True):
        argument = _argument(block, value)
        stands_for.setdefault(value, argument)
        awaited = emit(AwaitOp(argument)).result
        assert awaited is not None
        unwrapped.replace_all_uses_with(awaited)
        block.erase_arg(unwrapped)
    return stands_for


def never_waits(task: ExecuteOp) -> bool:
    """Return whether the body never waits once it has started."""
    if len(task.body.blocks) != 1 or any(is_async(argument) for argument in task.body.block.args):
        return False
    return not any(type(op) in WAITING for op in outside_tasks(task.body))


def _argument(block: Block, value: SSAValue) -> SSAValue:
    """Append an argument to the block that represents `value` in the function."""
    argument = block.insert_arg(value.type, len(block.args))
    argument.name_hint = value.name_hint
    return argument


def numbers_to_know(
    variants: Mapping[Hashable, object], numbers: Sequence[Hashable]
) -> Hashable | None:
    """Return the numbers that a body's function contains, or None if it takes them as arguments.

    `variants` contains the existing functions for bodies with the same key. Its keys are the
    numbers that these functions contain.
    """
    known = tuple(numbers)
    return known if known in variants or len(variants) < MAX_SPECIALISED else None


def is_number(value: SSAValue) -> bool:
    """Return whether the value is a number, which a task can copy as an argument."""
    return isinstance(value.type, IntegerType | IndexType | AnyFloat)


def body_key(task: ExecuteOp, captured: Sequence[SSAValue], constants: list[ConstantOp]) -> BodyKey:
    """Return the key of a task's body.

    Tasks with equal keys may share a function that takes the numbers in their bodies as arguments.
    The function appends the constants in the body that define these numbers to `constants`, in body
    order.
    """
    numbers: dict[SSAValue, int] = {}
    arguments = [*task.dependencies, *task.body_operands, *captured]
    for value in arguments:
        numbers.setdefault(value, len(numbers))
    return (
        tuple(numbers[value] for value in arguments),
        tuple(task.dependencies.types),
        tuple(task.body_operands.types),
        tuple(value.type for value in captured),
        tuple(task.result_types),
        _region_key(task.body, numbers, constants),
    )


def _region_key(
    region: Region, numbers: dict[SSAValue, int], constants: list[ConstantOp]
) -> BodyKey:
    blocks: dict[Block, int] = {block: index for index, block in enumerate(region.blocks)}
    for block in region.blocks:
        for argument in block.args:
            numbers[argument] = len(numbers)
    return tuple(
        (
            tuple(block.arg_types),
            tuple(_op_key(op, numbers, blocks, constants) for op in block.ops),
        )
        for block in region.blocks
    )


def _op_key(
    op: Operation,
    numbers: dict[SSAValue, int],
    blocks: dict[Block, int],
    constants: list[ConstantOp],
) -> BodyKey:
    # A use may come before the definition if a later block of the region defines the value. Such a
    # use gives the value its number.
    operands = tuple(numbers.setdefault(operand, len(numbers)) for operand in op.operands)
    for result in op.results:
        numbers.setdefault(result, len(numbers))
    if type(op) is ConstantOp and is_number(op.result):
        constants.append(op)
        # The number itself is not in the key: `numbers_to_know` decides whether the function
        # contains it.
        return op.name, numbers[op.result], op.result.type
    return (
        op.name,
        operands,
        tuple(numbers[result] for result in op.results),
        tuple(op.result_types),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        tuple(blocks[successor] for successor in op.successors),
        tuple(_region_key(region, numbers, constants) for region in op.regions),
        op.location if type(op) is AssertOp else None,
    )
