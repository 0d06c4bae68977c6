"""Copy a program for lowering, and turn short tasks into functions at the same time.

    %t, %v = async.execute (%u as %y: !async.value<i64>) -> !async.value<i64> {
      %one = arith.constant 1 : i64
      %z = arith.addi %y, %one : i64
      async.yield %z : i64                        =>
    }

    %t, %v = async.runtime.spawn @async_execute_body(%u) {awaited = 1 : i64} : ...

If the body of a task only computes, the task becomes a function, as `outline` does later with all
other tasks. Because this happens during the copy, a thousand tasks with the same body never become
a thousand bodies that every pass would have to walk. If such a body awaits a value before any
operation that may fail or have an effect, the task awaits that value before the body starts, like
its operands.

The pass creates constants from outside the task again in the body. Tasks share a function if their
bodies are equal. Operations that may fail are equal only if their source locations are. If many
bodies differ only in numbers, the later ones share a function that takes the numbers as arguments:

    %c = arith.constant 17 : i64
    %t, %v = async.runtime.spawn @async_execute_body_7(%u, %c) {awaited = 1 : i64} : ...

If the only use of a task's token is that the next operation adds the task to a group, the task is
spawned as a member of the group, without a token:

    %t = async.execute { ... }
    %rank = async.add_to_group %t, %g          =>   async.runtime.spawn_into %g, @async_execute_body() : ()

Passes inform later passes by attributes on operations. A source program must not contain these
attributes, so the copy leaves them out. Some operations rely on facts that only passes know: for
instance, that a number is an object's handle. The module rejects programs that contain these
operations.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.extensions import (
    ADDED_AT,
    AWAITED_AT,
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeFromHandleOp,
    RuntimeHandleOfOp,
    RuntimeIsLiveOp,
    RuntimeIsWritableOp,
    RuntimeLogOp,
    RuntimeSpawnIntoOp,
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.runtime import (
    BY_HAND,
    OF_OWN,
    ON_TOP,
    UNLESS_AVAILABLE,
    UNSEEN,
    RuntimeAddToGroupOp,
)
from tfrt_nb.dialects.async_.tasks import AddToGroupOp, AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import CoroIdType, CoroStateType, is_async
from tfrt_nb.dialects.fast_ir import append, create
from tfrt_nb.passes.buffers.guard_buffers import IN_BOUNDS
from tfrt_nb.passes.control_flow import fail, operations_in
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE, FAST_PATH
from tfrt_nb.passes.lowering.call_graph import functions_with
from tfrt_nb.passes.lowering.coroutines import (
    GIVEN_RESULTS,
    JOINS,
    RESOLVED_BY_HAND,
    SHARED_BODY,
    UNINTERRUPTED,
)
from tfrt_nb.passes.lowering.outline import Symbols, is_number, numbers_to_know
from tfrt_nb.passes.safety.guard_operations import DIVISIONS
from tfrt_nb.passes.safety.interruptible_loops import NEVER_WRAPS

_COMPUTING = ("arith.", "math.")
_ONLY_IN_COROUTINES = frozenset({CoroIdType, CoroStateType})
_PRIVATE = StringAttr("private")
_MAY_FAIL = frozenset({cf.AssertOp, *DIVISIONS})
MARKS = frozenset(
    {
        IN_BOUNDS,
        NEVER_WRAPS,
        JOINS,
        UNINTERRUPTED,
        FALLIBLE,
        FAST_PATH,
        GIVEN_RESULTS,
        SHARED_BODY,
        ON_TOP,
        BY_HAND,
        OF_OWN,
        ADDED_AT,
        AWAITED_AT,
        UNSEEN,
        UNLESS_AVAILABLE,
        RESOLVED_BY_HAND,
    }
)
"""The attributes by which passes inform later passes.

The set must be complete: a source program could forge an attribute that is missing here.
"""
_OF_PASSES = frozenset(
    {
        RuntimeSpawnOp,
        RuntimeSpawnIntoOp,
        RuntimeHandleOfOp,
        RuntimeFromHandleOp,
        RuntimeFreeBufferOp,
        RuntimeIsLiveOp,
        RuntimeIsWritableOp,
        RuntimeCompareExchangeOp,
        RuntimeLogOp,
    }
)
_NAME = "async_execute_body"
"""The base name of the functions that this module creates; others are called `async_execute_fn`."""


Values: TypeAlias = dict[SSAValue, SSAValue]
"""Maps values of the program to their counterparts in the copy."""
_Function: TypeAlias = tuple[FuncOp, dict[str, Attribute]]
"""The function of a task's body, and the properties of the operation that spawns it."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copied program, and the functions of its tasks that only compute numbers.

    These functions need no lowering, and are not in the module, so that no pass walks them.
    `complete` adds them to the module.
    """

    module: ModuleOp
    leaves: list[FuncOp]

    def complete(self) -> ModuleOp:
        """Add the functions to the module, and return the module."""
        for function in self.leaves:
            self.module.body.block.add_op(function)
        self.leaves.clear()
        return self.module


def copy_program(module: ModuleOp, *, spawn: bool = True) -> Copy:
    """Return a copy of the module with source locations, but without value names.

    Without `spawn`, no task becomes a function.
    """
    return _Copier(module, spawn).program()


class _Copier:
    """Copies operations with their regions."""

    def __init__(self, module: ModuleOp, spawns: bool) -> None:
        self._module = module
        self._spawns = spawns
        self._symbols = Symbols(module)
        self._values: Values = {}
        self._blocks: dict[Block, Block] = {}
        self._early: list[tuple[Operation, int, SSAValue]] = []
        self._functions: dict[Hashable, dict[Hashable, _Function]] = {}
        """Functions, by the key of the body and then by the numbers in it; None stands for numbers
        that are arguments.
        """
        self._by_identity: dict[int, int] = {}
        self._by_value: dict[Attribute, int] = {}
        self._lowered: list[FuncOp] = []
        self._leaves: list[FuncOp] = []
        self._quiet: set[str] | None = None
        self._types: dict[tuple[tuple[Attribute, ...], ...], FunctionType] = {}
        self._computes: dict[type[Operation], bool] = {YieldOp: True, cf.AssertOp: True}

    def program(self) -> Copy:
        """Copy the module, and collect the functions of its tasks."""
        copy = self._copy(self._module, self._values)
        assert isinstance(copy, ModuleOp)
        for op, index, value in self._early:
            op.operands[index] = self._values[value]
        for function in self._lowered:
            copy.body.block.add_op(function)
        return Copy(copy, self._leaves)

    def _copy(self, op: Operation, values: Values) -> Operation:
        """Copy an operation with the operands that `values` has; map its results there."""
        kind = RuntimeAddToGroupOp if type(op) is AddToGroupOp else type(op)
        if kind in _OF_PASSES:
            fail(op, f"'{op.name}' is reserved for passes: programs cannot have it")
        operands = op._operands
        taken = [values.get(operand, operand) for operand in operands]
        types = [result.type for result in op.results]
        properties, attributes = dict(op.properties), dict(op.attributes)
        for mark in attributes.keys() & MARKS if attributes else ():
            if mark == FALLIBLE:
                # The copy cannot leave this attribute out, because the function's failure flag
                # would become an ordinary result.
                fail(op, f"'{mark}' is an attribute of passes: programs cannot have it")
            del attributes[mark]
        if op.regions or op._successors:
            copy = kind.create(
                operands=taken,
                result_types=types,
                properties=properties,
                attributes=attributes,
                location=op.location,
                successors=[self._blocks[target] for target in op.successors],
                regions=[self._region(region, values) for region in op.regions],
            )
        else:
            copy = create(kind, taken, types, attributes, op.location, properties)
        # A block may use a value that a later block of the region defines, which is not copied yet.
        self._early += [(copy, i, one) for i, one in enumerate(operands) if one not in values]
        values.update(zip(op.results, copy.results, strict=True))
        return copy

    def _region(self, region: Region, values: Values) -> Region:
        blocks = [Block(arg_types=block.arg_types) for block in region.blocks]
        for block, copy in zip(region.blocks, blocks, strict=True):
            self._blocks[block] = copy
            values.update(zip(block.args, copy.args, strict=True))
        for block, copy in zip(region.blocks, blocks, strict=True):
            op = block.first_op
            while op is not None:
                spawn = self._spawn(op, values, copy) if type(op) is ExecuteOp else None
                append(copy, self._copy(op, values) if spawn is None else spawn)
                # The spawn already adds the task to its group.
                if type(spawn) is RuntimeSpawnIntoOp:
                    op = op.next_op
                    assert type(op) is AddToGroupOp
                op = op.next_op
        return Region(blocks)

    def _spawn(self, task: ExecuteOp, values: Values, copy: Block) -> Operation | None:
        """Return the operation that starts `task` if its body only computes, and otherwise None.

        The method adds the constants that the task needs to `copy`.
        """
        if not self._spawns:
            return None
        region = task.regions[0]
        block = region.first_block
        body = _Body()
        if block is None or block is not region.last_block or not self._read(task, block, body):
            return None
        variants = self._functions.setdefault(tuple(body.key), {})
        numbers = numbers_to_know(variants, body.numbers)
        if numbers is None:
            body.captured += [constant.result for constant in body.constants]
            for constant in body.constants:
                if constant.parent is block:
                    append(copy, self._copy(constant, values))
        known = variants.get(numbers)
        if known is None:
            known = variants[numbers] = self._function(task, body)
        group = _only_group(task)
        if group is None or task._operands or body.awaited or any(map(is_async, body.captured)):
            kind: type[Operation] = RuntimeSpawnOp
            sources = [*task._operands, *body.awaited, *body.captured]
            results = [result.type for result in task.results]
        else:
            kind, sources, results = RuntimeSpawnIntoOp, [group, *body.captured], []
        taken = [values.get(source, source) for source in sources]
        spawn = create(kind, taken, results, {}, task.location, dict(known[1]))
        if group is not None and task.next_op is not None:
            spawn.attributes[ADDED_AT] = task.next_op.location
        if body.awaited_at:
            spawn.attributes[AWAITED_AT] = ArrayAttr(body.awaited_at)
        self._early += [(spawn, i, one) for i, one in enumerate(sources) if one not in values]
        if results:
            values.update(zip(task.results, spawn.results, strict=True))
        return spawn

    def _number(self, attribute: Attribute) -> int:
        """Return a negative number for an attribute; equal attributes get the same number.

        Most attributes are the same few objects, and a lookup by identity costs less than a
        comparison.
        """
        number = self._by_identity.get(id(attribute))
        if number is None:
            number = self._by_value.setdefault(attribute, -1 - len(self._by_value))
            self._by_identity[id(attribute)] = number
        return number

    def _read(self, task: ExecuteOp, block: Block, body: _Body) -> bool:
        """Return whether the block only computes, and describe the block in `body`.

        The description contains everything that distinguishes the block from others.
        """
        may_have_failed = False
        numbers: dict[SSAValue, int] = {}
        key, number_of = body.key, self._number
        key += [number_of(value.type) for value in task._operands]
        for argument in block.args:
            if is_async(argument):
                return False
            numbers[argument] = len(numbers)
        following = block.first_op
        while (op := following) is not None:
            following = op.next_op
            kind: type[Operation] = type(op)
            if type(op) is AwaitOp:
                # If the await moved before an operation that may fail, the await's error could hide
                # that operation's error.
                if may_have_failed or not body.read_await(op, numbers):
                    return False
                continue
            if op.regions or not (self._only_computes(kind) or self._calls_quietly(op)):
                return False
            key.append(kind)
            for operand in op._operands:
                number = numbers.get(operand)
                if number is None:
                    number = numbers[operand] = len(numbers)
                    owner = operand.owner
                    if type(owner) is arith.ConstantOp:
                        body.outside.append(owner)
                        if is_number(operand):
                            body.constants.append(owner)
                            body.numbers.append(number_of(owner.value))
                        else:
                            key.append(number_of(owner.value))
                        key.append(number_of(operand.type))
                    elif (  # `check_async` lets a task capture it
                        type(owner) is not memref.AllocaOp
                        and type(operand.type) not in _ONLY_IN_COROUTINES
                    ):
                        body.captured.append(operand)
                        key.append(number_of(operand.type))
                    else:
                        return False
                key.append(number)
            for result in op.results:
                if is_async(result):
                    return False
                numbers[result] = len(numbers)
                key.append(number_of(result.type))
            if type(op) is arith.ConstantOp and is_number(op.result):
                # Leave the number out of the key, so that bodies that differ only in numbers can
                # share a function.
                body.constants.append(op)
                body.numbers.append(number_of(op.value))
                continue
            for name, attribute in (*op.properties.items(), *op.attributes.items()):
                key += (name, number_of(attribute))
            if kind in _MAY_FAIL:
                key.append(op.location)
                may_have_failed = True
            elif kind is CallOp:
                may_have_failed = True
        body.is_infallible = not may_have_failed
        return True

    def _only_computes(self, kind: type[Operation]) -> bool:
        known = self._computes.get(kind)
        if known is None:
            known = self._computes[kind] = kind.name.startswith(_COMPUTING)
        return known

    def _calls_quietly(self, op: Operation) -> bool:
        """Return whether `op` calls a function that, with its callees, never involves tasks."""
        if not isinstance(op, CallOp) or any(
            value.type.name.startswith("async.") for value in (*op.operands, *op.results)
        ):
            return False
        if self._quiet is None:
            self._quiet = _quiet_functions(self._module)
        return op.callee.root_reference.data in self._quiet

    def _function(self, task: ExecuteOp, body: _Body) -> _Function:
        source = task.body.block
        taken = [*source.args, *body.payloads, *body.captured]
        block = Block(arg_types=[value.type for value in taken])
        values: Values = dict(zip(taken, block.args, strict=True))
        for op in (*body.outside, *source.ops):
            if type(op) is arith.ConstantOp and op.result in values:
                continue  # the value is an argument
            if type(op) is AwaitOp:
                for result in op.results:
                    values[result] = values[body.awaited[op.operand] or result]
            elif isinstance(op, YieldOp):
                taken_out = [values[operand] for operand in op.operands]
                leave = create(ReturnOp, taken_out, (), {}, op.location, {})
                append(block, leave)
            else:
                append(block, self._copy(op, values))
        types = tuple(block.arg_types), tuple(leave.operand_types)
        if types not in self._types:
            self._types[types] = FunctionType.from_lists(*types)
        name = StringAttr(self._symbols.fresh(_NAME))
        function = FuncOp.create(
            properties={
                "sym_name": name,
                "function_type": self._types[types],
                "sym_visibility": _PRIVATE,
            },
            regions=[Region(block)],
            location=task.location,
        )
        is_leaf = body.is_infallible and all(map(is_number, (*taken, *leave.operands)))
        # A leaf takes and returns only numbers and cannot fail, so passes would not change it.
        (self._leaves if is_leaf else self._lowered).append(function)
        spawning: dict[str, Attribute] = {"callee": SymbolRefAttr(name)}
        awaited = len(task.operands) + len(body.awaited)
        if awaited:
            spawning["awaited"] = IntegerAttr(awaited, i64)
        return function, spawning


@dataclass
class _Body:
    """The key of a task's body, which equal bodies share, and the values that the body takes."""

    key: list[Hashable] = field(default_factory=list)
    awaited: dict[SSAValue, SSAValue | None] = field(default_factory=dict)
    """The values that the body awaits, each with the result of its first await, or None."""
    awaited_at: list[LocationAttr] = field(default_factory=list)
    """The location of the first await of each value in `awaited`."""
    captured: list[SSAValue] = field(default_factory=list)
    outside: list[arith.ConstantOp] = field(default_factory=list)
    """The constants from outside the body."""
    constants: list[arith.ConstantOp] = field(default_factory=list)
    """The constants that are numbers, both from outside and in the body."""
    numbers: list[Hashable] = field(default_factory=list)
    """The numbers of `constants`, encoded so that equal numbers compare equal."""
    is_infallible: bool = True

    @property
    def payloads(self) -> list[SSAValue]:
        """The results of the awaits, in the order of `awaited`."""
        return [result for result in self.awaited.values() if result is not None]

    def read_await(self, op: AwaitOp, numbers: dict[SSAValue, int]) -> bool:
        """Return whether the task can do this await before its body starts."""
        awaited = op.operand
        if awaited in numbers or any(map(is_async, op.results)):
            return False
        if awaited not in self.awaited:
            self.awaited[awaited] = op.result
            self.awaited_at.append(op.location)
            self.key += (AwaitOp, awaited.type)
        for result in op.results:
            # A second await of the same object has the same result as the first one.
            first = self.awaited[awaited]
            assert first is not None
            numbers[result] = numbers.setdefault(first, len(numbers))
        return True


def _quiet_functions(module: ModuleOp) -> set[str]:
    """Return the plain functions that never involve tasks, not even through their callees."""
    functions = {
        op.sym_name.data: operations_in(op)
        for op in module.body.block.ops
        if isinstance(op, FuncOp)
    }

    def is_loud(op: Operation) -> bool:
        is_unknown = type(op) is CallOp and op.callee.root_reference.data not in functions
        return is_unknown or op.name.startswith("async.")

    return functions.keys() - functions_with(functions, is_loud)


def _only_group(task: ExecuteOp) -> SSAValue | None:
    """Return the group to which the next operation adds the task, or None.

    The result is None if the task's token has another use.
    """
    add = task.next_op
    if (
        type(add) is not AddToGroupOp
        or len(task.results) != 1
        or add.results[0].first_use is not None
    ):
        return None
    token, group = add._operands
    return group if token is task.results[0] and token.has_one_use() else None
