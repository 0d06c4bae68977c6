"""Write records as bytes.

The same records always become the same bytes, which are identical to the bytes that TFRT's tools
write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from tfrt_runtime.bef.records import (
    KERNEL_ALIGNMENT,
    MAGIC,
    PSEUDO_KERNEL_CODE,
    PSEUDO_KERNEL_LOCATION,
    VERSION,
    BefFunction,
    BefModule,
    FunctionKind,
    SectionId,
)
from tfrt_runtime.bef.wire import ByteBuilder, bytes_of
from tfrt_runtime.diagnostics import TfrtError, error


def write_bef(module: BefModule) -> bytes:
    """Return the bytes of the file that contains `module`.

    An optional section is written only if the module has contents for it.  The attribute names and
    the register types are written only if every function has them.
    """
    strings = StringTable(module.used_strings().union(module.unused_strings))
    types = {name: index for index, name in enumerate(module.type_names)}
    bodies, offsets = _write_bodies(module)
    file = FileBuilder()
    file.add(SectionId.STRINGS, strings.section)
    file.add(SectionId.ATTRIBUTES, _raw(module.attributes, module.attributes_alignment))
    file.add(SectionId.KERNELS, _names(module.kernel_names, strings))
    file.add(SectionId.TYPES, _names(module.type_names, strings))
    file.add(SectionId.FUNCTION_INDEX, _function_index(module, offsets, strings, types))
    file.add(SectionId.FUNCTIONS, bodies)
    if module.locations:
        file.add(SectionId.LOCATION_STRINGS, _raw(module.location_strings))
        file.add(SectionId.LOCATIONS, _raw(module.locations))
    functions = module.functions
    if module.attribute_types is not None:
        file.add(SectionId.ATTRIBUTE_TYPES, _attribute_types(module.attribute_types))
    if functions and all(function.attribute_names is not None for function in functions):
        file.add(SectionId.ATTRIBUTE_NAMES, _attribute_names(functions, strings))
    if functions and all(function.register_types is not None for function in functions):
        file.add(SectionId.REGISTER_TYPES, _register_types(functions, types))
    if any(kernel.is_nonstrict for function in functions for kernel in function.kernels):
        file.add(SectionId.NONSTRICT_KERNELS, _nonstrict_kernels(module))
    if module.compiled:
        file.add(SectionId.COMPILED_FUNCTIONS, _raw(module.compiled.encode()))
    return bytes(file.data)


class FileBuilder:
    """A file that is being written: the header, followed by sections."""

    def __init__(self) -> None:
        self.data = bytearray(MAGIC)
        self.data.append(VERSION)

    def add(self, section_id: SectionId, section: ByteBuilder) -> None:
        """Append `section` at the alignment that it requires, with padding only if needed."""
        header = ByteBuilder()
        header.byte(section_id)
        header.varint(2 * len(section))
        if (len(self.data) + len(header)) % section.alignment:
            header = ByteBuilder()
            header.byte(section_id)
            header.varint(2 * len(section) + 1)
            header.byte(section.alignment)
            header.align(section.alignment, len(self.data))
        self.data += header.data
        self.data += section.data


class StringTable:
    """A sorted table of strings without duplicates."""

    def __init__(self, strings: Iterable[str]) -> None:
        """Sort the strings.

        Raises:
            TfrtError: if a string contains a NUL, which terminates strings.
        """
        self.section = ByteBuilder()
        self._offsets: dict[str, int] = {}
        # Sort the bytes, because a surrogate for an invalid byte has another place among
        # characters.
        for data, text in sorted({(bytes_of(text), text) for text in strings}):
            if b"\0" in data:
                raise TfrtError(error(f"a name in a BEF file cannot contain NUL: {text!r}"))
            self._offsets[text] = len(self.section)
            self.section.data += data + b"\0"

    def offsets(self, strings: Iterable[str]) -> list[int]:
        """Return the offsets of `strings` in the section."""
        return [self._offsets[text] for text in strings]


def _raw(data: bytes | memoryview, alignment: int = 1) -> ByteBuilder:
    section = ByteBuilder()
    section.data += data
    section.alignment = alignment
    return section


def _names(names: tuple[str, ...], strings: StringTable) -> ByteBuilder:
    section = ByteBuilder()
    section.varint(len(names))
    section.varints(strings.offsets(names))
    return section


def _write_bodies(module: BefModule) -> tuple[ByteBuilder, list[int]]:
    """Write the functions section.

    Return the section, and the offset of each function in it.
    """
    section = ByteBuilder()
    codes = {name: code for code, name in enumerate(module.kernel_names)}
    offsets: list[int] = []
    for function in module.functions:
        if function.kind == FunctionKind.NATIVE:
            # Readers ignore this offset, because a native function has no body.
            offsets.append(len(section))
        else:
            offsets.append(write_body(section, function, codes))
    return section, offsets


def _function_index(
    module: BefModule, offsets: list[int], strings: StringTable, types: Mapping[str, int]
) -> ByteBuilder:
    section = ByteBuilder()
    section.varint(len(module.functions))
    for function, offset in zip(module.functions, offsets, strict=True):
        section.byte(function.kind)
        section.varint(offset)
        section.varints(strings.offsets([function.name]))
        for type_names in (function.argument_types, function.result_types):
            section.varint(len(type_names))
            section.varints([types[name] for name in type_names])
    return section


# --- optional sections ---


def _attribute_types(kinds: Mapping[int, int]) -> ByteBuilder:
    section = ByteBuilder()
    section.varint(len(kinds))
    for pair in kinds.items():
        section.varints(pair)
    return section


def _attribute_names(functions: tuple[BefFunction, ...], strings: StringTable) -> ByteBuilder:
    section = ByteBuilder()
    section.varint(len(functions))
    for function in functions:
        if function.kind == FunctionKind.NATIVE:
            continue
        section.varint(1 + len(function.kernels))
        for names in function.attribute_names or ():
            section.varints(strings.offsets(names))
    return section


def _register_types(functions: tuple[BefFunction, ...], types: Mapping[str, int]) -> ByteBuilder:
    section = ByteBuilder()
    section.varint(len(functions))
    for function in functions:
        if function.kind == FunctionKind.NATIVE:
            continue
        section.varint(function.register_count)
        section.varints([types[name] for name in function.register_types or ()])
    return section


def _nonstrict_kernels(module: BefModule) -> ByteBuilder:
    numbers = {
        index: [number for number, kernel in enumerate(function.kernels, 1) if kernel.is_nonstrict]
        for index, function in enumerate(module.functions)
    }
    section = ByteBuilder()
    section.varint(sum(map(bool, numbers.values())))
    for index, kernels in numbers.items():
        if kernels:
            section.varints((index, len(kernels), *kernels))
    return section


def write_body(out: ByteBuilder, function: BefFunction, codes: Mapping[str, int]) -> int:
    """Append the body of `function` to `out`, and return its offset.

    `codes` maps kernel names to their indexes.
    """
    out.align(KERNEL_ALIGNMENT)
    offset = len(out)
    words = _pseudo_kernel(function)
    streams = function.streams or (0,) * (1 + len(function.kernels))
    table = [0, 0, streams[0]]
    for kernel, stream in zip(function.kernels, streams[1:], strict=True):
        # A reader that does not know about non-strict kernels waits for all of the operands.
        table += 4 * len(words), len(kernel.arguments), stream
        _, location, arguments, attributes, functions, results, used_by, *_ = kernel
        words += (
            codes[kernel.name],
            location,
            len(arguments),
            len(attributes),
            len(functions),
            len(results),
            *map(len, used_by),
            *arguments,
            *attributes,
            *functions,
            *results,
            *chain.from_iterable(used_by),
        )
    out.varints((function.location, function.register_count))
    out.varints(function.use_counts)
    out.varint(1 + len(function.kernels))
    out.varints(table)
    out.varints(function.result_registers)
    out.align(KERNEL_ALIGNMENT)
    out.u32s(words)
    return offset


def _pseudo_kernel(function: BefFunction) -> list[int]:
    used_by = (function.entry_users, *function.argument_users)
    return [
        PSEUDO_KERNEL_CODE,
        PSEUDO_KERNEL_LOCATION,
        0,
        0,
        0,
        len(used_by),
        *map(len, used_by),
        function.register_count,
        *range(len(function.argument_users)),
        *chain.from_iterable(used_by),
    ]
