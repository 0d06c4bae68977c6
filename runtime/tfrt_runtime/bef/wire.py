"""Read and write bytes: variable-width integers, alignment, and strings.

`Cursor` reads and `ByteBuilder` writes.  Neither knows the meaning of the bytes.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence

from tfrt_runtime.bef.records import PADDING
from tfrt_runtime.diagnostics import OpaqueLocation, TfrtError, error

# Sizes and offsets have 64 bits, as in the format's other readers.
# A smaller number still fits if the next byte adds seven bits.
_VARINT_LIMIT = 1 << 57


def bytes_of(text: str) -> bytes:
    r"""Encode a string in UTF-8.

    A byte that is not valid UTF-8, such as `"\\FF"` in a program, stays as it is.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate of 16-bit text
        return text.encode(errors="surrogatepass")


class MalformedBef(TfrtError):
    """The bytes are not a BEF file.

    `offset` is the position, from the start of the file, of the byte at which reading stopped.
    """

    def __init__(self, problem: str, offset: int, found: str, name: str = "<bef>") -> None:
        super().__init__(error(f"{problem} (at byte {offset}: {found})", OpaqueLocation(name)))
        self.problem = problem
        self.offset = offset
        self.found = found


class Cursor:
    """A position in a byte buffer, which cannot pass the buffer's end.

    Every read advances the position.  An impossible read raises `MalformedBef` with `problem`,
    before any memory of the requested size is allocated.
    """

    __slots__ = ("data", "end", "offset", "problem")

    def __init__(self, data: memoryview, problem: str, offset: int = 0, end: int | None = None):
        self.data = data
        self.problem = problem
        self.offset = offset
        self.end = len(data) if end is None else end

    def fail(self, found: str, offset: int | None = None) -> MalformedBef:
        """Return the exception for the wrong item `found` at `offset`.

        By default, the offset is the current position.
        """
        return MalformedBef(self.problem, self.offset if offset is None else offset, found)

    @property
    def remaining(self) -> int:
        """The number of bytes that are left."""
        return self.end - self.offset

    def take(self, size: int) -> memoryview:
        """Read the next `size` bytes, and return them as a view."""
        start = self.offset
        if size > self.end - start:
            raise self.fail(f"{size} bytes expected, {self.end - start} left")
        self.offset = start + size
        return self.data[start : self.offset]

    def byte(self) -> int:
        """Read one byte."""
        offset = self.offset
        if offset >= self.end:
            raise self.fail("a byte expected, none left")
        self.offset = offset + 1
        return self.data[offset]

    def varint(self) -> int:
        """Read an integer in 7-bit groups, most significant first.

        A byte's top bit is set if another byte follows.
        """
        value = 0
        while True:
            group = self.byte()
            value = value << 7 | group & 0x7F
            if group < 0x80:
                return value
            if value >= _VARINT_LIMIT:
                raise self.fail("an integer of more than 64 bits")

    def varints(self, count: int) -> array[int]:
        """Read `count` integers in the format of `varint`, but much faster."""
        chunk = self.take(count).tobytes()
        # In the common case, no top bit is set, so each byte is a separate integer.
        if chunk.isascii():
            return array("B", chunk)
        values, value = array("Q"), 0
        while chunk:
            for group in chunk:
                if group < 0x80:
                    values.append(value << 7 | group)
                    value = 0
                elif value << 7 < _VARINT_LIMIT:
                    value = value << 7 | group & 0x7F
                else:
                    raise self.fail("an integer of more than 64 bits")
            # Each integer has at least one byte, so taking one byte per missing integer never takes
            # too many.
            chunk = self.take(count - len(values)).tobytes()
        return values

    def count(self, what: str) -> int:
        """Read a count of items, each of which has at least one byte.

        Raises:
            MalformedBef: if the items cannot all fit in the remaining bytes.
        """
        offset = self.offset
        count = self.varint()
        if count > self.end - self.offset:
            raise self.fail(f"{count} {what} in {self.end - self.offset} bytes", offset)
        return count

    def align(self, alignment: int) -> None:
        """Skip to the next multiple of `alignment`, counted from the start of `data`."""
        self.take(-self.offset % alignment)


class ByteBuilder:
    """Bytes that are being written, with the alignment that they require at their start."""

    __slots__ = ("alignment", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self.alignment = 1

    def __len__(self) -> int:
        return len(self.data)

    def byte(self, value: int) -> None:
        self.data.append(value)

    def varint(self, value: int) -> None:
        """Append `value` in the format of `Cursor.varint`."""
        self.varints((value,))

    def varints(self, values: Sequence[int]) -> None:
        """Append `values`, one after another, without a count."""
        # A list of small integers is its own encoding.
        if len(values) > 8 and max(values) < 0x80:
            self.data += bytes([*values])  # `bytes(array)` would copy the array's memory
            return
        append = self.data.append
        for value in values:
            if value < 0x80:
                append(value)
            elif value < 0x4000:
                append(value >> 7 | 0x80)
                append(value & 0x7F)
            elif value < 0x200000:
                append(value >> 14 | 0x80)
                append(value >> 7 & 0x7F | 0x80)
                append(value & 0x7F)
            else:
                groups, rest = [value & 0x7F], value
                while rest := rest >> 7:
                    groups.append(rest & 0x7F | 0x80)
                self.data += bytes(reversed(groups))

    def u32s(self, values: Sequence[int]) -> None:
        """Append 32-bit words at the current position, which the caller must have aligned."""
        self.data += struct.pack(f"<{len(values)}I", *values)

    def align(self, alignment: int, prefix: int = 0) -> None:
        """Pad until the position `prefix` bytes further on is a multiple of `alignment`."""
        self.alignment = max(self.alignment, alignment)
        padding = -(len(self.data) + prefix) % alignment
        self.data += bytes((PADDING,)) * padding

    def append(self, other: ByteBuilder) -> None:
        """Append `other` at the alignment that it requires."""
        self.align(other.alignment)
        self.data += other.data
