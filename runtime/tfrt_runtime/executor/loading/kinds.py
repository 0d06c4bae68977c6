"""Kinds of attributes: what a kernel asks for, and how a file stores it; types of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from tfrt_runtime.bef.attributes import Array, Plain, to_plain
from tfrt_runtime.bef.encoding import ARRAY_FLAG, EMPTY_ARRAY, AttributeKind, DType
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.payload import PayloadError, encode_scalar

KINDS: dict[str, int] = {
    "string": DType.STRING,
    "type": AttributeKind.TYPE,
    "shape": AttributeKind.SHAPE,
    "dense": AttributeKind.DENSE,
    "aggregate": AttributeKind.AGGREGATE,
    "array.type": ARRAY_FLAG | AttributeKind.TYPE,
}
EMPTY = -1
"""The kind of an array of nothing, which may be one of any type."""
INTEGERS = {kind for kind in DType if kind.name.removeprefix("U").removeprefix("I").isdigit()}
KINDS_OF: dict[type, set[DType]] = {
    bool: {DType.I1},
    int: INTEGERS,
    float: {DType.F16, DType.BF16, DType.F32, DType.F64},
    str: {DType.STRING},
}
"""The attribute types that match an annotation of a Python kernel."""
NOTHING = Array(DType.I32, ())


@cache
def kind_of_word(word: str) -> int:
    """The BEF kind of an attribute with a type word of `kernels.registry`."""
    if word in KINDS:
        return KINDS[word]
    if word.startswith("array."):
        return ARRAY_FLAG | kind_of_word(word.removeprefix("array."))
    return DType[word.upper()]


class WrongKind(ValueError):
    """An attribute is of another type than its kernel reads."""


def read_as_stored(file: BefFile, offset: int, word: str) -> Plain:
    """One attribute as a plain value; "any" has the type that the file gives, "typed" the same with
    the type in front.

    Raises:
        TfrtError: if the file does not say.
        WrongKind: if the file says that it is something else.
    """
    if word not in ("any", "typed"):
        kind = stored_kind(file, offset, word)
        return () if kind == EMPTY else to_plain(file.attribute_reader.read(offset, kind))
    kinds = file.attribute_types or {}
    if offset not in kinds:
        raise TfrtError(error("the file does not give the types of the kernel's attributes"))
    value = to_plain(file.attribute_reader.read(offset, kinds[offset]))
    return (kind_text(kinds[offset]), value) if word == "typed" else value


def read_word(file: BefFile, offset: int, word: str) -> int:
    """A scalar attribute as the word that native code gets: its bits.

    Raises:
        WrongKind: if the file says that it is something else.
    """
    # Half floats are kept as the bits that they are.
    bits = "ui16" if word in ("f16", "bf16") else word
    kind = stored_kind(file, offset, word)
    if kind == kind_of_word(word):
        kind = kind_of_word(bits)
    value = to_plain(file.attribute_reader.read(offset, kind))
    try:
        return encode_scalar(bits, value)[0]
    except PayloadError as wrong:
        raise WrongKind(str(wrong)) from None


def stored_kind(file: BefFile, offset: int, word: str) -> int:
    """The kind to read an attribute as that should be a `word`; `EMPTY` for an array of nothing.

    Files without the optional sections say nothing about it; then it is the kind of the word.  An
    integer may have another width.
    """
    wanted = kind_of_word(word)
    found = (file.attribute_types or {}).get(offset, wanted)
    if found == wanted:
        return wanted
    is_array = wanted & ARRAY_FLAG or wanted in (AttributeKind.AGGREGATE, AttributeKind.SHAPE)
    if found == EMPTY_ARRAY and is_array and file.attribute_reader.read(offset, found) == NOTHING:
        return EMPTY
    are_integers = {found & ~ARRAY_FLAG, wanted & ~ARRAY_FLAG} <= INTEGERS
    if are_integers and found & ARRAY_FLAG == wanted & ARRAY_FLAG:
        return found
    raise WrongKind(f"an attribute is {kind_text(found)}, not {kind_text(wanted)}")


def kind_text(kind: int) -> str:
    """A kind as a message names it: `i32`, `array of f32`, `string`."""
    if kind & ARRAY_FLAG:
        return f"array of {kind_text(kind & ~ARRAY_FLAG)}"
    names = {**{k.value: k.name for k in AttributeKind}, **{k.value: k.name for k in DType}}
    return names.get(kind, f"kind {kind}").lower().replace("_", " ")


Symbols = Callable[[str], int]
"""Addresses of native functions by name."""


def signatures(functions: Sequence[BefFunction]) -> list[int]:
    """A number for each function, which those have in common that may be called alike."""
    known: dict[object, int] = {}
    return [
        known.setdefault((one.kind, one.argument_types, one.result_types), len(known))
        for one in functions
    ]


def types_of(function: BefFunction, registers: Sequence[int]) -> tuple[str, ...]:
    """MLIR types of registers, "" where the file does not say."""
    if function.register_types is None:
        return ("",) * len(registers)
    return tuple(function.register_types[register] for register in registers)
