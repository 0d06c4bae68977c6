"""Define the binary format BEF: its constants, and a file's contents as plain values.

The reader produces these values, and the writer consumes them.  The format is the last published
version of BEF, with version byte 0.

TFRT's description of the format:
https://github.com/tensorflow/runtime/blob/master/documents/binary_executable_format.md The
constants are in TFRT's `include/tfrt/bef/bef_encoding.h`.  Sections marked "ours" extend the
format.

A file consists of `MAGIC`, `VERSION`, and sections.  A section consists of an id byte, a
variable-width integer `length * 2 + is_aligned`, and `length` bytes of payload.  In an aligned
section, an alignment byte and padding precede the payload; the padding is bytes `PADDING` up to a
multiple of the alignment, counted from the start of the file.  Readers skip sections with unknown
ids.

Integers marked "VBR" have 7 bits per byte, most significant group first; the top bit is set if
another byte follows.  Everything else is little-endian.  The sections contain:

======================  ==========================================================================
STRINGS                 NUL-terminated strings, sorted bytewise; references are byte offsets
ATTRIBUTES              raw values (see `attributes`); references are byte offsets
KERNELS                 VBR count, then the VBR string offset of each kernel's name
TYPES                   VBR count, then the VBR string offset of each type's spelling
FUNCTION_INDEX          VBR count; each: kind byte, VBR offset into FUNCTIONS, VBR name, then
                        arguments and results: VBR count and VBR type indexes
FUNCTIONS               the bodies (see below); a native function has none
LOCATION_STRINGS        NUL-terminated strings in the order of first use
LOCATIONS               location records (see `locations`); references are byte offsets
ATTRIBUTE_TYPES         optional; VBR count, each VBR attribute offset and VBR attribute kind
ATTRIBUTE_NAMES         optional; VBR function count; for each function with a body the VBR kernel
                        count (pseudo kernel included), then one VBR string offset per attribute.
                        Kernels that users write in Python take attributes by these names; without
                        the section they take all or none, in alphabetical order
REGISTER_TYPES          optional; VBR function count; for each function with a body the VBR
                        register count and a VBR type index per register
NONSTRICT_KERNELS       ours, written only if a kernel is non-strict: VBR count of functions;
                        each VBR function index, VBR count, VBR kernel indexes (the pseudo kernel
                        is 0).  Readers that do not know it run those kernels strictly.
COMPILED_FUNCTIONS      ours, written only if such functions exist: UTF-8 MLIR source text of
                        functions that become machine code.  The functions among them that
                        kernels call are native functions in FUNCTION_INDEX.
======================  ==========================================================================

The body of a function has its registers, its kernels, and the users of each register.  It starts at
a multiple of 4 in the functions section:

* VBR location
* VBR register count, then a VBR use count for each register
* VBR kernel count, including the pseudo kernel
* for each kernel: VBR byte offset in the list of kernels, VBR count of operands to wait for, VBR
  stream
* a VBR register for each result of the function
* padding to a multiple of 4
* the kernels

A kernel consists of 32-bit words: code (index of the name), location, count of arguments, count of
attributes, count of functions, count of results, and a count of users for each result; then the
argument registers, attribute offsets, function indexes, result registers, and the users of each
result.

The pseudo kernel is first and does not run.  Its results are the function's arguments and the
trigger.  Kernels without operands are users of the trigger.  The trigger's register number is the
number of registers.

Rejected alternative: a general container such as Protocol Buffers or FlatBuffers, because files
must be byte-for-byte identical to the files that TFRT's tools write.

Registers are numbered from 0: first the function's arguments, then results in program order.
Kernels are numbered from 1 in `used_by` and similar fields, so `BefFunction.kernels[i]` is number
`i + 1`.  Kernel 0 is the pseudo kernel, which is not in `BefFunction.kernels`; its lists of users
are `entry_users` and `argument_users`.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import accumulate, chain, count, repeat
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple, TypeVar

MAGIC: Final = b"\x0b\xef"
VERSION: Final = 0
PADDING: Final = 0xCC

# The first kernel of every body does not run: its results are the trigger, which starts the kernels
# without operands, and the function's arguments.
PSEUDO_KERNEL_CODE: Final = 0xABABABAB
PSEUDO_KERNEL_LOCATION: Final = 0xCDCDCDCD

KERNEL_ALIGNMENT: Final = 4
KERNEL_HEADER_WORDS: Final = 6

MAX_AGGREGATES: Final = 64
"""Maximum nesting depth of an attribute.

No known program needs more than a few levels.
"""


class SectionId(IntEnum):
    """The number at the start of a section, which says what the section contains.

    A file has its sections in this order.
    """

    STRINGS = 0
    ATTRIBUTES = 1
    KERNELS = 2
    TYPES = 3
    FUNCTION_INDEX = 4
    FUNCTIONS = 5
    LOCATION_STRINGS = 6
    LOCATIONS = 7
    ATTRIBUTE_TYPES = 8
    ATTRIBUTE_NAMES = 9
    REGISTER_TYPES = 10
    NONSTRICT_KERNELS = 0x70
    COMPILED_FUNCTIONS = 0x71


class FunctionKind(IntEnum):
    """How a function runs.

    - ASYNC: the executor runs the kernels when their operands are available.
    - NATIVE: a registered native function implements the function.
    - SYNC: the executor runs the kernels in order.
    """

    ASYNC = 0
    NATIVE = 1
    SYNC = 2


class LocationKind(IntEnum):
    """The first byte of a location record, which says what kind of location follows."""

    UNKNOWN = 0
    FILE_LINE_COLUMN = 1
    NAME = 2
    CALL_SITE = 3
    FUSED = 4


class DType(IntEnum):
    """Element types, and scalar attribute kinds."""

    UI8 = 1
    UI16 = 2
    UI32 = 3
    UI64 = 4
    I1 = 5
    I8 = 6
    I16 = 7
    I32 = 8
    I64 = 9
    F32 = 10
    F64 = 11
    COMPLEX64 = 12
    COMPLEX128 = 13
    F16 = 14
    BF16 = 15
    STRING = 16
    RESOURCE = 17
    VARIANT = 18
    QUI8 = 19
    QUI16 = 20
    QI8 = 21
    QI16 = 22
    QI32 = 23


class AttributeKind(IntEnum):
    """Kinds of attributes that are not scalars.  The kind of a scalar is its `DType`.

    An array of fixed-size elements has the kind of its element with `ARRAY_FLAG` set.
    """

    UNSUPPORTED = 0
    TYPE = 25
    FUNCTION = 26
    SHAPE = 27
    DENSE = 28
    SYMBOL_REF = 29
    AGGREGATE = 30


ARRAY_FLAG: Final = 0x80
EMPTY_ARRAY: Final = ARRAY_FLAG | DType.I32


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection in the `with` block, on all threads.

    A block that reads or writes a file creates many small objects, but no garbage.  Searching the
    growing number of objects for garbage again and again would take longer than creating them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


Numbers = tuple[int, ...]
Item = TypeVar("Item")


class BefKernel(NamedTuple):
    """One call of a kernel.

    `used_by` has, for each result, the numbers of the kernels that use it, one entry per use; uses
    by the function's return are not included.  `attributes` are offsets into the attributes
    section, `functions` are indexes into `BefModule.functions`, and `location` is an offset into
    the locations.  `operands_to_wait` is the number of operands that must be available before the
    kernel may run: all of them for a strict kernel, one for a non-strict kernel.
    """

    name: str
    location: int
    arguments: Numbers
    attributes: Numbers
    functions: Numbers
    results: Numbers
    used_by: Sequence[Numbers]
    operands_to_wait: int
    is_nonstrict: bool = False


class KernelShape(NamedTuple):
    """The fields that are the same in kernels that differ only in registers and locations."""

    name: str
    attributes: Numbers
    functions: Numbers
    argument_count: int
    result_count: int
    is_nonstrict: bool = False


class Lazy(Sequence[Item]):
    """A sequence that is computed on first use."""

    def __init__(self, compute: Callable[[], Sequence[Item]]) -> None:
        self._compute = compute

    @cached_property
    def _found(self) -> tuple[Item, ...]:
        return tuple(self._compute())

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._found)

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._found == tuple(other)

    def __repr__(self) -> str:
        return repr(self._found)


_NONE = array("i")


class Kernels(Sequence[BefKernel]):
    """A function's kernels as columns, because a file may have hundreds of thousands of kernels.

    A `BefKernel` is created when it is accessed.

    `numbers` contains the number of each kernel's shape in `shapes`, which the functions of a file
    share.  `arguments` contains the argument registers of all kernels, concatenated, as half words.
    The result registers are `first` and the registers after it.
    """

    def __init__(
        self,
        shapes: Sequence[KernelShape] = (),
        numbers: array[int] = _NONE,
        arguments: array[int] = _NONE,
        locations: Sequence[int] = _NONE,
        first: int = 0,
    ) -> None:
        self.shapes, self.first = shapes, first
        self.numbers, self.arguments, self.locations = numbers, arguments, locations

    @staticmethod
    def of(kernels: Sequence[BefKernel], first: int) -> Kernels:
        """Return these kernels as columns; their first result is register `first`."""
        shapes: dict[KernelShape, int] = {}
        numbers = array("i")
        for one in kernels:
            counts = len(one.arguments), len(one.results)
            shape = KernelShape(one.name, one.attributes, one.functions, *counts, one.is_nonstrict)
            numbers.append(shapes.setdefault(shape, len(shapes)))
        arguments = array("i", chain.from_iterable(one.arguments for one in kernels))
        return Kernels(tuple(shapes), numbers, arguments, [one.location for one in kernels], first)

    def at(self, locations: Sequence[int]) -> Kernels:
        """Return the same kernels at other locations."""
        return Kernels(self.shapes, self.numbers, self.arguments, locations, self.first)

    def each(self, read: Callable[[KernelShape], Item]) -> Iterator[Item]:
        """Return what `read` returns for each kernel's shape; `read` is called once per shape."""
        known = {number: read(self.shapes[number]) for number in set(self.numbers)}
        return map(known.__getitem__, self.numbers)

    @cached_property
    def firsts(self) -> dict[int, int]:
        """The position of each shape's first kernel, keyed by the shape's number, in order."""
        # A dictionary keeps the last position of each number, so the order is reversed.
        places = zip(reversed(self.numbers), reversed(range(len(self))), strict=True)
        return dict(sorted(dict(places).items(), key=itemgetter(1)))

    @cached_property
    def starts(self) -> tuple[array[int], array[int]]:
        """The first argument's position and the first result of each kernel, and of the end."""
        arguments = accumulate(self.each(attrgetter("argument_count")), initial=0)
        results = accumulate(self.each(attrgetter("result_count")), initial=self.first)
        return array("i", arguments), array("i", results)

    @cached_property
    def users(self) -> Sequence[Numbers]:
        """For each register, the numbers of the kernels that use it, later ones first."""
        users: list[list[int]] = [[] for _ in range(self.starts[1][-1])]
        counts = [*self.each(attrgetter("argument_count"))]
        numbers = chain.from_iterable(map(repeat, count(1), counts))
        for register, number in zip(reversed(self.arguments), reversed([*numbers]), strict=True):
            users[register].append(number)
        return [*map(tuple, users)]

    def use_counts(self, returned: Sequence[int]) -> list[int]:
        """Return the use counts of the registers in a function that returns `returned`."""
        counts = [*map(len, self.users)]
        # The return also uses registers, but is not a kernel.
        for register in returned:
            counts[register] += 1
        return counts

    @property
    def entry_users(self) -> list[int]:
        """The numbers of the kernels without operands."""
        counts = self.each(attrgetter("argument_count"))
        return [number for number, count in enumerate(counts, 1) if not count]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[BefKernel]:
        return map(self.__getitem__, range(len(self.numbers)))

    def __getitem__(self, place: int) -> BefKernel:  # type: ignore[override]  # no slices
        at = place if place >= 0 else range(len(self.numbers))[place]
        name, attributes, functions, taken, made, is_nonstrict = self.shapes[self.numbers[at]]
        first, result = self.starts[0][at], self.starts[1][at]
        return BefKernel(
            name,
            self.locations[at],
            tuple(self.arguments[first : first + taken]),
            attributes,
            functions,
            tuple(range(result, result + made)),
            Lazy(lambda: self.users[result : result + made]),
            min(taken, 1) if is_nonstrict else taken,
            is_nonstrict,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class BefFunction:
    """A function or, if its name is "", a region of a kernel.  A native function has no body.

    - `use_counts` has, for each register, how often it is used as an operand or in the return.
    - `entry_users` are the kernels without operands.
    - `argument_users` are the users of each argument.
    - `streams` contains the stream of the function's entry, followed by the stream of each kernel.
      The field is () if all streams are 0.  Only files need it.
    - `attribute_names` (per kernel) and `register_types` come from optional sections.
    """

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: int = 0
    register_count: int = 0
    use_counts: Sequence[int] = ()
    kernels: Kernels = field(default_factory=Kernels)
    entry_users: Sequence[int] = ()
    argument_users: Sequence[Numbers] = ()
    streams: Sequence[int] = ()
    result_registers: tuple[int, ...] = ()
    register_types: Sequence[str] | None = None
    attribute_names: Sequence[tuple[str, ...]] | None = None

    @property
    def callees(self) -> set[int]:
        """The indexes of the functions that kernels refer to."""
        shapes = self.kernels.shapes
        return {index for one in set(self.kernels.numbers) for index in shapes[one].functions}

    def at(self, location: int, kernels: Kernels) -> BefFunction:
        """Return a copy of the function with the given location and kernels."""
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
    """The contents of a whole file.

    - `attributes`, `location_strings`, and `locations` are sections as bytes.
    - `attributes_alignment` is the alignment that the attributes require.
    - `attribute_types` maps offsets in `attributes` to kinds (`DType`, `AttributeKind`, array
      kinds), in the file's order.  It is None if the file has no such section.
    - `unused_strings` are the strings in the file to which nothing refers.
    - `compiled` is the source text of functions that become machine code, or "" if there are none.
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
