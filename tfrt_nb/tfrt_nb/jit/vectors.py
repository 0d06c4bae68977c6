"""`vector` as LLVM instructions, and calls that print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tfrt_nb.dialects.async_.vectors import PrintOp, Punctuation, SplatOp
from tfrt_nb.jit.arithmetic import in_one_line, type_suffix
from tfrt_nb.jit.buffers import may_be_undefined
from tfrt_nb.jit.descriptors import IS_ELEMENT, buffer_type, element_address, layout_of
from tfrt_nb.jit.function_body import Argument, FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import UnsupportedType, float_literal, llvm_type
from tfrt_nb.passes.errors import fail

_PUNCTUATION = {
    Punctuation.NEW_LINE: "printNewline",
    Punctuation.COMMA: "printComma",
    Punctuation.OPEN: "printOpen",
    Punctuation.CLOSE: "printClose",
}


def _print(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, PrintOp)
    if op.text is not None:
        name, _ = body.module.text(f"{op.text.data}\0")
        body.call("printString", "void", ("ptr", name))
        return
    if op.source is not None:
        _print_value(body, op, op.source.type, body.name(op.source))
    if op.punctuation.data in _PUNCTUATION:
        body.call(_PUNCTUATION[op.punctuation.data], "void")


def _print_value(body: FunctionBody, op: Operation, type_: Attribute, value: str) -> None:
    """A number, or in parentheses the parts of a vector."""
    if not isinstance(type_, VectorType):
        _print_number(body, op, type_, value)
        return
    body.call("printOpen", "void")
    for index, (part, inner) in enumerate(_parts(body, type_, value)):
        if index > 0:
            body.call("printComma", "void")
        _print_value(body, op, inner, part)
    body.call("printClose", "void")


def _parts(body: FunctionBody, type_: VectorType, value: str) -> Iterator[tuple[str, Attribute]]:
    """What the first dimension of a vector has, each with its type."""
    shape, text = type_.get_shape(), llvm_type(type_)
    if len(shape) < 2:
        for index in range(shape[0] if shape else 1):
            part = body.value(f"extractelement {text} {value}, i64 {index}")
            yield part, type_.element_type
        return
    inner = VectorType(type_.element_type, shape[1:])
    for index in range(shape[0]):
        yield body.value(f"extractvalue {text} {value}, {index}"), inner


def _print_number(body: FunctionBody, op: Operation, type_: Attribute, value: str) -> None:
    text = llvm_type(type_)
    match type_:
        case IndexType():
            body.call("printU64", "void", ("i64", value))
        case IntegerType() if type_.width.data <= 64:
            is_unsigned = text == "i1" or type_.signedness.data is Signedness.UNSIGNED
            if text != "i64":
                extend = "zext" if is_unsigned else "sext"
                value = body.value(f"{extend} {text} {value} to i64")
            body.call("printU64" if is_unsigned else "printI64", "void", ("i64", value))
        case Float64Type():
            body.call("printF64", "void", ("double", value))
        case Float32Type():
            body.call("printF32", "void", ("float", value))
        case Float16Type() | BFloat16Type():
            wide = body.value(f"fpext {text} {value} to float")
            body.call("printF32", "void", ("float", wide))
        case _:
            fail(op, f"'{type_}' cannot be printed")


def _bitcast(body: FunctionBody, op: Operation) -> None:
    target = llvm_type(op.results[0].type)
    body.set(op.results[0], f"bitcast {body.typed(op.operands[0])} to {target}")


def _broadcast(body: FunctionBody, op: Operation) -> None:
    [source], [result] = op.operands, op.results
    assert isinstance(result.type, VectorType)
    given = source.type.get_shape() if isinstance(source.type, VectorType) else ()
    shape = result.type.get_shape()
    if shape[len(shape) - len(given) :] != given:
        raise UnsupportedType(f"'{op.name}' is not there from '{source.type}' to '{result.type}'")
    value, inner = body.name(source), len(given)
    if not given:
        value, inner = _in_all_lanes(body, source.type, value, shape[-1] if shape else 1), 1
    for outer in range(len(shape) - inner - 1, -1, -1):
        row = llvm_type(VectorType(result.type.element_type, shape[outer + 1 :]))
        whole = "poison"
        for index in range(shape[outer]):
            array = f"[{shape[outer]} x {row}]"
            whole = body.value(f"insertvalue {array} {whole}, {row} {value}, {index}")
        value = whole
    body.bind(result, value)


def _in_all_lanes(body: FunctionBody, type_: Attribute, value: str, count: int) -> str:
    element = llvm_type(type_)
    text = f"<{count} x {element}>"
    first = body.value(f"insertelement {text} poison, {element} {value}, i64 0")
    lanes = f"<{count} x i32> zeroinitializer"
    return body.value(f"shufflevector {text} {first}, {text} poison, {lanes}")


def _extract(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.ExtractOp)
    type_ = _vector(op.vector.type)
    value, rest = _row(body, op, body.name(op.vector), type_, op.get_mixed_position())
    for position in rest:
        text = llvm_type(VectorType(type_.element_type, type_.get_shape()[-1:]))
        value = body.value(f"extractelement {text} {value}, i64 {_lane(body, position)}")
    body.bind(op.result, value)


def _insert(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.InsertOp)
    type_ = _vector(op.dest.type)
    positions = op.get_mixed_position()
    row, rest = _row(body, op, body.name(op.dest), type_, positions)
    new, source = body.name(op.source), llvm_type(op.source.type)
    for position in rest:
        text = llvm_type(VectorType(type_.element_type, type_.get_shape()[-1:]))
        at = f"i64 {_lane(body, position)}"
        new = body.value(f"insertelement {text} {row}, {source} {new}, {at}")
        source = text
    outer = positions[: len(positions) - len(rest)]
    if outer:
        at = ", ".join(map(str, outer))
        new = body.value(f"insertvalue {body.typed(op.dest)}, {source} {new}, {at}")
    body.bind(op.result, new)


def _row(
    body: FunctionBody,
    op: Operation,
    value: str,
    type_: VectorType,
    positions: Sequence[SSAValue | int],
) -> tuple[str, Sequence[SSAValue | int]]:
    """The innermost vector at the outer positions, and what is left of the positions."""
    for number, (position, size) in enumerate(
        zip(positions, type_.get_shape(), strict=False), start=1
    ):
        if isinstance(position, int) and not 0 <= position < size:
            fail(
                op,
                f"'{op.name}' op expected position attribute #{number} to be a non-negative integer "
                "smaller than the corresponding vector dimension",
            )
    outer = positions[: max(len(type_.get_shape()), 1) - 1]
    if not all(isinstance(position, int) for position in outer):
        fail(
            op, f"only the last position in '{type_}' may be known as late as when the program runs"
        )
    if outer:
        value = body.value(f"extractvalue {llvm_type(type_)} {value}, {', '.join(map(str, outer))}")
    return value, positions[len(outer) :]


def _lane(body: FunctionBody, position: SSAValue | int) -> str:
    return str(position) if isinstance(position, int) else body.name(position)


def _vector(type_: Attribute) -> VectorType:
    assert isinstance(type_, VectorType)
    return type_


def _fma(body: FunctionBody, op: Operation) -> None:
    type_ = op.results[0].type
    name = f"llvm.fma.{type_suffix(type_)}"
    result = body.call(name, llvm_type(type_), *map(body.argument, op.operands))
    body.bind(op.results[0], result)


def _reduction(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.ReductionOp)
    kind, type_ = str(op.kind.data), op.dest.type
    is_float = isinstance(type_, AnyFloat)
    if kind not in _STARTS and is_float != kind.endswith("f"):
        fail(op, f"'{op.name}' op unsupported reduction type ''{type_}'' for kind '{kind}'")
    text, given = llvm_type(type_), body.argument(op.vector)
    if is_float and kind in _STARTS:
        start = float_literal(_STARTS[kind], type_) if op.acc is None else body.name(op.acc)
        name = f"llvm.vector.reduce.f{kind}.{type_suffix(op.vector.type)}"
        body.bind(op.dest, body.call(name, text, (text, start), given))
        return
    reduce, combine = _KINDS[kind]
    name = f"llvm.vector.reduce.{reduce}.{type_suffix(op.vector.type)}"
    result = body.call(name, text, given)
    if op.acc is not None and combine.startswith("llvm."):
        function = f"{combine}.{type_suffix(type_)}"
        result = body.call(function, text, (text, result), body.argument(op.acc))
    elif op.acc is not None:
        result = body.value(f"{combine} {text} {result}, {body.name(op.acc)}")
    body.bind(op.dest, result)


_STARTS = {"add": -0.0, "mul": 1.0}
_KINDS = {
    "add": ("add", "add"),
    "mul": ("mul", "mul"),
    "and": ("and", "and"),
    "or": ("or", "or"),
    "xor": ("xor", "xor"),
    "minsi": ("smin", "llvm.smin"),
    "minui": ("umin", "llvm.umin"),
    "maxsi": ("smax", "llvm.smax"),
    "maxui": ("umax", "llvm.umax"),
    "minnumf": ("fmin", "llvm.minnum"),
    "maxnumf": ("fmax", "llvm.maxnum"),
    "minimumf": ("fminimum", "llvm.minimum"),
    "maximumf": ("fmaximum", "llvm.maximum"),
}
"""LLVM's reduction of each kind, and what combines its result with another number."""


def _shuffle(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.ShuffleOp)
    if op.v1.type != op.v2.type:
        raise UnsupportedType(f"'{op.name}' is not there for '{op.v1.type}' with '{op.v2.type}'")
    lanes = [int(lane) for lane in op.mask.get_values()]
    mask = ", ".join(f"i32 {'poison' if lane < 0 else lane}" for lane in lanes)
    operands = f"{body.typed(op.v1)}, {body.typed(op.v2)}"
    body.set_frozen(op.result, f"shufflevector {operands}, <{len(lanes)} x i32> <{mask}>")


def _load(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.LoadOp)
    address, alignment = _lanes_at(body, op, op.base, op.indices, op.result.type)
    set_ = body.set_frozen if may_be_undefined(op.base) else body.set
    type_ = llvm_type(op.result.type)
    set_(op.result, f"load {type_}, ptr {address}, align {alignment}{IS_ELEMENT}")


def _store(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.StoreOp)
    address, alignment = _lanes_at(body, op, op.base, op.indices, op.vector.type)
    body.emit(f"store {body.typed(op.vector)}, ptr {address}, align {alignment}{IS_ELEMENT}")


def _transfer_read(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.TransferReadOp)
    type_ = _vector(op.result.type)
    _check_transfer(op, op.permutation_map.data, type_)
    address, alignment = _lanes_at(body, op, op.source, op.indices, type_)
    text = llvm_type(type_)
    padding = _in_all_lanes(body, op.padding.type, body.name(op.padding), type_.get_shape()[0])
    given = [("ptr", address), ("i32", str(alignment))]
    mask = _mask(body, op, type_, op.mask)
    name = f"llvm.masked.load.{type_suffix(type_)}.p0"
    body.bind(op.result, body.call(name, text, *given, mask, (text, padding)))


def _transfer_write(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, vector.TransferWriteOp)
    type_ = _vector(op.vector.type)
    _check_transfer(op, op.permutation_map.data, type_)
    address, alignment = _lanes_at(body, op, op.source, op.indices, type_)
    given = [body.argument(op.vector), ("ptr", address), ("i32", str(alignment))]
    mask = _mask(body, op, type_, op.mask)
    body.call(f"llvm.masked.store.{type_suffix(type_)}.p0", "void", *given, mask)


Transfer: TypeAlias = vector.TransferReadOp | vector.TransferWriteOp


def _check_transfer(op: Transfer, map_: AffineMap, type_: VectorType) -> None:
    is_line = map_.results == (AffineDimExpr(map_.num_dims - 1),)
    if not isinstance(op.source.type, MemRefType) or len(type_.get_shape()) != 1 or not is_line:
        fail(op, f"'{op.name}' can be compiled for lines of buffers only")


def _mask(body: FunctionBody, op: Transfer, type_: VectorType, given: SSAValue | None) -> Argument:
    """Which lanes are in the buffer, and wanted."""
    assert isinstance(op.source.type, MemRefType)
    [count] = type_.get_shape()
    numbers, truths = f"<{count} x i64>", f"<{count} x i1>"
    size = layout_of(body, op.source, op).sizes[-1]
    left = body.value(f"sub i64 {size}, {body.name(op.indices[-1])}")
    room = _in_all_lanes(body, IndexType(), left, count)
    lanes = ", ".join(f"i64 {lane}" for lane in range(count))
    mask = body.value(f"icmp slt {numbers} <{lanes}>, {room}")
    if given is not None:
        mask = body.value(f"and {truths} {mask}, {body.name(given)}")
    return truths, mask


def _lanes_at(
    body: FunctionBody,
    op: Operation,
    buffer: SSAValue,
    indices: Sequence[SSAValue],
    type_: Attribute,
) -> tuple[str, int]:
    """Where the lanes of a vector are in a buffer, and how they are aligned."""
    lanes, held = _vector(type_), buffer_type(buffer, op)
    element = lanes.element_type
    bits = element.bitwidth if isinstance(element, IntegerType | AnyFloat) else 64
    if len(lanes.get_shape()) != 1 or bits % 8 != 0:
        raise UnsupportedType(f"'{lanes}' cannot be where '{held}' has its elements")
    strides = held.get_strides()
    if not held.get_shape() or strides is None or strides[-1] != 1:
        raise UnsupportedType(f"the last dimension of '{held}' is not known to be contiguous")
    return element_address(body, op, buffer, indices), bits // 8


LOWERINGS: dict[str, Lowering] = {
    PrintOp.name: _print,
    SplatOp.name: _broadcast,
    vector.BroadcastOp.name: _broadcast,
    vector.ExtractOp.name: _extract,
    vector.InsertOp.name: _insert,
    vector.LoadOp.name: _load,
    vector.StoreOp.name: _store,
    vector.TransferReadOp.name: _transfer_read,
    vector.TransferWriteOp.name: _transfer_write,
    **in_one_line(
        {
            vector.BitcastOp.name: _bitcast,
            vector.FMAOp.name: _fma,
            vector.ReductionOp.name: _reduction,
            vector.ShuffleOp.name: _shuffle,
        }
    ),
}
