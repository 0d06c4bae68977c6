"""Places in the frame for the registers of sync code: each word is used again as soon as it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfrt_runtime.executor.sync.sync_code import LABEL, Instruction, Label, Register
from tfrt_runtime.native.sync.sync_layouts import FRAME_REGISTERS


@dataclass(frozen=True, slots=True)
class Frame:
    """Where registers are, as byte offsets in a frame.

    Behind the arguments come `boxes` boxed registers, then the `constants`, then all others.
    """

    places: Mapping[Register, int]
    boxes: int
    constants: Sequence[Register]
    size: int


def allocate(parameters: Sequence[Register], code: Sequence[Instruction]) -> Frame:
    """Places for all registers of `code`."""
    fixed = set(parameters)
    constants = list(
        dict.fromkeys(
            register
            for instruction in code
            for register in instruction.reads
            if register.constant is not None
        )
    )
    fixed.update(constants)
    lifetimes = _lifetimes(code, fixed)
    boxed: dict[Register, int] = {}
    plain: dict[Register, int] = {}
    for is_boxed, numbers in ((True, boxed), (False, plain)):
        _number(code, lifetimes, is_boxed, numbers)
    boxes = 1 + max(boxed.values(), default=-1)
    words = [*parameters]
    first_box = len(words)
    first_constant = first_box + boxes
    first_plain = first_constant + len(constants)
    indexes = {register: index for index, register in enumerate(parameters)}
    indexes |= {register: first_box + number for register, number in boxed.items()}
    indexes |= {register: first_constant + i for i, register in enumerate(constants)}
    indexes |= {register: first_plain + number for register, number in plain.items()}
    count = first_plain + 1 + max(plain.values(), default=-1)
    places = {register: FRAME_REGISTERS + 8 * index for register, index in indexes.items()}
    return Frame(places, boxes, constants, FRAME_REGISTERS + 8 * count)


def _lifetimes(
    code: Sequence[Instruction], fixed: set[Register]
) -> dict[Register, tuple[int, int]]:
    """The first and the last instruction of each register.

    What is made before a loop and used in it lasts until the loop ends.
    """
    first: dict[Register, int] = {}
    last: dict[Register, int] = {}
    labels: dict[Label, int] = {}
    for position, instruction in enumerate(code):
        for register in (*instruction.reads, *instruction.writes):
            if register not in fixed:
                first.setdefault(register, position)
                last[register] = position
        if instruction.operation == LABEL:
            labels[instruction.labels[0]] = position
        for target in instruction.labels:
            if labels.get(target, position) < position:
                _outlive(code, labels[target], position, first, last)
    return {register: (position, last[register]) for register, position in first.items()}


def _outlive(
    code: Sequence[Instruction],
    start: int,
    end: int,
    first: Mapping[Register, int],
    last: dict[Register, int],
) -> None:
    """The code from `start` to `end` is a loop."""
    for position in range(start, end + 1):
        for register in (*code[position].reads, *code[position].writes):
            if first.get(register, start) < start:
                last[register] = max(last[register], end)


def _number(
    code: Sequence[Instruction],
    lifetimes: Mapping[Register, tuple[int, int]],
    is_boxed: bool,
    numbers: dict[Register, int],
) -> None:
    """Number the registers of one kind from 0 on.

    A plain register may take the place of one that the same instruction reads last: all operations
    read before they write.  A boxed one may not.
    """
    free: list[int] = []
    count = 0
    for position, instruction in enumerate(code):
        touched = [
            register
            for register in dict.fromkeys((*instruction.reads, *instruction.writes))
            if register in lifetimes and register.is_boxed == is_boxed
        ]
        ended = [register for register in touched if lifetimes[register][1] == position]
        if not is_boxed:
            free += [numbers[register] for register in ended if register in numbers]
        for register in touched:
            if register not in numbers:
                if not free:
                    free.append(count)
                    count += 1
                numbers[register] = free.pop()
                if not is_boxed and register in ended:
                    free.append(numbers[register])
        if is_boxed:
            free += [numbers[register] for register in ended]
