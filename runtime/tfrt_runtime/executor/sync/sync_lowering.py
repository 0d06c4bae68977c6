"""From the kernels of a sync function to code for the interpreter.

Functions that a control kernel calls are put in its place, unless they are large or call
themselves: then there is a call.  An argument belongs to the code that made it; the code that makes
a boxed value drops it after its last use.

What a branch returns is moved to registers that all branches share.  The values of a loop have
registers that last through it: an iteration makes new values and moves them there at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tfrt_runtime.bef.encoding import FunctionKind
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
    jump_when,
    label,
    register_type,
)
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, NativeKernel, PythonKernel
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.sync import sync_layouts as ops

NEW_CHAIN = "scalar_kernels.new_chain"
"""The kernel that is a constant."""
FAIL = "async_kernels.fail_quietly"
MAX_INLINED_KERNELS = 64
"""A named function with more kernels is called."""
MAX_KERNELS = 1 << 14
"""Code with so many kernels calls what else it needs."""
MAX_INLINED_DEPTH = 40


@dataclass(frozen=True, slots=True)
class SyncFunction:
    """A function that sync code runs, as the loader found it.

    `calls` has None for constants, which are in `constants` by register.  The handles of the
    kernels begin with `first_handle`; `handle` is that of the function.
    """

    function: BefFunction
    kernels: Sequence[Kernel]
    calls: Sequence[Call | None]
    constants: Mapping[int, Constant]
    first_handle: int
    handle: int


def with_sync_regions(functions: Sequence[BefFunction]) -> tuple[BefFunction, ...]:
    """The same functions, but the regions in sync functions are sync: files do not say so."""
    marked = list(functions)
    pending = [function for function in functions if function.kind is FunctionKind.SYNC]
    while pending:
        for kernel in pending.pop().kernels:
            for index in kernel.functions:
                region = marked[index]
                if region.name == "" and region.kind is FunctionKind.ASYNC:
                    marked[index] = replace(region, kind=FunctionKind.SYNC)
                    pending.append(region)
    return tuple(marked)


@dataclass(frozen=True, slots=True)
class Value:
    """What a function has in one of its registers; `is_owned` if it made it."""

    register: Register
    is_owned: bool = True


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
        self._kernels = 0
        """How many kernels the code stands for."""
        self._code: list[Instruction] = []

    def lower(self, index: int) -> SyncCode:
        """The code of function `index`."""
        function = self._functions[index].function
        parameters = [Register(register_type(text)) for text in function.argument_types]
        values = self._inline(index, [Value(register, False) for register in parameters])
        types = [register_type(text) for text in function.result_types]
        place = Record(self._functions[index].first_handle)
        results = self._converted(values, types, place)
        self._emit(ops.RETURN, reads=[value.register for value in results])
        return SyncCode(parameters, types, _returning_early(self._code), self._kernels)

    def _emit(
        self,
        operation: int,
        writes: Sequence[Register] = (),
        reads: Sequence[Register] = (),
        **fields: Any,
    ) -> None:
        """Append an instruction."""
        self._code.append(Instruction(operation, writes, reads, **fields))

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
        """What a function hands to its caller: the caller owns it, or it is an argument's
        scalar.
        """
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
        return self._constant_register(payload_type, word)

    def _constant_register(self, payload_type: int, word: int) -> Register:
        """The register of a constant; it is filled before the first instruction."""
        key = (payload_type, word)
        if key not in self._constants:
            self._constants[key] = Register(payload_type, constant=word)
        return self._constants[key]

    def _define(self, scope: Scope, number: int, value: Value) -> None:
        scope.values[number] = value
        if self._watched and number not in scope.source.constants:
            place = scope.source.handle | number << 32
            self._emit(ops.LOG, reads=[value.register], number=place)
        if scope.uses[number] == 0:
            self._drop(value)

    def _drop(self, value: Value) -> None:
        if value.is_owned and value.register.is_boxed:
            self._emit(ops.DROP, writes=[value.register])

    def _owned(self, value: Value) -> Value:
        """The same boxed value with a reference of its own; scalars have none."""
        if value.is_owned or not value.register.is_boxed:
            return value
        shared = Register(at.TYPE_OBJECT)
        self._emit(ops.SHARE, [shared], [value.register])
        return Value(shared)

    def _argument_types(self, index: int) -> list[int]:
        """Payload types of the arguments of function `index`."""
        return [register_type(text) for text in self._functions[index].function.argument_types]

    def _convert(self, value: Value, wanted: int, made: Record) -> Value:
        """The value in a register of a type; the value itself stays.

        A scalar stands for a scalar of any type: the words mean what the reader takes them for.
        """
        register = value.register
        if register.is_boxed == (wanted == at.TYPE_OBJECT):
            return value
        if register.is_boxed:
            plain = Register(wanted)
            self._emit(ops.UNBOX, [plain], [register], record=made)
            return Value(plain)
        boxed = Register(at.TYPE_OBJECT)
        self._emit(ops.BOX, [boxed], [register])
        return Value(boxed)

    def _converted(
        self, values: Sequence[Value], types: Sequence[int], made: Record
    ) -> list[Value]:
        """The values in registers of these types, which take their place."""
        results = []
        for value, wanted in zip(values, types, strict=True):
            result = self._convert(value, wanted, made)
            if result is not value:
                self._drop(value)
            results.append(result)
        return results

    # Kernels

    def _kernel(self, scope: Scope, number: int, record: BefKernel) -> None:
        kernel, call = scope.source.kernels[number], scope.source.calls[number]
        assert call is not None
        self._kernels += 1
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
                self._drop(scope.values[register])

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
        values = [Value(Register(payload_type)) for payload_type in types]
        registers = [value.register for value in values]
        self._emit(ops.KERNEL, registers, [value.register for value in arguments], record=made)
        return values

    def _operation(
        self, kernel: NativeKernel, made: Record, arguments: Sequence[Value]
    ) -> list[Value] | None:
        """A kernel that is an operation of the interpreter; None if it is not."""
        if kernel.symbol == NEW_CHAIN:
            return [Value(self._constant_register(at.TYPE_CHAIN, 0), False)]
        if kernel.symbol == FAIL:
            self._emit(ops.FAIL, number=at.MESSAGE_QUIET_FAIL, record=made)
            return [Value(self._constant_register(at.TYPE_I32, 0), False)]
        operation = OPERATIONS.get(kernel.symbol)
        if operation is None:
            return None
        reads = [
            self._convert(value, wanted, made).register
            for value, wanted in zip(arguments, operation.reads, strict=False)
        ]
        writes = [Register(payload_type) for payload_type in operation.writes]
        record = made if operation.number == ops.SCALAR else None
        self._emit(operation.number, writes, reads, record=record)
        return [Value(register) for register in writes]

    # Control

    def _control(
        self, kernel: ControlKernel, call: Call, made: Record, arguments: Sequence[Value]
    ) -> list[Value]:
        name = kernel.symbol.rpartition(".")[2]
        if name == "call":
            return self._call(call.functions[0], arguments, made)
        if name == "cond":
            return self._branches(call, made, arguments)
        if name == "case":
            return self._case(call, made, arguments)
        return self._loop(call.functions[0], made, arguments, is_while=name == "while_loop")

    def _call(self, index: int, arguments: Sequence[Value], made: Record) -> list[Value]:
        """Call a function, or put it here; borrows the arguments."""
        function = self._functions[index].function
        is_small = not function.name or len(function.kernels) <= MAX_INLINED_KERNELS
        if (
            is_small
            and index not in self._stack
            and len(self._stack) < MAX_INLINED_DEPTH
            and self._kernels < MAX_KERNELS
        ):
            return self._inline(index, arguments)
        given = [
            self._convert(value, wanted, made)
            for value, wanted in zip(arguments, self._argument_types(index), strict=True)
        ]
        results = [Register(register_type(text)) for text in function.result_types]
        reads = [value.register for value in given]
        self._emit(ops.CALL, results, reads, record=made, callee=index)
        for value, argument in zip(given, arguments, strict=True):
            if value is not argument:
                self._drop(value)
        return [Value(register) for register in results]

    def _branches(self, call: Call, made: Record, arguments: Sequence[Value]) -> list[Value]:
        """`tfrt.cond` and `tfrt.if`."""
        condition = self._convert(arguments[0], at.TYPE_I1, made).register
        otherwise = Label()
        self._code.append(jump_when(condition, False, otherwise))
        return self._join(call, made, arguments[1:], [None, otherwise])

    def _case(self, call: Call, made: Record, arguments: Sequence[Value]) -> list[Value]:
        index = self._convert(arguments[0], at.TYPE_I32, made).register
        starts = [Label() for _ in call.functions]
        self._emit(ops.CASE, (), [index], number=len(starts), labels=starts, record=made)
        return self._join(call, made, arguments[1:], starts)

    def _join(
        self, call: Call, made: Record, passed: Sequence[Value], starts: Sequence[Label | None]
    ) -> list[Value]:
        """The functions that are called, one after the other; each brings its results to the
        same registers.
        """
        before, branches = self._code, []
        for index in call.functions:
            self._code = []
            branches.append((self._call(index, passed, made), self._code))
        self._code = before
        targets = []
        for alternatives in zip(*(values for values, _ in branches), strict=True):
            types = {value.register.type for value in alternatives}
            targets.append(Register(types.pop() if len(types) == 1 else at.TYPE_OBJECT))
        end = Label()
        for (values, code), start in zip(branches, starts, strict=True):
            if start is not None:
                self._code.append(label(start))
            self._code += code
            for target, value in zip(targets, values, strict=True):
                self._move(value, target)
            self._emit(ops.JUMP, labels=(end,))
        self._code[-1] = label(end)  # where the last one is anyway
        return [Value(target) for target in targets]

    def _loop(
        self, index: int, made: Record, arguments: Sequence[Value], *, is_while: bool
    ) -> list[Value]:
        """`tfrt.while` and `tfrt.repeat.i32` over function `index`, from the start values on."""
        start = self._convert(arguments[0], at.TYPE_I1 if is_while else at.TYPE_I32, made).register
        types = self._argument_types(index)
        registers = [Register(wanted) for wanted in types]
        for value, register in zip(arguments[1:], registers, strict=True):
            borrowed = Value(value.register, False)
            self._move(self._convert(borrowed, register.type, made), register)
        left, top, end = Register(at.TYPE_I32), Label(), Label()
        if is_while:
            self._code.append(jump_when(start, False, end))
        else:
            self._emit(ops.START_REPEAT, [left], [start], labels=(end,), record=made)
        self._code.append(label(top))
        before, body = self._kernels, len(self._code)
        values = self._call(index, [Value(register, False) for register in registers], made)
        values = self._converted(values, [*types, at.TYPE_I1][: len(values)], made)
        again = left
        if is_while:
            again = values.pop().register
            if again in registers:  # it is about to change
                kept = Register(at.TYPE_I1)
                self._emit(ops.MOVE, [kept], [again])
                again = kept
        self._renew(registers, values, self._code[body:], again)
        weight = self._kernels - before + 1
        if is_while:
            self._emit(ops.JUMP_IF, (), [again], number=weight, labels=(top,))
        else:
            self._emit(ops.REPEAT, [left], [left], number=weight, labels=(top,))
        self._code.append(label(end))
        return [Value(register) for register in registers]

    def _renew(
        self,
        registers: Sequence[Register],
        values: Sequence[Value],
        body: Sequence[Instruction],
        again: Register,
    ) -> None:
        """Let registers have new values, all at once: boxed ones that are owned, and scalars.

        `body` has made them and `again`; a scalar that it makes after the last use of the old one
        is made there.
        """
        scalars: dict[Register, Register] = {}
        for register, value in zip(registers, values, strict=True):
            if register.is_boxed:
                self._drop(Value(register))
                self._move(value, register)
            elif value.register is not register:
                scalars[register] = value.register
        places = _places(body, scalars, again)
        for instruction in body if places else ():
            instruction.reads = [places.get(one, one) for one in instruction.reads]
            instruction.writes = [places.get(one, one) for one in instruction.writes]
        scalars = {register: one for register, one in scalars.items() if one not in places}
        while scalars:
            free = [one for one in scalars if one not in scalars.values()]
            for register in free:  # no instruction reads the old value any more
                self._emit(ops.MOVE, [register], [scalars.pop(register)])
            if not free:
                source = next(iter(scalars.values()))
                spare = Register(source.type)
                self._emit(ops.MOVE, [spare], [source])
                scalars = {one: spare if old is source else old for one, old in scalars.items()}

    def _move(self, value: Value, target: Register) -> None:
        """Copy a scalar to `target`, or hand a boxed value to it, which is empty."""
        if not target.is_boxed:
            self._emit(ops.MOVE, [target], [value.register])
        elif not value.register.is_boxed:
            self._emit(ops.BOX, [target], [value.register])
        elif value.is_owned:
            self._emit(ops.HAND_ON, [target, value.register], [value.register])
        else:
            self._emit(ops.SHARE, [target], [value.register])


def _places(
    body: Sequence[Instruction], scalars: Mapping[Register, Register], again: Register
) -> dict[Register, Register]:
    """Of the new values of registers those that can be made right there, each with its register."""
    if any(one.operation in (ops.JUMP_IF, ops.REPEAT) for one in body):
        return {}  # loops: what comes later in the code may run before
    first_write: dict[Register, int] = {}
    last_read: dict[Register, int] = {}
    for position, instruction in enumerate(body):
        for register in instruction.writes:
            first_write.setdefault(register, position)
        for register in instruction.reads:
            last_read[register] = position
    returned = [*scalars.values(), again]
    return {
        source: register
        for register, source in scalars.items()
        if source in first_write
        and last_read.get(register, -1) <= first_write[source]
        and returned.count(source) == 1
        and register not in returned
        and register.type == source.type
    }


_ONE_WORD = {register_type(word) for word in SCALAR_TYPES} - {at.TYPE_OBJECT}


def _returning_early(code: Sequence[Instruction]) -> list[Instruction]:
    """The same code, which returns where a branch ends, and not where all branches meet.

    c = a; jump to: return c    becomes    return a

    Two instructions less in each call of a recursive function: half of its time.
    """
    returned = {
        place.labels[0]: following.reads
        for place, following in pairwise(code)
        if place.operation == LABEL and following.operation == ops.RETURN
    }
    made: list[Instruction] = []
    for instruction in code:
        meets = instruction.operation in (ops.JUMP, LABEL) and instruction.labels[0] in returned
        if not meets or (instruction.operation == LABEL and made[-1].operation != ops.MOVE):
            made.append(instruction)
            continue
        reads = list(returned[instruction.labels[0]])
        while made and made[-1].operation == ops.MOVE:  # to a frame that is about to vanish
            moved = made.pop()
            reads = [moved.reads[0] if one is moved.writes[0] else one for one in reads]
        made.append(Instruction(ops.RETURN, reads=reads))
        if instruction.operation == LABEL:
            made.append(instruction)
    return made


def _result_types(kernel: Kernel, record: BefKernel, function: BefFunction) -> list[int]:
    """The types of registers for what a kernel returns that is called; where they are not known,
    it is boxed.
    """
    count = len(record.results)
    if isinstance(kernel, NativeKernel) and len(kernel.gives) == count:
        return [register_type(word) for word in kernel.gives]
    if isinstance(kernel, PythonKernel) and kernel.results is not None:
        return [register_type(word) for word in kernel.results]
    if isinstance(kernel, PythonKernel) and function.register_types is not None:
        words = [function.register_types[register] for register in record.results]
        return [register_type(word) if word in SCALAR_TYPES else at.TYPE_OBJECT for word in words]
    return [at.TYPE_OBJECT] * count
