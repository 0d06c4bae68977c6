"""From the kernels of a sync function to code for the interpreter.

Functions that a control kernel calls are put in its place, unless they are large or call themselves:
then there is a call.  An argument belongs to the code that made it; the code that makes a boxed value
drops it after its last use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tfrt_runtime.bef.records import BefFunction, BefKernel
from tfrt_runtime.executor.loading.decode import Call, Constant
from tfrt_runtime.executor.sync.sync_code import (
    LABEL,
    OPERATIONS,
    Instruction,
    Label,
    Record,
    Register,
    SyncCode,
    final,
    jump,
    jump_when,
    label,
    register_type,
)
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, NativeKernel, PythonKernel
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.layouts import TYPE_I1, TYPE_I32
from tfrt_runtime.native.sync import sync_layouts as ops
from tfrt_runtime.scalars import wrapped

MAX_INLINED_KERNELS = 64
"""A named function with more kernels is called."""
MAX_KERNELS = 1 << 14
"""Code with so many kernels calls what else it needs."""
MAX_INLINED_DEPTH = 40


@dataclass(frozen=True, slots=True)
class SyncFunction:
    """A function that sync code runs, as the loader found it.

    `calls` has None for constants, which are in `constants` by register.  The handles of the kernels begin
    with `first_handle`; `handle` is that of the function.
    """

    function: BefFunction
    kernels: Sequence[Kernel]
    calls: Sequence[Call | None]
    constants: Mapping[int, Constant]
    first_handle: int
    handle: int


@dataclass(slots=True)
class Scope:
    """A function while its kernels become code."""

    source: SyncFunction
    uses: Counter[int]
    """Per register: uses that are still to come."""
    values: dict[int, Value] = field(default_factory=dict)


class Lowering:
    """Makes the code of one function."""

    def __init__(
        self,
        functions: Mapping[int, SyncFunction] | Sequence[SyncFunction],
        box_constant: Callable[[Constant], int],
        watched: bool = False,
    ) -> None:
        """
        Args:
            functions: what may be called, by index.
            box_constant: puts an AsyncValue for a constant into the arena; its offset.
            watched: a run may log each value, so none may be left out.
        """
        self._functions = functions
        self._box_constant = box_constant
        self._watched = watched
        self._constants: dict[tuple[int, int], Register] = {}
        self._stack: list[int] = []
        self.kernels = 0
        """How many kernels the code stands for."""
        self.code: list[Instruction] = []

    def lower(self, index: int) -> SyncCode:
        """The code of function `index`."""
        function = self._functions[index].function
        parameters = [Register(register_type(text)) for text in function.argument_types]
        values = self._inline(index, [Value(register, False) for register in parameters])
        types = [register_type(text) for text in function.result_types]
        place = Record(self._functions[index].first_handle)
        results = []
        for value, wanted in zip(values, types, strict=True):
            result = self.convert(value, wanted, place)
            if result is not value:
                self.drop(value)
            results.append(result.register)
        self.emit(ops.RETURN, reads=results)
        return SyncCode(parameters, types, self.code, self.kernels)

    def emit(
        self,
        operation: int,
        writes: Sequence[Register] = (),
        reads: Sequence[Register] = (),
        number: int = 0,
        record: Record | None = None,
    ) -> None:
        """Append an instruction."""
        self.code.append(Instruction(operation, list(writes), list(reads), number, (), record))

    # Functions

    def _inline(self, index: int, arguments: Sequence[Value]) -> list[Value]:
        """The code of a function on arguments of the caller; its results."""
        source = self._functions[index]
        function = source.function
        uses: Counter[int] = Counter(function.result_registers)
        for kernel in function.kernels:
            uses.update(kernel.arguments)
        scope = Scope(source, uses)
        for register, constant in source.constants.items():
            scope.values[register] = Value(self._constant(constant), False)
        self._stack.append(index)
        for number, argument in enumerate(arguments):
            self._define(scope, number, Value(argument.register, False))
        for number, kernel in enumerate(function.kernels):
            if source.calls[number] is not None:
                self._kernel(scope, number, kernel)
        self._stack.pop()
        return self._results(scope)

    def _results(self, scope: Scope) -> list[Value]:
        """What a function hands to its caller: the caller owns it, or it is an argument's scalar."""
        results: list[Value] = []
        for register in scope.source.function.result_registers:
            value = scope.values[register]
            if value.register.is_boxed:
                is_again = any(value.register is other.register for other in results)
                value = self._owned(Value(value.register, value.is_owned and not is_again))
            results.append(value)
        return results

    def _constant(self, constant: Constant) -> Register:
        wide = constant.second != 0 or constant.payload_type not in _ONE_WORD
        word = self._box_constant(constant) if wide else constant.first
        payload_type = at.TYPE_OBJECT if wide else constant.payload_type
        return self.constant(payload_type, word)

    def constant(self, payload_type: int, word: int) -> Register:
        """The register of a constant; it is filled before the first instruction."""
        key = (payload_type, word)
        if key not in self._constants:
            self._constants[key] = Register(payload_type, constant=word)
        return self._constants[key]

    def _define(self, scope: Scope, number: int, value: Value) -> None:
        scope.values[number] = value
        if self._watched and number not in scope.source.constants:
            place = scope.source.handle | number << 32
            self.emit(ops.LOG, reads=[value.register], number=place)
        if scope.uses[number] == 0:
            self.drop(value)

    def drop(self, value: Value) -> None:
        if value.is_owned and value.register.is_boxed:
            self.emit(ops.DROP, writes=[value.register])

    def _owned(self, value: Value) -> Value:
        """The same boxed value with a reference of its own; scalars have none."""
        if value.is_owned or not value.register.is_boxed:
            return value
        shared = Register(at.TYPE_OBJECT)
        self.emit(ops.SHARE, [shared], [value.register])
        return Value(shared, True)

    def convert(self, value: Value, wanted: int, made: Record) -> Value:
        """The value in a register of a type; the value itself stays.

        A scalar stands for a scalar of any type: the words mean what the reader takes them for.
        """
        register = value.register
        if register.is_boxed == (wanted == at.TYPE_OBJECT):
            return value
        if register.is_boxed:
            plain = Register(wanted)
            self.emit(ops.UNBOX, [plain], [register], record=made)
            return Value(plain, True)
        boxed = Register(at.TYPE_OBJECT)
        self.emit(ops.BOX, [boxed], [register])
        return Value(boxed, True)

    def argument_types(self, index: int) -> list[int]:
        """Payload types of the arguments of function `index`."""
        return [register_type(text) for text in self._functions[index].function.argument_types]

    # Kernels

    def _kernel(self, scope: Scope, number: int, record: BefKernel) -> None:
        kernel, call = scope.source.kernels[number], scope.source.calls[number]
        assert call is not None
        self.kernels += 1
        for register in record.arguments:
            scope.uses[register] -= 1
        arguments = [scope.values[register] for register in record.arguments]
        made = Record(scope.source.first_handle + number, call.address, call.flags, call.data)
        if isinstance(kernel, ControlKernel):
            results = self._control(kernel, call, made, arguments)
        else:
            results = self._plain(kernel, record, scope, made, arguments)
        for register, value in zip(record.results, results, strict=True):
            self._define(scope, register, value)
        for register in dict.fromkeys(record.arguments):
            if scope.uses[register] == 0:
                self.drop(scope.values[register])

    def _plain(
        self,
        kernel: Kernel,
        record: BefKernel,
        scope: Scope,
        made: Record,
        arguments: Sequence[Value],
    ) -> list[Value]:
        if isinstance(kernel, NativeKernel):
            results = self._operation(kernel, made, arguments)
            if results is not None:
                return results[: len(record.results)]
        types = _result_types(kernel, record, scope.source.function)
        values = [Value(Register(payload_type), True) for payload_type in types]
        registers = [value.register for value in values]
        self.emit(ops.KERNEL, registers, [value.register for value in arguments], 0, made)
        return values

    def _operation(
        self, kernel: NativeKernel, made: Record, arguments: Sequence[Value]
    ) -> list[Value] | None:
        """A kernel that is an operation of the interpreter, or some; None if it is not."""
        operation = OPERATIONS.get(kernel.symbol)
        if operation is not None:
            reads = [
                self.convert(value, wanted, made).register
                for value, wanted in zip(arguments, operation.reads, strict=False)
            ]
            writes = [Register(payload_type) for payload_type in operation.writes]
            record = made if operation.number == ops.SCALAR else None
            self.emit(operation.number, writes, reads, 0, record)
            return [Value(register, True) for register in writes]
        name = kernel.symbol.rpartition(".")[2]
        if name == "sum_i32":
            return [self._sum(made, arguments)]
        if name == "sum_attributes_i32":
            return [Value(self.constant(at.TYPE_I32, wrapped(sum(made.data[1:]))), False)]
        if name == "new_chain":
            return [Value(self.constant(at.TYPE_CHAIN, 0), False)]
        if name == "fail_quietly":
            self.emit(ops.FAIL, number=at.MESSAGE_QUIET_FAIL, record=made)
            return [Value(self.constant(at.TYPE_I32, 0), False)]
        if name == "share_arguments":
            return [self._copied(value) for value in arguments]
        if name == "nothing":
            return []
        return None

    def _copied(self, value: Value) -> Value:
        if value.register.is_boxed:
            return self._owned(Value(value.register, False))
        copy = Register(value.register.type)
        self.emit(ops.MOVE, [copy], [value.register])
        return Value(copy, True)

    def _sum(self, made: Record, arguments: Sequence[Value]) -> Value:
        terms = [self.convert(value, at.TYPE_I32, made) for value in arguments]
        if not terms:
            return Value(self.constant(at.TYPE_I32, 0), False)
        total = terms[0]
        for term in terms[1:]:
            sum_so_far = Register(at.TYPE_I32)
            self.emit(ops.ADD, [sum_so_far], [total.register, term.register])
            total = Value(sum_so_far, True)
        return total if len(terms) > 1 else self._copied(total)

    # Control

    def _control(
        self,
        kernel: ControlKernel,
        call: Call,
        made: Record,
        arguments: Sequence[Value],
    ) -> list[Value]:
        name = kernel.symbol.rpartition(".")[2]
        if name == "call":
            return self.call(call.functions[0], arguments, made)
        first = arguments[0]
        if name == "cond":
            return self._branches(call, made, arguments)
        if name == "case":
            return self._case(call, made, arguments)
        wanted = at.TYPE_I1 if name == "while_loop" else at.TYPE_I32
        start = self.convert(first, wanted, made).register
        loop = Loop(self, made, call.functions[0], arguments[1:])
        if name == "while_loop":
            return loop.while_it_holds(start)
        return loop.repeat(start)

    def call(self, index: int, arguments: Sequence[Value], made: Record) -> list[Value]:
        """Call a function, or put it here; borrows the arguments."""
        function = self._functions[index].function
        is_small = not function.name or len(function.kernels) <= MAX_INLINED_KERNELS
        if (
            is_small
            and index not in self._stack
            and len(self._stack) < MAX_INLINED_DEPTH
            and self.kernels < MAX_KERNELS
        ):
            return self._inline(index, arguments)
        given = [
            self.convert(value, wanted, made)
            for value, wanted in zip(arguments, self.argument_types(index), strict=True)
        ]
        results = [Register(register_type(text)) for text in function.result_types]
        reads = [value.register for value in given]
        self.code.append(Instruction(ops.CALL, results, reads, 0, (), made, index))
        for value, argument in zip(given, arguments, strict=True):
            if value is not argument:
                self.drop(value)
        return [Value(register, True) for register in results]

    def aside(self, make: Callable[[], list[Value]]) -> tuple[list[Instruction], list[Value]]:
        """What `make` returns, and the code that it appends."""
        before, self.code = self.code, []
        values = make()
        made, self.code = self.code, before
        return made, values

    def _branches(self, call: Call, made: Record, arguments: Sequence[Value]) -> list[Value]:
        """`tfrt.cond` and `tfrt.if`."""
        condition = self.convert(arguments[0], at.TYPE_I1, made).register
        start, end = Label(), Label()
        passed = arguments[1:]
        self.code.append(jump_when(condition, False, start))
        branches = [
            self.aside(lambda index=index: self.call(index, passed, made))  # type: ignore[misc]
            for index in call.functions
        ]
        return self._join(branches, [None, start], end)

    def _case(self, call: Call, made: Record, arguments: Sequence[Value]) -> list[Value]:
        index = self.convert(arguments[0], at.TYPE_I32, made).register
        starts = [Label() for _ in call.functions]
        self.code.append(Instruction(ops.CASE, [], [index], len(call.functions), starts, made))
        passed = arguments[1:]
        branches = [
            self.aside(lambda index=index: self.call(index, passed, made))  # type: ignore[misc]
            for index in call.functions
        ]
        return self._join(branches, starts, Label())

    def _join(
        self,
        branches: Sequence[tuple[list[Instruction], list[Value]]],
        starts: Sequence[Label | None],
        end: Label,
    ) -> list[Value]:
        """Put branches one after the other; each brings its results to the same registers."""
        targets = []
        for alternatives in zip(*(values for _, values in branches), strict=True):
            types = {value.register.type for value in alternatives}
            targets.append(Register(types.pop() if len(types) == 1 else at.TYPE_OBJECT))
        for position, ((code, values), start) in enumerate(zip(branches, starts, strict=True)):
            if start is not None:
                self.code.append(label(start))
            self.code += code
            for target, value in zip(targets, values, strict=True):
                self._bring(value, target, code, values)
            if position < len(branches) - 1:
                self.code.append(jump(end))
        self.code.append(label(end))
        return [Value(target, True) for target in targets]

    def _bring(
        self,
        value: Value,
        target: Register,
        code: Sequence[Instruction],
        values: Sequence[Value],
    ) -> None:
        """Let a result of a branch be in `target`."""
        register = final(value.register)
        is_made_here = any(
            final(written) is register for instruction in code for written in instruction.writes
        )
        is_alone = sum(final(other.register) is register for other in values) == 1
        if value.is_owned and is_made_here and is_alone and register.type == target.type:
            register.became = target
        else:
            self.move(value, target)

    def move(self, value: Value, target: Register) -> None:
        """Copy a scalar to `target`, or hand a boxed value to it, which is empty."""
        if not target.is_boxed:
            self.emit(ops.MOVE, [target], [value.register])
        elif not value.register.is_boxed:
            self.emit(ops.BOX, [target], [value.register])
        elif value.is_owned:
            self.emit(ops.HAND_ON, [target, value.register], [value.register])
        else:
            self.emit(ops.SHARE, [target], [value.register])


_ONE_WORD = {register_type(word) for word in SCALAR_TYPES} - {at.TYPE_OBJECT}


def _result_types(kernel: Kernel, record: BefKernel, function: BefFunction) -> list[int]:
    """The types of registers for what a kernel returns that is called."""
    if not isinstance(kernel, PythonKernel):
        return [at.TYPE_OBJECT] * len(record.results)
    if kernel.results is not None:
        return [register_type(word) for word in kernel.results]
    if function.register_types is None:
        return [at.TYPE_OBJECT] * len(record.results)
    words = [function.register_types[register] for register in record.results]
    return [register_type(word) if word in SCALAR_TYPES else at.TYPE_OBJECT for word in words]


@dataclass(frozen=True, slots=True)
class Value:
    """What a function has in one of its registers; `is_owned` if it made it."""

    register: Register
    is_owned: bool

    @property
    def borrowed(self) -> Value:
        """The same for code that must leave it in place."""
        return Value(self.register, False)


class Builder(Protocol):
    """What a loop needs of the lowering that it is part of."""

    code: list[Instruction]
    kernels: int

    def argument_types(self, index: int) -> list[int]:
        """Payload types of the arguments of function `index`."""

    def call(self, index: int, arguments: Sequence[Value], made: Record) -> list[Value]:
        """Call a function, or put it here; borrows the arguments."""

    def convert(self, value: Value, wanted: int, made: Record) -> Value:
        """The value in a register of a type; the value itself stays."""

    def drop(self, value: Value) -> None:
        """Give a boxed value up, if it is owned."""

    def move(self, value: Value, target: Register) -> None:
        """Copy a scalar to `target`, or a boxed value to `target`, which is empty."""

    def aside(self, make: Callable[[], list[Value]]) -> tuple[list[Instruction], list[Value]]:
        """What `make` returns, and the code that it appends."""


class Loop:
    """A loop over function `index`, from its start values on."""

    def __init__(
        self, builder: Builder, made: Record, index: int, arguments: Sequence[Value]
    ) -> None:
        self._builder = builder
        self._made = made
        self._index = index
        self._registers: list[Register] = []
        for value, wanted in zip(arguments, builder.argument_types(index), strict=True):
            register = Register(wanted)
            converted = builder.convert(value.borrowed, wanted, made)
            builder.move(converted, register)
            self._registers.append(register)

    def repeat(self, count: Register) -> list[Value]:
        """`tfrt.repeat.i32`"""
        builder, end, top = self._builder, Label(), Label()
        left = Register(TYPE_I32)
        builder.code += [
            Instruction(ops.START_REPEAT, [left], [count], 0, (end,), self._made),
            label(top),
        ]
        weight = self._iterate([])
        builder.code += [
            Instruction(ops.REPEAT, [left], [left], weight, (top,)),
            label(end),
        ]
        return [Value(register, True) for register in self._registers]

    def while_it_holds(self, condition: Register) -> list[Value]:
        """`tfrt.while`"""
        builder, end, top = self._builder, Label(), Label()
        builder.code += [jump_when(condition, False, end), label(top)]
        extra: list[Value] = []
        weight = self._iterate(extra)
        again = extra[0]
        back = jump_when(again.register, True, top)
        back.number = weight
        builder.code += [back, label(end)]
        return [Value(register, True) for register in self._registers]

    def _iterate(self, extra: list[Value]) -> int:
        """The body, with the new values in place at its end; puts what else it returns into `extra`.

        Returns its weight.
        """
        builder = self._builder
        before = builder.kernels
        code, values = builder.aside(self._body)
        builder.code += code
        new, more = values[: len(self._registers)], values[len(self._registers) :]
        for value in more:
            register = final(value.register)
            if register in self._registers:  # it is about to change
                kept = Register(register.type)
                builder.code.append(Instruction(ops.MOVE, [kept], [register]))
                value = Value(kept, True)
            extra.append(value)
        self._make_in_place(code, new, more)
        self._move_boxed(new)
        self._move_scalars(new)
        return builder.kernels - before + 1

    def _body(self) -> list[Value]:
        builder = self._builder
        arguments = [Value(register, False) for register in self._registers]
        values = builder.call(self._index, arguments, self._made)
        types = [register.type for register in self._registers]
        types += [TYPE_I1] * (len(values) - len(types))
        results = []
        for value, wanted in zip(values, types, strict=True):
            result = builder.convert(value, wanted, self._made)
            if result is not value:
                builder.drop(value)
            results.append(result)
        return results

    def _make_in_place(
        self, code: Sequence[Instruction], new: Sequence[Value], more: Sequence[Value]
    ) -> None:
        """Let new scalars be made in the loop's registers, where the old values are used no more."""
        written, read = _accesses(code)
        returned = [final(value.register) for value in (*new, *more)]
        for value, register in zip(new, self._registers, strict=True):
            made = final(value.register)
            place = written.get(made)
            if (
                value.is_owned
                and place is not None
                and not made.is_boxed
                and made.type == register.type
                and returned.count(made) == 1
                and register not in returned
                and read.get(register, -1) <= place
            ):
                made.became = register

    def _move_boxed(self, new: Sequence[Value]) -> None:
        for value, register in zip(new, self._registers, strict=True):
            if register.is_boxed:
                self._builder.code.append(Instruction(ops.DROP, [register]))
                self._builder.move(value, register)

    def _move_scalars(self, new: Sequence[Value]) -> None:
        """All at once: a register that is still to be read is written later."""
        pending = {
            register: source
            for value, register in zip(new, self._registers, strict=True)
            if not register.is_boxed and (source := final(value.register)) is not register
        }
        code = self._builder.code
        while pending:
            free = [register for register in pending if register not in pending.values()]
            if not free:
                register, source = next(iter(pending.items()))
                spare = Register(source.type)
                code.append(Instruction(ops.MOVE, [spare], [source]))
                pending = {
                    target: spare if old is source else old for target, old in pending.items()
                }
                continue
            for register in free:
                code.append(Instruction(ops.MOVE, [register], [pending.pop(register)]))


def _accesses(code: Sequence[Instruction]) -> tuple[dict[Register, int], dict[Register, int]]:
    """Where registers are first written, unless it is in a loop, and where they are last read."""
    places = {
        instruction.labels[0]: position
        for position, instruction in enumerate(code)
        if instruction.operation == LABEL
    }
    loops = [
        (places[instruction.labels[0]], position)
        for position, instruction in enumerate(code)
        if instruction.operation != LABEL
        and any(places.get(target, position) < position for target in instruction.labels)
    ]
    written: dict[Register, int] = {}
    read: dict[Register, int] = {}
    for position, instruction in enumerate(code):
        for register in instruction.writes:
            written.setdefault(final(register), position)
        for register in instruction.reads:
            read[final(register)] = position
    for first, last in loops:
        for register, position in list(written.items()):
            if first <= position <= last:
                del written[register]
    return written, read
