"""Show a file's bytes: each line has an offset, the bytes, and their meaning."""

from __future__ import annotations

from collections.abc import Iterator

from tfrt_runtime.bef.reader import BefFile, find_sections
from tfrt_runtime.bef.records import (
    KERNEL_ALIGNMENT,
    MAGIC,
    BefFunction,
    BefKernel,
    FunctionKind,
    SectionId,
)
from tfrt_runtime.bef.wire import Cursor

_WIDTH = 16
"""The number of bytes per line."""
_MAX_LINES = 64
"""Maximum number of lines for one part, such as a long constant; omitted bytes are counted."""

Part = tuple[int, int, str, int | None]
"""A part of the file: its start, its end, its meaning, and a kernel's number or None."""


def listing(data: bytes) -> str:
    """Return a BEF file in hexadecimal, annotated with its sections, functions, and operations.

    Raises:
        MalformedBef: if `data` is not a BEF file.
    """
    return "".join(f"{line}\n" for line, _ in listed_kernels(data))


def listed_kernels(data: bytes, width: int = _WIDTH) -> Iterator[tuple[str, int | None]]:
    """Yield the lines of `listing`, each with the number of the kernel in the line, or None.

    Each line shows `width` bytes.  Kernels are numbered from 0 across all functions of the file.

    Raises:
        MalformedBef: if `data` is not a BEF file.
    """
    view = memoryview(data)
    file = BefFile.load(view)
    yield from _lines(view, (0, len(MAGIC) + 1, "BEF, version 0", None), width)
    at = len(MAGIC) + 1
    for section_id, (start, end, _) in find_sections(view).items():
        head = f"section {_name(section_id)}, {end - start} bytes"
        yield from _lines(view, (at, start, head, None), width)
        parts: Iterator[Part] = iter([(start, end, "", None)])
        match section_id:
            case SectionId.STRINGS:
                parts = _strings(view, start, end)
            case SectionId.FUNCTIONS:
                parts = _functions(view, file, start, end)
            case SectionId.COMPILED_FUNCTIONS:
                parts = _compiled(view, start, end)
        for part in parts:
            yield from _lines(view, part, width)
        at = end


def _name(section_id: int) -> str:
    known = section_id in set(SectionId)
    return SectionId(section_id).name if known else f"{section_id}, which is unknown"


def _lines(data: memoryview, part: Part, width: int) -> Iterator[tuple[str, int | None]]:
    start, end, text, kernel = part
    rows = range(start, end, width)
    for row in rows[:_MAX_LINES]:
        octets = data[row : min(row + width, end)].hex(" ")
        yield f"{row:06x}  {octets:<{3 * width - 1}}  {text}".rstrip(), kernel
        text = ""
    if len(rows) > _MAX_LINES:
        yield f"        ... {end - rows[_MAX_LINES]} more bytes", kernel


def _strings(data: memoryview, start: int, end: int) -> Iterator[Part]:
    at = start
    for text in data[start:end].tobytes().split(b"\0")[:-1]:
        behind = at + len(text) + 1
        yield at, behind, f'"{text.decode(errors="replace")}"', None
        at = behind


def _compiled(data: memoryview, start: int, end: int) -> Iterator[Part]:
    """Yield the lines of the compiled functions' source text."""
    at = start
    for line in data[start:end].tobytes().splitlines(keepends=True):
        yield at, at + len(line), line.decode(errors="replace").strip(), None
        at += len(line)


def _functions(data: memoryview, file: BefFile, start: int, end: int) -> Iterator[Part]:
    """Yield the head of each function, followed by its operations, in the order of the file."""
    at = start
    count = 0
    for index, function in enumerate(file.functions):
        if function.kind == FunctionKind.NATIVE:
            continue
        if padding := -(at - start) % KERNEL_ALIGNMENT:
            yield at, at + padding, "padding", None
            at += padding
        cursor = Cursor(data, "", at, end)
        cursor.varint()
        cursor.varints(cursor.varint())
        table = cursor.varints(3 * cursor.varint())
        cursor.varints(len(function.result_types))
        cursor.align(KERNEL_ALIGNMENT)
        first = cursor.offset
        yield at, first, _head(function, index), None
        starts = [first + offset for offset in table[::3]]
        # The table says where kernels start; the end of the last kernel follows from its counts.
        at = starts[-1] + 4 * _words(function, len(starts) - 1)
        texts = ["arguments", *map(_operation, function.kernels)]
        numbers = [None, *range(count, count + len(function.kernels))]
        yield from zip(starts, [*starts[1:], at], texts, numbers, strict=True)
        count += len(function.kernels)


def _words(function: BefFunction, number: int) -> int:
    """Return the number of words of a kernel; kernel 0 is the pseudo kernel for the arguments."""
    if number == 0:
        used_by = (function.entry_users, *function.argument_users)
        return 6 + 2 * len(used_by) + sum(map(len, used_by))
    kernel = function.kernels[number - 1]
    lists = (kernel.arguments, kernel.attributes, kernel.functions, kernel.results, kernel.results)
    return 6 + sum(map(len, lists)) + sum(map(len, kernel.used_by))


def _head(function: BefFunction, index: int) -> str:
    name = f"@{function.name}" if function.name else f"region {index}"
    types = f"({', '.join(function.argument_types)}) -> ({', '.join(function.result_types)})"
    returned = ", ".join(f"%{register}" for register in function.result_registers)
    return f"{name} {types}, returns {returned or 'nothing'}"


def _operation(kernel: BefKernel) -> str:
    results = ", ".join(f"%{register}" for register in kernel.results)
    arguments = ", ".join(f"%{register}" for register in kernel.arguments)
    return f"{results + ' = ' if results else ''}{kernel.name} {arguments}".rstrip()
