"""A BEF function as the executor wants it: records, slots and a template, in native memory.

Constants are not run: the loader makes their value once, writes it into the template, and takes the
uses off the ready counts.  What waits for nothing else then is an entry of the function.

Ready counts and users are computed from the kernels' arguments, in the order that BEF keeps (later
users first), so that a file whose lists disagree cannot make the executor wait for ever.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfrt_runtime.bef.encoding import MANY_KERNELS
from tfrt_runtime.bef.records import BefFunction, Repeated
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.native import layouts as at

_RECORD_WORDS = at.RECORD_REGISTERS // 8


@dataclass(frozen=True, slots=True)
class Constant:
    """The value of a constant: the type and the two words of its payload."""

    payload_type: int
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Call:
    """What a record says beside registers: the kernel's address, its flags and its data.

    `functions` are indexes of functions.  `strict_arguments` counts for a non-strict kernel the
    first arguments that it waits for; with 0 it waits for any one, below 0 for none.
    """

    address: int
    flags: int = 0
    strict_arguments: int = 0
    data: tuple[int, ...] = ()
    functions: tuple[int, ...] = ()
    code: int = 0
    """Offset in the arena of what its data is, in the place of `data`."""


@dataclass
class Plan:
    """The users of each register of a function; `runs` says per kernel whether it runs at all."""

    function: BefFunction
    constants: Mapping[int, Constant]
    """By register."""
    runs: Sequence[bool]

    @cached_property
    def users(self) -> list[list[int]]:
        """Per register: the indexes of the kernels that use it, later ones first, once per use."""
        users: list[list[int]] = [[] for _ in range(self.function.register_count)]
        kernels = self.function.kernels
        for index in range(len(kernels) - 1, -1, -1):
            if self.runs[index]:
                for register in kernels[index].arguments:
                    users[register].append(index)
        return users

    @cached_property
    def waits(self) -> list[int]:
        """Per kernel: uses of registers that are not constants."""
        waits = [0] * len(self.function.kernels)
        for register, users in enumerate(self.users):
            if register not in self.constants:
                for index in users:
                    waits[index] += 1
        return waits

    @cached_property
    def returns(self) -> dict[int, list[int]]:
        """The numbers of the results that return a register, for each that is returned."""
        returns: dict[int, list[int]] = {}
        for number, register in enumerate(self.function.result_registers):
            returns.setdefault(register, []).append(number)
        return returns


class FunctionWriter:
    """Writes one function into an arena."""

    def __init__(
        self,
        arena: Arena,
        plan: Plan,
        calls: Sequence[Call | None],
        first_handle: int,
    ) -> None:
        """`calls` has None for constants."""
        self._arena = arena
        self._plan = plan
        self._calls = calls
        self._handle = first_handle
        self._flag_counts = _flag_counts(calls)
        self._is_nonstrict = any(flags & at.KERNEL_NONSTRICT for flags in self._flag_counts)
        self._records: list[int] = []

    def register(self, number: int) -> int:
        """Offset of a register in an activation."""
        return at.ACTIVATION_REGISTERS + 8 * number

    def ready(self, kernel: int) -> int:
        """Offset of a ready count in an activation."""
        return at.ACTIVATION_REGISTERS + 8 * (self._plan.function.register_count + kernel)

    def write(
        self, function_offset: int, function_offsets: Sequence[int], *, shell: bool = False
    ) -> None:
        """Fill the function struct at `function_offset`, and what it points at.

        A `shell` stands for a sync function.
        """
        self._flags_of_function = at.FUNCTION_SHELL if shell else 0
        if self._is_nonstrict:
            self._flags_of_function |= at.FUNCTION_NONSTRICT
        if not self._is_nonstrict and len(self._calls) >= MANY_KERNELS:
            self._write_columns(function_offset, function_offsets)
            return
        self._records = self._reserve_records()
        slots, waits = self._write_slots(), self._initial_counts()
        self._write_records(slots, function_offsets)
        pairs = zip(self._records, waits, strict=True)
        entries = [record for record, count in pairs if record and not count]
        self._write_function(function_offset, slots, array("q", waits), entries)

    @property
    def handles(self) -> list[int]:
        """The offsets of what was written of the kernels' handles."""
        return [record + at.RECORD_HANDLE for record in self._records if record]

    def _write_columns(self, function_offset: int, function_offsets: Sequence[int]) -> None:
        """`write` of a large function."""
        # Imported here: small programs do not need NumPy, and to load it takes as long as they do.
        from tfrt_runtime.bef.columns import columns_of, repeated
        from tfrt_runtime.executor.loading.columns import Block, Head

        plan, arena = self._plan, self._arena
        function, constants = plan.function, plan.constants
        calls = repeated(self._calls)
        heads = [
            None if call is None else Head(call.address, call.flags, call.data, call.functions)
            for call in calls.values
        ]
        heads_of_each = Repeated(heads, calls.numbers)
        columns, offset, handle = columns_of(function), arena.offset, self._handle
        block = Block(function, columns, heads_of_each, constants, offset, handle, function_offsets)
        arena.add_block(block.size, block.fill)
        slots = block.slots(len(function.argument_types))
        counts = array("q", block.waits.astype("q").tobytes())
        self._write_function(function_offset, slots, counts, block.entries)

    def _reserve_records(self) -> list[int]:
        """The offset of each kernel's record, 0 for constants; in program order, side by side."""
        first = end = self._arena.offset
        records = []
        for call, kernel in zip(self._calls, self._plan.function.kernels, strict=True):
            if call is None:
                records.append(0)
                continue
            records.append(end)
            end += 8 * (_RECORD_WORDS + len(kernel.arguments) + len(kernel.results))
        self._arena.reserve((end - first) // 8)
        return records

    def _write_records(self, slots: Sequence[int], function_offsets: Sequence[int]) -> None:
        """Records, each with the table of its result slots behind it."""
        words: list[int] = []
        addresses: list[int] = []
        kernels, records = self._plan.function.kernels, self._records
        ready = self.ready(0)
        for index, call in enumerate(self._calls):
            if call is None:
                continue
            arguments, results = kernels[index].arguments, kernels[index].results
            first = len(words)
            flags = self._flags(call, len(arguments), len(results))
            table = first + _RECORD_WORDS + len(arguments)
            addresses += (first + at.RECORD_SLOTS // 8, *range(table, table + len(results)))
            data, functions, waits = self._write_data(call, arguments, function_offsets)
            there = (
                (at.RECORD_DATA, data),
                (at.RECORD_FUNCTIONS, functions),
                (at.RECORD_WAITS, waits),
            )
            addresses += [first + place // 8 for place, target in there if target]
            words += (
                call.address,
                len(arguments),
                len(results),
                flags,
                data,
                functions,
                self._handle + index,
                records[index] + 8 * (table - first),
                ready + 8 * index,
                waits,
            )
            words += [at.ACTIVATION_REGISTERS + 8 * register for register in arguments]
            words += [slots[register] for register in results]
        if words:
            self._arena.put_all(next(filter(None, records)), words, addresses)

    def _flags(self, call: Call, argument_count: int, result_count: int) -> int:
        """The flags of a call's record."""
        flags = call.flags
        if argument_count + result_count > at.FRAME_ROOM:
            flags |= at.KERNEL_WIDE
        is_small = flags == 0 and argument_count == 2 and result_count == 1
        return at.KERNEL_SMALL if is_small else flags

    def _write_data(
        self, call: Call, arguments: Sequence[int], function_offsets: Sequence[int]
    ) -> tuple[int, int, int]:
        """The offsets of the data, the functions and the waits of a record; 0 for what it has not."""
        arena = self._arena
        data = arena.add(*call.data) if call.data else call.code
        functions = waits = 0
        if call.functions:
            functions = arena.add_addresses(*[function_offsets[i] for i in call.functions])
        if call.flags & at.KERNEL_NONSTRICT:
            references = [self._references(register) for register in arguments]
            waits = arena.add(max(0, call.strict_arguments), *references)
        return data, functions, waits

    def _weights(self, register: int) -> dict[int, int]:
        """Kernels that `register` counts down: by how much, or 0 for a kernel that any one operand starts."""
        weights = {}
        for index, uses in _counted(self._plan.users[register]).items():
            call = self._calls[index]
            assert call is not None
            if not call.flags & at.KERNEL_NONSTRICT:
                weights[index] = uses
            elif call.strict_arguments == 0:
                weights[index] = 0
            elif call.strict_arguments < 0:
                continue
            elif strict := self._strict_uses(index, call, register):
                weights[index] = strict
        return weights

    def _strict_uses(self, index: int, call: Call, register: int) -> int:
        return self._plan.function.kernels[index].arguments[: call.strict_arguments].count(register)

    def _references(self, register: int) -> int:
        return len(self._plan.users[register]) + len(self._plan.returns.get(register, ()))

    def _write_slots(self) -> list[int]:
        """A slot per register that is not a constant; returns their offsets, 0 for constants."""
        start = self._arena.offset
        words: list[int] = []
        addresses: list[int] = []
        slots: list[int] = []
        plan, records, ready = self._plan, self._records, self.ready(0)
        for register, uses in enumerate(plan.users):
            if register in plan.constants:
                slots.append(0)
                continue
            returns = plan.returns.get(register, ())
            users = self._weights(register) if self._is_nonstrict else _counted(uses)
            is_special = bool(returns) or self._is_nonstrict
            first = len(words)
            slots.append(start + 8 * first)
            words += (
                at.ACTIVATION_REGISTERS + 8 * register,
                len(uses) + len(returns),
                is_special,
                len(users),
                len(returns),
            )
            for kernel, weight in users.items():
                addresses.append(len(words))
                words += (records[kernel], ready + 8 * kernel, weight)
            words += returns
        self._arena.add_mixed(words, addresses)
        return slots

    def _initial_count(self, index: int, call: Call) -> int:
        """What a kernel waits for at entry: constants are available already."""
        waits = self._plan.waits[index]
        if not call.flags & at.KERNEL_NONSTRICT:
            return waits
        arguments = self._plan.function.kernels[index].arguments
        if call.strict_arguments == 0:
            return int(bool(arguments) and waits == len(arguments))
        strict = arguments[: max(0, call.strict_arguments)]
        return sum(register not in self._plan.constants for register in strict)

    def _initial_counts(self) -> list[int]:
        """What each kernel waits for at entry; that of a constant is not read."""
        if not self._is_nonstrict:
            return self._plan.waits
        return [
            0 if call is None else self._initial_count(index, call)
            for index, call in enumerate(self._calls)
        ]

    def _write_function(
        self, offset: int, slots: Sequence[int], counts: array[int], ready: Sequence[int]
    ) -> None:
        """The function struct, whose kernels wait for so many, and those that are `ready` for nothing."""
        arena, plan, function = self._arena, self._plan, self._plan.function
        entries = arena.add_addresses(*ready)
        arguments = arena.add_addresses(*(slots[i] for i in range(len(function.argument_types))))
        values = {register: write_constant(arena, c) for register, c in plan.constants.items()}
        returned = [register for register in values if register in plan.returns]
        constant_slots = [self._constant_slot(register) for register in returned]
        constants = arena.offset
        for register, slot in zip(returned, constant_slots, strict=True):
            arena.add_addresses(slot, values[register])
        template = arena.reserve(function.register_count)
        arena.add_array(counts)
        for register, value in values.items():
            arena.put_address(template + 8 * register, value)
        size = 8 * (function.register_count + len(function.kernels))
        numbers = {
            at.FUNCTION_SIZE: at.ACTIVATION_REGISTERS + size,
            at.FUNCTION_TEMPLATE_SIZE: size,
            at.FUNCTION_KERNELS: self._flag_counts.total(),
            at.FUNCTION_ARGUMENTS: len(function.argument_types),
            at.FUNCTION_RESULTS: len(function.result_types),
            at.FUNCTION_ENTRIES: len(ready),
            at.FUNCTION_CONSTANTS: len(returned),
            at.FUNCTION_FLAGS: self._flags_of_function,
            at.FUNCTION_HEAVY: sum(n for flags, n in self._flag_counts.items() if _counts(flags)),
        }
        tables = {
            at.FUNCTION_TEMPLATE: template,
            at.FUNCTION_ARGUMENT_TABLE: arguments,
            at.FUNCTION_ENTRY_TABLE: entries,
            at.FUNCTION_CONSTANT_TABLE: constants,
        }
        for place, number in numbers.items():
            arena.put(offset + place, number)
        for place, target in tables.items():
            arena.put_address(offset + place, target)

    def _constant_slot(self, register: int) -> int:
        """A slot that brings a constant to its returns; its users do not wait for it."""
        returns = self._plan.returns[register]
        spare = self.register(register)
        return self._arena.add(spare, len(returns), 1, 0, len(returns), *returns)


def _flag_counts(calls: Sequence[Call | None]) -> Counter[int]:
    """How many calls have the same flags."""
    if not isinstance(calls, Repeated):
        return Counter([call.flags for call in calls if call is not None])
    counts: Counter[int] = Counter()
    for number, count in Counter(calls.numbers.tolist()).items():
        if (call := calls.values[number]) is not None:
            counts[call.flags] += count
    return counts


def _counts(flags: int) -> bool:
    """Whether a kernel counts by itself when it is decided (`kernel_calls.count_heavy`)."""
    return flags & (at.KERNEL_HEAVY | at.KERNEL_CONTROL) == at.KERNEL_HEAVY


def _counted(users: Sequence[int]) -> dict[int, int]:
    """How often each of `users` occurs; in the same order."""
    counts: dict[int, int] = {}
    for user in users:
        counts[user] = counts.get(user, 0) + 1
    return counts


def write_constant(arena: Arena, constant: Constant) -> int:
    """An AsyncValue that is never destroyed before its program; its offset."""
    kind = constant.payload_type << 8
    return arena.add(at.IMMORTAL, at.CONCRETE, kind, constant.first, constant.second, 0, 0, 0)
