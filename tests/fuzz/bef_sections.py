"""Change sections of a BEF file as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.fuzz.bef_drafts import Chance

from tfrt_runtime.bef.records import MAGIC, VERSION, BefModule
from tfrt_runtime.bef.wire import ByteBuilder, Cursor


def with_other_tables(module: BefModule, chance: Chance) -> BefModule:
    """Return the module with other tables.

    Functions are reordered or omitted, locations have other bytes, or optional sections are
    omitted.
    """
    match chance.randrange(4):
        case 0 if len(module.functions) > 1:
            functions = list(module.functions)
            chance.shuffle(functions)
            return replace(module, functions=tuple(functions))
        case 1 if module.functions:
            kept = list(module.functions)
            del kept[chance.randrange(len(kept))]
            return replace(module, functions=tuple(kept))
        case 2 if module.locations:
            data = bytearray(module.locations)
            data[chance.randrange(len(data))] = chance.randrange(256)
            return replace(module, locations=bytes(data))
    functions = [
        replace(one, register_types=None, attribute_names=None) for one in module.functions
    ]
    return replace(module, functions=tuple(functions), attribute_types=None)


def sections(data: bytes) -> list[tuple[int, int, bytes]]:
    """Return the id, the alignment (0 if none), and the bytes of each section of a valid file."""
    cursor = Cursor(memoryview(data), "sections", len(MAGIC) + 1)
    found = []
    while cursor.remaining:
        section = cursor.byte()
        length, is_aligned = divmod(cursor.varint(), 2)
        alignment = cursor.byte() if is_aligned else 0
        if alignment:
            cursor.align(alignment)
        found.append((section, alignment, cursor.take(length).tobytes()))
    return found


def write_sections(parts: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Return a file of such sections, whatever their content."""
    out = ByteBuilder()
    out.data += MAGIC
    out.byte(VERSION)
    for section, alignment, data in parts:
        out.byte(section)
        out.varint(2 * len(data) + bool(alignment))
        if alignment:
            out.byte(alignment)
            out.align(alignment)
        out.data += data
    return bytes(out.data)


def with_other_sections(data: bytes, chance: Chance) -> bytes:
    """Drop, double, move, or cut a section, or change its id or its bytes; lengths stay correct."""
    try:
        parts = sections(data)
    except Exception:  # noqa: BLE001 - a step before has left no whole file
        return with_other_bytes(data, chance)
    if not parts:
        return data
    place = chance.randrange(len(parts))
    section, alignment, body = parts[place]
    match chance.choice((0, 1, 2, 3, 4, 5, 6, 6, 6, 6)):
        case 0:
            del parts[place]
        case 1:
            parts.insert(chance.randrange(len(parts) + 1), parts[place])
        case 2:
            parts.insert(chance.randrange(len(parts)), parts.pop(place))
        case 3:
            parts[place] = (section, alignment, body[: chance.randrange(len(body) + 1)])
        case 4:
            parts[place] = (chance.choice((*range(12), 0x70, 0x71, 255)), alignment, body)
        case 5:
            parts[place] = (section, chance.choice((0, 1, 2, 4, 8, 16, 128)), body)
        case _ if body:
            parts[place] = (section, alignment, with_other_bytes(body, chance))
    return write_sections(parts)


def with_other_bytes(data: bytes, chance: Chance) -> bytes:
    """Change a byte or, every second time, replace a small number with another one."""
    changed = bytearray(data)
    if not changed:
        return data
    small = [offset for offset, byte in enumerate(changed) if byte < 16]
    if small and chance.random() < 0.5:
        changed[chance.choice(small)] = chance.randrange(16)
    elif chance.random() < 0.1:
        del changed[chance.randrange(len(changed))]
    else:
        offset = chance.randrange(len(changed))
        changed[offset] ^= chance.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))
    return bytes(changed)
