"""A BEF file as lists that can be changed, with random choices of what to change."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tests.fuzz.text_mutants import EDGES

from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule

Chance = random.Random
NUMBERS = [int(edge) for edge in EDGES if edge.lstrip("-").isdigit()]


class Draft:
    """A function under change."""

    def __init__(
        self, module: BefModule, function: BefFunction, names: Sequence[str], chance: Chance
    ) -> None:
        self.module, self.origin, self.names, self.chance = module, function, names, chance
        self.kernels = list(function.kernels)
        self.register_count = function.register_count
        self.results = list(function.result_registers)
        self.streams = defaultdict(int, enumerate(function.streams))
        self.changed: dict[str, object] = {}

    def register(self) -> int:
        """Return a register, usually one that exists."""
        if self.chance.random() < 0.03:
            return self.chance.choice((self.register_count, *(n for n in NUMBERS if n >= 0)))
        return self.chance.randrange(max(1, self.register_count))

    def pick(self) -> int:
        """Return the index of a kernel; -1 if there are none."""
        return self.chance.randrange(len(self.kernels)) if self.kernels else -1

    def function(self, *, repaired: bool) -> BefFunction:
        """Return the function; if `repaired`, registers are renumbered and uses recounted."""
        origin = self.origin
        if repaired:
            self._renumber()
        kernels = self.kernels
        arguments = len(self._parameters())
        highest = max((r for k in kernels for r in k.results), default=-1) + 1
        count = max(self.register_count, arguments, highest) if highest < 5000 else highest
        if count > 5000:
            count = self.register_count
        values: dict[str, object] = {
            "kernels": tuple(kernels),
            "register_count": count,
            "result_registers": tuple(self.results),
            "streams": tuple(self.streams[one] for one in range(1 + len(kernels))),
        }
        counts = origin.use_counts
        values["use_counts"] = (*counts, *(0,) * (count - len(counts)))[:count]
        if repaired:
            values |= counted(kernels, count, arguments, self.results)
        if origin.register_types is not None:
            types = (*origin.register_types, *("i32",) * count)
            values["register_types"] = types[:count]
        if origin.attribute_names is not None:
            known = [name for names in origin.attribute_names for name in names] or ["value"]
            values["attribute_names"] = tuple(
                tuple((known * len(k.attributes))[: len(k.attributes)]) for k in kernels
            )
        return replace(origin, **(values | self.changed))  # type: ignore[arg-type]

    def _parameters(self) -> tuple[str, ...]:
        """Return the types of the function's arguments, with changes."""
        types = self.changed.get("argument_types", self.origin.argument_types)
        return types  # type: ignore[return-value]

    def _renumber(self) -> None:
        """Number the registers in the order of their definitions; replace undefined ones."""
        origin, chance = self.origin, self.chance
        count = len(self._parameters())
        numbers = {register: register for register in range(count)}
        for place, kernel in enumerate(self.kernels):
            used = [numbers.get(register, -1) for register in kernel.arguments]
            arguments = [chance.randrange(count) if n < 0 else n for n in used if count or n >= 0]
            made = tuple(range(count, count + len(kernel.results)))
            numbers |= dict(zip(kernel.results, made, strict=True))
            count += len(made)
            self.kernels[place] = kernel._replace(arguments=tuple(arguments), results=made)
        returned = [numbers.get(register, -1) for register in self.results]
        self.results = [
            chance.randrange(count) if n < 0 else n for n in returned if count or n >= 0
        ]
        self.register_count = count
        words = self.changed.get("result_types", origin.result_types)
        padded = (*words, *("i32",) * len(self.results))  # type: ignore[misc]
        self.changed["result_types"] = padded[: len(self.results)]
        if (known := self.changed.get("register_types", origin.register_types)) is not None:
            types = {
                number: known[register]  # type: ignore[index]
                for register, number in numbers.items()
                if register < len(known)  # type: ignore[arg-type]
            }
            self.changed["register_types"] = tuple(types.get(n, "i32") for n in range(count))


def counted(
    kernels: Sequence[BefKernel], count: int, arguments: int, results: Sequence[int]
) -> dict[str, object]:
    """Return the users of each register, derived only from the operands."""
    users: dict[int, list[int]] = {}
    uses: dict[int, int] = {}
    for number in range(len(kernels), 0, -1):
        for register in kernels[number - 1].arguments:
            users.setdefault(register, []).append(number)
            uses[register] = uses.get(register, 0) + 1
    for register in results:
        uses[register] = uses.get(register, 0) + 1
    kernels = [
        kernel._replace(
            used_by=tuple(tuple(users.get(register, ())) for register in kernel.results),
            operands_to_wait=1 if kernel.is_nonstrict else len(kernel.arguments),
        )
        for kernel in kernels
    ]
    return {
        "kernels": tuple(kernels),
        "use_counts": tuple(uses.get(register, 0) for register in range(count)),
        "entry_users": tuple(i for i, kernel in enumerate(kernels, 1) if not kernel.arguments),
        "argument_users": tuple(tuple(users.get(i, ())) for i in range(arguments)),
    }
