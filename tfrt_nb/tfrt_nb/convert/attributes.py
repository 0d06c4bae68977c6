"""Convert the IR's attributes and locations to BEF's values and places, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    NameLoc,
    NoneAttr,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute as IrAttribute
from xdsl.ir import TypeAttribute

from tfrt_nb.dialects.types import WORDS, ShapeAttr, host_type
from tfrt_runtime.bef.attributes import (
    SIZES,
    Aggregate,
    Array,
    Attribute,
    Dense,
    Scalar,
    Shape,
    String,
    Symbol,
    TypeArray,
    TypeValue,
    array_of,
)
from tfrt_runtime.bef.locations import (
    UNKNOWN,
    CallPlace,
    FilePlace,
    FusedPlace,
    NamedPlace,
    Place,
    UnknownPlace,
)
from tfrt_runtime.bef.records import DType
from tfrt_runtime.scalars import wrapped

_SIGNLESS = {1: DType.I1, 8: DType.I8, 16: DType.I16, 32: DType.I32, 64: DType.I64}
_UNSIGNED = {8: DType.UI8, 16: DType.UI16, 32: DType.UI32, 64: DType.UI64}

_TYPES: dict[DType, TypeAttribute] = {
    **{dtype: IntegerType(width) for width, dtype in _SIGNLESS.items()},
    **{dtype: IntegerType(width, Signedness.UNSIGNED) for width, dtype in _UNSIGNED.items()},
    DType.F16: Float16Type(),
    DType.BF16: BFloat16Type(),
    DType.F32: Float32Type(),
    DType.F64: Float64Type(),
    DType.COMPLEX64: ComplexType(Float32Type()),
    DType.COMPLEX128: ComplexType(Float64Type()),
    DType.STRING: host_type("corert.string"),
    DType.RESOURCE: host_type("corert.resource"),
    DType.VARIANT: host_type("corert.variant"),
    DType.QUI8: host_type("corert.quint8"),
    DType.QUI16: host_type("corert.quint16"),
    DType.QI8: host_type("corert.qint8"),
    DType.QI16: host_type("corert.qint16"),
    DType.QI32: host_type("corert.qint32"),
}
_DTYPES: dict[IrAttribute, DType] = {spelled: dtype for dtype, spelled in _TYPES.items()}
# The key is the type's id, because hashing an IR type costs a call, and almost all types are the
# same few objects.
_DTYPES_OF_WORDS = {
    id(value_type): _DTYPES[value_type] for value_type in WORDS.values() if value_type in _DTYPES
}


def dtype_of(element_type: IrAttribute) -> DType | None:
    """Return BEF's DType for an attribute or an element of this type, or None if BEF has none."""
    known = _DTYPES_OF_WORDS.get(id(element_type))
    return _DTYPES.get(element_type) if known is None else known


# --- to BEF ---


def encode(attribute: IrAttribute) -> Attribute | None:
    """Return the file's value for `attribute`, or None if BEF has no such value.

    References to functions are not values, because kernels have a separate list of them.
    """
    match attribute:
        case IntegerAttr():
            dtype = dtype_of(attribute.type)
            return None if dtype is None else Scalar(dtype, _wrap(attribute.value.data, dtype))
        case FloatAttr():
            dtype = dtype_of(attribute.type)
            return None if dtype is None else Scalar(dtype, attribute.value.data)
        case StringAttr():
            return String(attribute.data)
        case ArrayAttr():
            elements = [one for one in map(encode, attribute.data) if one is not None]
            return array_of(elements) if len(elements) == len(attribute.data) else None
        case DenseIntOrFPElementsAttr():
            return _encode_dense(attribute)
        case ShapeAttr():
            return Shape(attribute.dimensions)
    dtype = dtype_of(attribute)
    return None if dtype is None else TypeValue(dtype)


def _wrap(value: int, dtype: DType) -> int:
    """Wrap `value` to the range of `dtype`, in which `255 : i8` is -1."""
    if dtype is DType.I1:
        return bool(value)
    bits = 8 * SIZES[dtype]
    # In this range, which is the common case, the signed and the unsigned number are the same.
    if 0 <= value < 1 << bits - 1:
        return value
    return value & ((1 << bits) - 1) if dtype in _UNSIGNED.values() else wrapped(value, bits)


def _encode_dense(attribute: DenseIntOrFPElementsAttr) -> Attribute | None:
    dtype = dtype_of(attribute.get_element_type())
    if dtype is None:
        return None
    data = attribute.data.data
    # A true i1 is -1 in the IR, and 1 in a file.
    bits = bytes(map(bool, data)) if dtype is DType.I1 else data
    return Dense(dtype, attribute.get_shape(), bits)


# --- from BEF ---


def decode(attribute: Attribute) -> IrAttribute:
    """Return the IR attribute for a value in a file."""
    match attribute:
        case Scalar(dtype, value):
            return _decode_number(_TYPES[dtype], value)
        case TypeValue(dtype):
            return _TYPES[dtype]
        case String(text):
            return StringAttr(text)
        case Array(dtype, values):
            return ArrayAttr([_decode_number(_TYPES[dtype], value) for value in values])
        case TypeArray(dtypes):
            return ArrayAttr([_TYPES[dtype] for dtype in dtypes])
        case Shape(sizes):
            return ShapeAttr.of(sizes)
        case Dense(dtype, sizes, data):
            return _decode_dense(dtype, sizes, bytes(data))
        case Aggregate(elements):
            return ArrayAttr([decode(element) for element in elements])
        case Symbol(root, nested, _):
            return SymbolRefAttr(root, ArrayAttr([StringAttr(name) for name in nested]))


def _decode_number(number_type: TypeAttribute, value: float) -> IrAttribute:
    if isinstance(number_type, AnyFloat):
        return FloatAttr(value, number_type)
    assert isinstance(number_type, IntegerType) and isinstance(value, int)
    return IntegerAttr(value, number_type)


def _decode_dense(dtype: DType, sizes: Sequence[int], data: bytes) -> IrAttribute:
    element_type = _TYPES[dtype]
    assert isinstance(element_type, AnyFloat | IntegerType | ComplexType)
    if dtype is DType.I1:
        data = bytes(0xFF if byte else 0 for byte in data)  # an i1 of the IR is 0 or -1
    return DenseIntOrFPElementsAttr(TensorType(element_type, sizes), BytesAttr(data))


UNKNOWN_VALUE: IrAttribute = NoneAttr()
"""Represents an attribute of unknown kind, which cannot be written to a file again."""


# --- locations ---


def place_of(location: IrAttribute) -> Place:
    """Return the file's place for `location`."""
    match location:
        case FileLineColLoc():
            return FilePlace(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return NamedPlace(location.desc.data, place_of(location.location))
        case CallSiteLoc():
            return CallPlace(place_of(location.callee), place_of(location.caller))
        case FusedLoc():
            return _fused_place(location)
    return UNKNOWN


def _fused_place(location: FusedLoc) -> Place:
    """Fuse places as MLIR does.

    Duplicate and unknown parts are dropped. If a single part remains, the result is that part.
    """
    parts = tuple(dict.fromkeys(place_of(part) for part in _parts(location)))
    known = tuple(part for part in parts if part != UNKNOWN)
    if isinstance(location.metadata, NoneAttr) and len(known) < 2:
        return known[0] if known else UNKNOWN
    return FusedPlace(known or (UNKNOWN,))


def _parts(location: FusedLoc) -> Iterator[IrAttribute]:
    """Yield the fused parts, including the parts of nested fusions with the same metadata."""
    assert isinstance(location.locations, ArrayAttr), "read by xDSL"
    for part in location.locations:
        if isinstance(part, FusedLoc) and part.metadata == location.metadata:
            yield from _parts(part)
        else:
            yield part


def location_of_place(place: Place) -> LocationAttr:
    """Return the IR location for a place in a file."""
    match place:
        case UnknownPlace():
            return UNKNOWN_LOC
        case FilePlace(file, line, column):
            return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
        case NamedPlace(name, UnknownPlace()):
            return NameLoc(StringAttr(name), NoneAttr())
        case NamedPlace(name, child):
            return NameLoc(StringAttr(name), location_of_place(child))
        case CallPlace(callee, caller):
            return CallSiteLoc(location_of_place(callee), location_of_place(caller))
        case FusedPlace(children):
            return FusedLoc(ArrayAttr(map(location_of_place, children)), NoneAttr())
