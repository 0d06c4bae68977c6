"""Sync code without moves and jumps that do nothing.

c = a, where c has become a     is left out
c = a; jump to: return c        becomes  return a
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tfrt_runtime.executor.sync.sync_code import LABEL, Instruction, Label, final
from tfrt_runtime.native.sync import sync_layouts as ops


def tidied(code: Sequence[Instruction]) -> list[Instruction]:
    """The same code with registers as what they have become."""
    for instruction in code:
        instruction.reads = [final(register) for register in instruction.reads]
        instruction.writes = [final(register) for register in instruction.writes]
    return return_early(
        [one for one in code if not (one.operation == ops.MOVE and one.reads == one.writes)]
    )


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
