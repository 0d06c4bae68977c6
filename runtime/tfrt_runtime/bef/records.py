"""The contents of a BEF file, as plain values: the reader makes them, the writer takes them.

Registers count from 0: the function's arguments first, then results in program order.  Kernels
count from 1 in `used_by` and similar fields: kernel 0 is the pseudo kernel, which is not in
`BefFunction.kernels` (so `kernels[i]` is number `i + 1`); its lists of users are `entry_users` and
`argument_users`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

from tfrt_runtime.bef.encoding import FunctionKind


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection within the block, on all threads.

    Such a block creates many small objects and no garbage.  Repeatedly searching them for garbage
    while their number grows takes longer than creating them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class BefKernel(NamedTuple):
    """One call of a kernel.  A named tuple, because a file may hold hundreds of thousands.

    `used_by` has, per result, the numbers of the kernels that use it, one entry per use; a use by
    the function's return is not among them.  `attributes` are offsets into the attributes section,
    `functions` are indexes of `BefModule.functions`, and `location` is an offset into the
    locations.  `operands_to_wait` counts the operands that must be available before the kernel may
    run: all operands of a strict kernel, one operand of a non-strict kernel.
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
"""Make a kernel of these nine fields, in half the time that a call of the class takes."""

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BefFunction:
    """A function or, with the name "", a region of a kernel.  A native function has no body.

    `use_counts` counts, per register, uses as an operand and in the return.  `entry_users` are the
    kernels without operands, and `argument_users` the users of each argument.  `streams` has the
    stream of the function's entry, then that of each kernel, or () if all are 0; only files need
    it.  `attribute_names` (per kernel) and `register_types` come from optional sections.
    """

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: int = 0
    register_count: int = 0
    use_counts: Sequence[int] = ()
    kernels: tuple[BefKernel, ...] = ()
    entry_users: tuple[int, ...] = ()
    argument_users: Sequence[Numbers] = ()
    streams: Sequence[int] = ()
    result_registers: tuple[int, ...] = ()
    register_types: Sequence[str] | None = None
    attribute_names: Sequence[tuple[str, ...]] | None = None

    @property
    def first_of_names(self) -> dict[str, int]:
        """Return the number of the first kernel of each name, in order of the kernels."""
        firsts: dict[str, int] = {}
        for number, kernel in enumerate(self.kernels):
            firsts.setdefault(kernel.name, number)
        return firsts

    @property
    def callees(self) -> set[int]:
        """Return the functions that kernels refer to."""
        return {index for kernel in self.kernels for index in kernel.functions}

    def at(self, location: int, kernels: tuple[BefKernel, ...]) -> BefFunction:
        """Return the same function at another location, with its kernels there."""
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
    """A whole file.  `attributes`, `location_strings`, and `locations` are unparsed sections.

    `attributes_alignment` is the alignment that the attributes need.  `attribute_types` maps
    offsets in `attributes` to kinds (`DType`, `AttributeKind`, array kinds), in the order of the
    file; it is None if the file has no such section.  `unused_strings` are in the file, but nothing
    refers to them.  `compiled` is the source text of functions that become machine code, or "" if
    there are none.
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
        """Return the names of types, kernels, functions, and attributes."""
        names = {*self.type_names, *self.kernel_names}
        for function in self.functions:
            names.add(function.name)
            names.update(chain.from_iterable(function.attribute_names or ()))
        return names
