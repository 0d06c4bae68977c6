"""Sync code with several kernels in one instruction, where the values between them are not wanted.

    c = a + b; e = c + d            becomes  ADD_2 e, a, b, d
    c = a * b; e = c + d            becomes  MULTIPLY_ADD e, a, b, d
    c = a - 1, with a constant      becomes  ADD_NUMBER c, a, -1
    c = ...; e = c - d              becomes  c = ...; SUBTRACT_LAST e, c, d
    c = a; jump to: return c        becomes  return a

Each value is still computed as the program says; only dispatch, stores and loads are saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tfrt_runtime.executor.sync.sync_code import LABEL, Instruction, Label, Register, final
from tfrt_runtime.native.sync import sync_layouts as ops

CHAINS = {8: ops.ADD_8, 4: ops.ADD_4, 2: ops.ADD_2, 1: ops.ADD}
PAIRS = {
    (ops.MULTIPLY, ops.MULTIPLY): ops.MULTIPLY_2,
    (ops.MULTIPLY, ops.ADD): ops.MULTIPLY_ADD,
    (ops.ADD, ops.MULTIPLY): ops.ADD_MULTIPLY,
}


def fuse(code: Sequence[Instruction]) -> list[Instruction]:
    """The same code with fewer instructions, which wait less for each other."""
    return with_last(return_early(_Fusion(code).fused()))


class _Fusion:
    def __init__(self, code: Sequence[Instruction]) -> None:
        self._code = code
        self._reads: Counter[Register] = Counter()
        self._writes: Counter[Register] = Counter()
        for instruction in code:
            instruction.reads = [final(register) for register in instruction.reads]
            instruction.writes = [final(register) for register in instruction.writes]
            self._reads.update(instruction.reads)
            self._writes.update(instruction.writes)
        self._constants: dict[tuple[int, int], Register] = {}
        for instruction in code:
            if instruction.operation == ops.SUBTRACT:
                self._turn_around(instruction)

    def _turn_around(self, instruction: Instruction) -> None:
        """Add the negative of a constant in the place of subtracting it."""
        first, second = instruction.reads
        if second.constant is None or second.is_boxed:
            return
        number = (-second.constant + 2**63) % 2**64 - 2**63
        key = (second.type, number)
        negative = self._constants.setdefault(key, Register(second.type, constant=number))
        instruction.operation = ops.ADD
        instruction.reads = [first, negative]

    def fused(self) -> list[Instruction]:
        made: list[Instruction] = []
        position = 0
        while position < len(self._code):
            instruction = self._code[position]
            count = 1
            if instruction.operation == ops.ADD:
                count = self._chain_length(position)
            if count > 1:
                made += self._chain(position, count)
            elif (pair := self._pair(position)) is not None:
                made.append(pair)
                count = 2
            elif not is_idle(instruction):
                made.append(with_number(instruction))
            position += count
        return made

    def _feeds_only(self, position: int) -> bool:
        """Whether the one result of an instruction is read by the next one, once, and nowhere else."""
        if position + 1 >= len(self._code):
            return False
        [register] = self._code[position].writes
        return (
            self._reads[register] == 1
            and self._writes[register] == 1
            and register in self._code[position + 1].reads
        )

    def _chain_length(self, position: int) -> int:
        count = 1
        while self._feeds_only(position + count - 1) and (
            self._code[position + count].operation == ops.ADD
        ):
            count += 1
        return count

    def _chain(self, position: int, count: int) -> list[Instruction]:
        made = []
        last = position + count
        while position < last:
            size = next(size for size in CHAINS if size <= last - position)
            reads = list(self._code[position].reads)
            for step in range(position + 1, position + size):
                reads.append(self._other(step))
            made.append(Instruction(CHAINS[size], self._code[position + size - 1].writes, reads))
            position += size
        return made

    def _other(self, position: int) -> Register:
        """What an instruction reads beside the result of the one before."""
        [before] = self._code[position - 1].writes
        first, second = self._code[position].reads
        return second if first is before else first

    def _pair(self, position: int) -> Instruction | None:
        instruction = self._code[position]
        if instruction.operation not in (ops.ADD, ops.MULTIPLY) or not self._feeds_only(position):
            return None
        following = self._code[position + 1]
        operation = PAIRS.get((instruction.operation, following.operation))
        if operation is None:
            return None
        reads = [*instruction.reads, self._other(position + 1)]
        return Instruction(operation, following.writes, reads)


def with_number(instruction: Instruction) -> Instruction:
    """An addition of a constant that is small enough, with the constant in the instruction."""
    if instruction.operation != ops.ADD:
        return instruction
    first, second = instruction.reads
    if second.constant is None:
        first, second = second, first
    number = second.constant
    if number is None or second.is_boxed or not -(2**31) <= number < 2**31:
        return instruction
    return Instruction(ops.ADD_NUMBER, instruction.writes, [first], number)


def is_idle(instruction: Instruction) -> bool:
    """Whether an instruction moves a value to where it is."""
    return instruction.operation == ops.MOVE and instruction.reads == instruction.writes


def return_early(code: Sequence[Instruction]) -> list[Instruction]:
    """Return where a branch ends, in the place of going to where all branches return."""
    returns: dict[Label, Instruction] = {}
    for place, following in pairwise(code):
        if place.operation == LABEL and following.operation == ops.RETURN:
            returns[place.labels[0]] = following
    made: list[Instruction] = []
    for instruction in code:
        if instruction.operation == ops.JUMP and instruction.labels[0] in returns:
            instruction = Instruction(ops.RETURN, reads=list(returns[instruction.labels[0]].reads))
        if instruction.operation == ops.RETURN:
            while made and made[-1].operation == ops.MOVE:  # to a frame that is about to vanish
                moved = made.pop()
                instruction.reads = [
                    moved.reads[0] if register is moved.writes[0] else register
                    for register in instruction.reads
                ]
        made.append(instruction)
    return made


LAST = {
    ops.ADD: ops.ADD_LAST,
    ops.SUBTRACT: ops.SUBTRACT_LAST,
    ops.MULTIPLY: ops.MULTIPLY_LAST,
    ops.ADD_NUMBER: ops.ADD_NUMBER_LAST,
    ops.ADD_2: ops.ADD_2_LAST,
    ops.ADD_4: ops.ADD_4_LAST,
    ops.ADD_8: ops.ADD_8_LAST,
    ops.MULTIPLY_2: ops.MULTIPLY_2_LAST,
    ops.MULTIPLY_ADD: ops.MULTIPLY_ADD_LAST,
    ops.ADD_MULTIPLY: ops.ADD_MULTIPLY_LAST,
}
"""Operations that compute a value, and those that begin with the latest."""

COMMUTATIVE = frozenset(LAST) - {ops.SUBTRACT, ops.ADD_NUMBER}
"""Operations whose first two operands may change places."""


def with_last(code: list[Instruction]) -> list[Instruction]:
    """Let instructions take the result of the one before without reading the frame."""
    computed: Register | None = None
    for instruction in code:
        operation = instruction.operation
        if operation not in LAST:
            computed = None
            continue
        reads = instruction.reads
        if operation in COMMUTATIVE and reads[1] is computed:
            reads[0], reads[1] = reads[1], reads[0]
        if reads[0] is computed:
            instruction.operation = LAST[operation]
        [computed] = instruction.writes
    return code
