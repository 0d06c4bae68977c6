"""Attributes of kernels, read as their kernel says."""

from __future__ import annotations

from tfrt_runtime.bef.attribute_reader import AttributeReader
from tfrt_runtime.bef.attributes import Plain, to_plain
from tfrt_runtime.bef.encoding import ARRAY_FLAG, AttributeKind, DType
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.payload import encode_scalar

KINDS: dict[str, int] = {
    "string": DType.STRING,
    "type": AttributeKind.TYPE,
    "shape": AttributeKind.SHAPE,
    "dense": AttributeKind.DENSE,
    "aggregate": AttributeKind.AGGREGATE,
    "array.type": ARRAY_FLAG | AttributeKind.TYPE,
}


def kind_of_word(word: str) -> int:
    """The BEF kind of an attribute with a type word of `kernels.registry`."""
    if word in KINDS:
        return KINDS[word]
    if word.startswith("array."):
        return ARRAY_FLAG | kind_of_word(word.removeprefix("array."))
    return DType[word.upper()]


def read_as_stored(file: BefFile, offset: int, word: str) -> Plain:
    """One attribute as a plain value; "any" is what the file says that it is.

    Raises:
        TfrtError: if the file does not say.
    """
    if word != "any":
        return read_attribute(file.attribute_reader, offset, word)
    kinds = file.attribute_types or {}
    if offset not in kinds:
        raise TfrtError(error("the file does not say of what type the kernel's attributes are"))
    return to_plain(file.attribute_reader.read(offset, kinds[offset]))


def read_attribute(reader: AttributeReader, offset: int, word: str) -> Plain:
    """One attribute as a plain value."""
    return to_plain(reader.read(offset, kind_of_word(word)))


def read_word(reader: AttributeReader, offset: int, word: str) -> int:
    """A scalar attribute as the word that native code gets: its bits."""
    # Half floats are kept as the bits that they are.
    kind = "ui16" if word in ("f16", "bf16") else word
    return encode_scalar(kind, read_attribute(reader, offset, kind))[0]
