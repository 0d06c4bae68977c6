"""Kernels of a large function that are called alike: of those only one is resolved and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrt_runtime.bef.encoding import MANY_KERNELS, FunctionKind
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.executor.loading.decode import Call, Constant
from tfrt_runtime.kernels.registry import Kernel, PythonKernel

if TYPE_CHECKING:
    from tfrt_runtime.bef.columns import Columns, Words


@dataclass(frozen=True)
class Alike:
    """The kernels of a function: `numbers` has one for each kernel, which those have in common that are alike.

    `firsts` has the first kernel of each number.  A Python kernel is alone: its place and its types matter.
    """

    columns: Columns
    numbers: Words
    firsts: list[int]

    def spread(
        self, calls: Sequence[Call | None], constants: dict[int, Constant]
    ) -> tuple[list[Call | None], dict[int, Constant]]:
        """The call of each kernel, from those of the first ones; each constant by its own register."""
        results = self.columns.results
        first_results = results.firsts()
        made = {
            number: constants[int(first_results[first])]
            for number, (first, call) in enumerate(zip(self.firsts, calls, strict=True))
            if call is None
        }
        numbers = self.numbers.tolist()
        registers = first_results.tolist()
        if made:
            constants = {
                register: made[number]
                for number, register in zip(numbers, registers, strict=True)
                if number in made
            }
        return [calls[number] for number in numbers], constants

    def types(
        self,
        function: BefFunction,
        wanted: Sequence[Sequence[str] | None],
        given: Sequence[Sequence[str]],
        unknown: str,
    ) -> tuple[list[str], list[int]]:
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

        types = np.zeros(function.register_count, np.int64)
        counts, starts, ids = listed([function.argument_types])
        types[: counts[0]] = ids[:-1]
        counts, starts, ids = listed(given)
        owners = numbers[columns.results.owners]
        has = columns.results.places < counts[owners]
        places = (starts[owners] + columns.results.places)[has]
        types[columns.results.numbers[has]] = ids[places]

        counts, starts, ids = listed([one or () for one in wanted])
        is_wrong = np.array([one is None for one in wanted], np.bool_)[numbers]
        is_wrong |= counts[numbers] != columns.arguments.counts
        owners = columns.arguments.owners
        asked = ~is_wrong[owners]
        owners = owners[asked]
        places = starts[numbers[owners]] + columns.arguments.places[asked]
        differs = types[columns.arguments.numbers[asked]] != ids[places]
        is_wrong[owners[differs]] = True
        names = list(texts)
        return [names[one] for one in types.tolist()], np.flatnonzero(is_wrong).tolist()


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
