"""Kernels of a large function that are called alike: of those only one is resolved and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrt_runtime.bef.encoding import MANY_KERNELS, FunctionKind
from tfrt_runtime.bef.records import BefFunction, Repeated
from tfrt_runtime.executor.loading.decode import Call, Constant
from tfrt_runtime.kernels.registry import Kernel, PythonKernel

if TYPE_CHECKING:
    from tfrt_runtime.bef.columns import Column, Columns, Words


@dataclass(frozen=True)
class Alike:
    """The kernels of a function: `numbers` has one for each kernel, which those have in common that are alike.

    `firsts` has the first kernel of each number.  A Python kernel is alone: its place and its types matter.
    """

    columns: Columns
    numbers: Column
    firsts: list[int]

    def spread(
        self, calls: Sequence[Call | None], constants: dict[int, Constant]
    ) -> tuple[Repeated[Call | None], dict[int, Constant]]:
        """The call of each kernel, from those of the first ones; each constant by its own register."""
        import numpy as np

        from tfrt_runtime.bef.columns import starts_of

        columns = self.columns
        is_constant = np.array([call is None for call in calls], np.bool_)
        made = np.flatnonzero(is_constant[self.numbers])
        registers = columns.first_result + starts_of(columns.result_counts)
        own = [
            constants[int(registers[first])] if call is None else None
            for first, call in zip(self.firsts, calls, strict=True)
        ]
        numbers = self.numbers[made].tolist()
        pairs = zip(registers[made].tolist(), numbers, strict=True)
        spread = {
            register: constant
            for register, number in pairs
            if (constant := own[number]) is not None
        }
        return Repeated(list(calls), self.numbers), spread

    def types(
        self,
        function: BefFunction,
        wanted: Sequence[Sequence[str] | None],
        given: Sequence[Sequence[str]],
        unknown: str,
    ) -> tuple[Repeated[str], list[int]]:
        """The type of each register, and the kernels that do not get what they want.

        `wanted` (None: it is not always the same) and `given` are by number; `unknown` is the type of a
        register that is not given one.
        """
        import numpy as np

        texts: dict[str, int] = {unknown: 0}
        columns, numbers = self.columns, self.numbers

        def listed(lists: Sequence[Sequence[str]]) -> tuple[Words, Words, Words]:
            """The length and the start of each list, and the numbers of the texts in all of them."""
            counts = np.array([len(one) for one in lists], np.int64)
            ids = [texts.setdefault(text, len(texts)) for one in lists for text in one]
            return counts, np.cumsum(counts) - counts, np.array([*ids, 0], np.int64)

        types = np.zeros(function.register_count, np.int32)
        counts, starts, ids = listed([function.argument_types])
        types[: counts[0]] = ids[:-1]
        counts, starts, ids = listed(given)
        for piece in columns.pieces():
            results = piece.results
            owners = numbers[piece.first : piece.end][results.owners]
            has = results.places < counts[owners]
            places = (starts[owners] + results.places)[has]
            types[results.numbers[has]] = ids[places]

        counts, starts, ids = listed([one or () for one in wanted])
        is_unclear = np.array([one is None for one in wanted], np.bool_)
        in_doubt: list[int] = []
        for piece in columns.pieces():
            arguments, own = piece.arguments, numbers[piece.first : piece.end]
            is_wrong = is_unclear[own] | (counts[own] != arguments.counts)
            asked = ~is_wrong[arguments.owners]
            owners = arguments.owners[asked]
            places = starts[own[owners]] + arguments.places[asked]
            differs = types[arguments.numbers[asked]] != ids[places]
            is_wrong[owners[differs]] = True
            in_doubt += (piece.first + np.flatnonzero(is_wrong)).tolist()
        return Repeated(list(texts), types), in_doubt


def find_alike(function: BefFunction, used: Mapping[str, Kernel]) -> Alike | None:
    """The kernels of a large function that are alike; None for one that is small, sync, or not strict throughout.

    `used` are its kernels by name.
    """
    kernels = function.kernels
    if function.kind is not FunctionKind.ASYNC or len(kernels) < MANY_KERNELS:
        return None
    if isinstance(kernels, tuple) and any(kernel.is_nonstrict for kernel in kernels):
        return None
    # Imported here: small programs do not need NumPy, and to load it takes as long as they do.
    from tfrt_runtime.bef.columns import columns_of

    columns = columns_of(function)
    is_alone = [isinstance(used.get(name), PythonKernel) for name in columns.names]
    numbers, firsts = columns.alike(is_alone)
    return Alike(columns, numbers, firsts.tolist())
