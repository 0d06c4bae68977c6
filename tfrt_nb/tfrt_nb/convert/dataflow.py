"""Values as registers: arguments first, then results in program order; their definitions and uses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue


class Dataflow:
    """The registers of a block, and what its operations do with them.

    Operations count from 1, as kernels do; the last one is the return, and 0 stands for the start.

    Attributes:
        values: the value of each register.
        definers: the operation that defines each register.
        users: the operations that use each register, in program order, one entry per use, without
            the return.
        operands: the registers that each operation uses; of operation 0 none.
        results: the registers that each operation defines; of operation 0 the arguments.
        foreign: operations with operands from other regions, which have no registers here.
    """

    def __init__(self, block: Block, operations: Sequence[Operation], end: Operation) -> None:
        self.values: list[SSAValue] = []
        self.definers: list[int] = []
        self.users: list[list[int]] = []
        self.operands: list[tuple[int, ...]] = [()]
        self.results: list[tuple[int, ...]] = []
        self.foreign: list[Operation] = []
        # By identity: to hash a value the IR's way costs a call.
        self._registers: dict[int, int] = {}
        self._define(0, block.args)
        users = self.users
        for number, op in enumerate(operations, 1):
            for register in self._use(op):
                users[register].append(number)
            self._define(number, op.results)
        self._use(end)

    def _define(self, number: int, values: Sequence[SSAValue]) -> None:
        first = register = len(self.definers)
        for value in values:
            self._registers[id(value)] = register
            self.definers.append(number)
            self.users.append([])
            register += 1
        self.values += values
        self.results.append((first,) if register == first + 1 else tuple(range(first, register)))

    def _use(self, op: Operation) -> tuple[int, ...]:
        registers = self._registers
        try:
            # `op.operands` is a view that looks each of them up in the operation again.
            operands = tuple([registers[id(value)] for value in op._operands])
        except KeyError:
            self.foreign.append(op)
            operands = ()
        self.operands.append(operands)
        return operands

    def use_counts(self) -> list[int]:
        """How often each register is used, the return counting as well."""
        counts = list(map(len, self.users))
        for register in self.operands[-1]:
            counts[register] += 1
        return counts

    def used_by(self, number: int) -> tuple[tuple[int, ...], ...]:
        """The users of each result of an operation, in MLIR's order: the last one first."""
        return tuple([tuple(self.users[register][::-1]) for register in self.results[number]])

    def defining_operations(self, without: Attribute | None = None) -> list[list[int]]:
        """The operations that define the operands of each operation, not those of type `without`."""
        definers = self.definers
        if without is None:
            return [[definers[register] for register in operands] for operands in self.operands]
        kept = [value.type != without for value in self.values]
        return [
            [definers[register] for register in operands if kept[register]]
            for operands in self.operands
        ]
