"""Loops in sync code: `tfrt.repeat.i32` and `tfrt.while`.

The loop values have registers that last through the loop.  An iteration makes new values and moves
them there at its end; a scalar that is made after the last use of the old one is made there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tfrt_runtime.executor.sync.sync_code import (
    LABEL,
    Instruction,
    Label,
    Record,
    Register,
    final,
    jump_when,
    label,
)
from tfrt_runtime.native.layouts import TYPE_I1, TYPE_I32
from tfrt_runtime.native.sync import sync_layouts as ops


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
