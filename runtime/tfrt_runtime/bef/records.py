"""What a BEF file says, as plain values: the reader makes them, the writer takes them.

Registers count from 0, the function's arguments first, then results in program order.  Kernels
count from 1 in `used_by` and friends: kernel 0 is the pseudo kernel, which is not in
`BefFunction.kernels` (so `kernels[i]` is number `i + 1`); its lists of users are `entry_users` and
`argument_users`.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from tfrt_runtime.bef.encoding import FunctionKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class BefKernel(NamedTuple):
    """One call of a kernel.  A named tuple, as a file may hold hundreds of thousands.

    `used_by` has, per result, the numbers of the kernels that use it, one entry per use; a use by
    the function's return is not among them.  `attributes` are offsets into the attributes section,
    `functions` indexes of `BefModule.functions`, `location` an offset into the locations.
    `operands_to_wait` counts the operands that must be available before the kernel may run: all of
    a strict kernel's, one of a non-strict kernel's.
    """

    name: str
    location: int
    arguments: tuple[int, ...]
    attributes: tuple[int, ...]
    functions: tuple[int, ...]
    results: tuple[int, ...]
    used_by: tuple[tuple[int, ...], ...]
    operands_to_wait: int
    is_nonstrict: bool = False


kernel_of: Callable[[tuple[object, ...]], BefKernel] = partial(tuple.__new__, BefKernel)
"""The kernel with these nine fields, in half the time that it takes to call the class."""

Numbers = tuple[int, ...]
T = TypeVar("T")


class Compared(Sequence[T]):
    """A sequence that is equal to any other of the same items."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


class Later(Compared[T]):
    """What is worked out when it is looked at."""

    def __init__(self, find: Callable[[], Sequence[T]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> Sequence[T]:
        return self._find()

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._found[index]


class Repeated(Compared[T]):
    """A long sequence of few values: `numbers` has the place in `values` of each entry."""

    def __init__(
        self, values: Sequence[T], numbers: npt.NDArray[np.integer[Any]] | array[int]
    ) -> None:
        self.values = values
        self.numbers = numbers

    def changed(self, changes: Mapping[int, T]) -> Repeated[T]:
        """The same, but for the entries that `changes` has."""
        values, numbers = list(self.values), copy(self.numbers)
        places: dict[T, int] = {}
        for index, value in changes.items():
            numbers[index] = place = places.setdefault(value, len(values))
            if place == len(values):
                values.append(value)
        return Repeated(values, numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Repeated[T]: ...

    def __getitem__(self, index: int | slice) -> T | Repeated[T]:
        if isinstance(index, slice):
            return Repeated(self.values, self.numbers[index])
        return self.values[int(self.numbers[index])]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self.values.__getitem__, self.numbers.tolist())


class KernelsByColumn(Compared[BefKernel]):
    """The kernels of a large function, whose records are made when they are looked at (`columns`)."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The name of each."""

    @property
    @abstractmethod
    def first_of_names(self) -> dict[str, int]:
        """The first kernel of each name, in their order."""

    @abstractmethod
    def location(self, index: int) -> int:
        """The location of one of them, of which no record is made."""

    @property
    @abstractmethod
    def attribute_counts(self) -> Sequence[int]:
        """How many attributes each has."""

    @property
    @abstractmethod
    def callees(self) -> set[int]:
        """The functions that they name."""


@dataclass(frozen=True, slots=True)
class BefFunction:
    """A function or, with the name "", a region of a kernel.  A native one has no body.

    `use_counts` counts, per register, uses as an operand and in the return.  `entry_users` are the
    kernels without operands, `argument_users` the users of each argument.  `streams` has the stream of
    the function's entry, then that of each kernel, () if all are 0; only files need it.
    `attribute_names` (per kernel) and `register_types` come from optional sections.
    """

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: int = 0
    register_count: int = 0
    use_counts: Sequence[int] = ()
    kernels: tuple[BefKernel, ...] | KernelsByColumn = ()
    entry_users: tuple[int, ...] = ()
    argument_users: Sequence[Numbers] = ()
    streams: Sequence[int] = ()
    result_registers: tuple[int, ...] = ()
    register_types: Sequence[str] | None = None
    attribute_names: Sequence[tuple[str, ...]] | None = None

    @property
    def kernel_names(self) -> Sequence[str]:
        """The name of each kernel."""
        kernels = self.kernels
        if isinstance(kernels, KernelsByColumn):
            return kernels.names
        return [kernel.name for kernel in kernels]

    @property
    def first_of_names(self) -> dict[str, int]:
        """The first kernel of each name, in their order."""
        kernels = self.kernels
        if isinstance(kernels, KernelsByColumn):
            return kernels.first_of_names
        firsts: dict[str, int] = {}
        for number, kernel in enumerate(kernels):
            firsts.setdefault(kernel.name, number)
        return firsts

    @property
    def attribute_counts(self) -> Sequence[int]:
        """How many attributes each kernel has."""
        kernels = self.kernels
        if isinstance(kernels, KernelsByColumn):
            return kernels.attribute_counts
        return [len(kernel.attributes) for kernel in kernels]

    @property
    def distinct_attribute_names(self) -> Sequence[tuple[str, ...]]:
        """The lists of `attribute_names`; those of large functions once each."""
        names = self.attribute_names or ()
        return names.values if isinstance(names, Repeated) else names

    @property
    def callees(self) -> set[int]:
        """The functions that kernels name."""
        kernels = self.kernels
        if isinstance(kernels, KernelsByColumn):
            return kernels.callees
        return {index for kernel in kernels for index in kernel.functions}

    def at(self, location: int, kernels: tuple[BefKernel, ...]) -> BefFunction:
        """The same function in another place, with its kernels there."""
        return BefFunction(
            self.kind,
            self.name,
            self.argument_types,
            self.result_types,
            location,
            self.register_count,
            self.use_counts,
            kernels,
            self.entry_users,
            self.argument_users,
            self.streams,
            self.result_registers,
            self.register_types,
            self.attribute_names,
        )


@dataclass(frozen=True, slots=True)
class BefModule:
    """A whole file.  `attributes`, `location_strings` and `locations` are sections as they stand.

    `attributes_alignment` is what the attributes need.  `attribute_types` maps offsets in
    `attributes` to kinds (`DType`, `AttributeKind`, array kinds), in the order of the file; None
    when the file has no such section.  `unused_strings` are in the file, but nothing refers to them.
    `compiled` is the text of functions that become machine code, "" where there are none.
    """

    functions: tuple[BefFunction, ...]
    kernel_names: tuple[str, ...]
    type_names: tuple[str, ...]
    attributes: bytes | memoryview
    attributes_alignment: int = 1
    location_strings: bytes = b""
    locations: bytes = b""
    attribute_types: Mapping[int, int] | None = None
    unused_strings: tuple[str, ...] = ()
    compiled: str = ""

    def used_strings(self) -> set[str]:
        """The names of types, kernels, functions and attributes."""
        names = {*self.type_names, *self.kernel_names}
        for function in self.functions:
            names.add(function.name)
            names.update(chain.from_iterable(function.distinct_attribute_names))
        return names
