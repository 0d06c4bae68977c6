"""The constants of the binary format (BEF, last published form, version byte 0).

TFRT's description of the format:
https://github.com/tensorflow/runtime/blob/master/documents/binary_executable_format.md
Its constants are in TFRT's `include/tfrt/bef/bef_encoding.h`.  Sections marked "ours" extend the
format.

A file consists of `MAGIC`, `VERSION`, and sections.  A section consists of an id byte; a
variable-width integer `length * 2 + is_aligned`; if it is aligned, an alignment byte and `PADDING`
up to a multiple of the alignment (counted from the start of the file); and `length` bytes of
payload.  Readers skip unknown ids.

Integers written "VBR" have 7 bits per byte, most significant group first; the top bit says that
another byte follows.  Everything else is little-endian.  The sections hold:

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

* VBR location; VBR register count, a VBR use count for each; VBR kernel count (including the pseudo
  kernel), and for each kernel VBR byte offset in the list of kernels, VBR operands to wait for, VBR
  stream; a VBR register for each result of the function; padding to a multiple of 4;
* the kernels, each 32-bit words: code (index of the name), location, count of arguments, of
  attributes, of functions, of results; a count of users for each result; the argument registers,
  attribute offsets, function indexes, result registers, and for each result its users.

The pseudo kernel comes first.  Its results are the trigger of the kernels without operands, whose
register number is the number of registers, and the arguments.

Rejected: a general container such as Protocol Buffers or FlatBuffers, because files must be byte
for byte those of TFRT's tools.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

MAGIC: Final = b"\x0b\xef"
VERSION: Final = 0
PADDING: Final = 0xCC

# The first kernel of every body has no code: its results are the trigger of the kernels without
# operands and the function's arguments.
# operands and the function's arguments.
PSEUDO_KERNEL_CODE: Final = 0xABABABAB
PSEUDO_KERNEL_LOCATION: Final = 0xCDCDCDCD

KERNEL_ALIGNMENT: Final = 4
KERNEL_HEADER_WORDS: Final = 6

MAX_AGGREGATES: Final = 64
"""Maximum nesting of an attribute.

The deepest nesting that a program has needed is a handful of levels.
"""


class SectionId(IntEnum):
    """The contents of a section.  A file has the sections in this order."""

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
    """The kinds of functions: run by the executor, by a registered native function, or in order."""

    ASYNC = 0
    NATIVE = 1
    SYNC = 2


class LocationKind(IntEnum):
    """The first byte of a location record."""

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
    """Kinds of attributes other than scalars, whose kind is their `DType`.

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
