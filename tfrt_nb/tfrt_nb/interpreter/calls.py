"""Translate calls: of the program's functions, of functions that print, and of Python functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, Signedness, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.printing import PrintOp
from tfrt_nb.interpreter.memory import descriptor_words, is_float, width_of
from tfrt_nb.interpreter.numbers import Lowering
from tfrt_nb.interpreter.source import FunctionSource
from tfrt_nb.passes.control_flow import fail
from tfrt_runtime.async_runtime.externals import SCALARS, PythonExternal, address_of
from tfrt_runtime.async_runtime.printing import BUFFER_PRINTERS, MAX_DIMENSIONS
from tfrt_runtime.host.structs import new_words

_WORD = 8


def _call(body: FunctionSource, op: func.CallOp) -> None:
    module, symbol = body.module, op.callee.root_reference.data
    operands = [*map(body.name, op.arguments)]
    if symbol in module.functions:
        if module.counts_calls:
            operands.append(body.depth)
        call = f"{module.function(symbol)}({', '.join(operands)})"
    elif symbol in BUFFER_PRINTERS:
        [buffer] = op.arguments
        if not isinstance(buffer.type, UnrankedMemRefType):
            check_rank(buffer, op)
        printer = ctypes.CFUNCTYPE(None, ctypes.c_int64)(module.addresses[symbol])
        call = f"{body.keep(_print_buffer)}({body.keep(printer)}, {operands[0]})"
    else:
        call = f"{body.keep(_external(body, op, symbol))}({', '.join(operands)})"
    names = [*map(body.name, op.res)]
    body.line(f"{', '.join(names)} = {call}" if names else call)


def _print_buffer(printer: Callable[[int], None], buffer: Any) -> None:
    words = (ctypes.c_int64 * (4 + 2 * MAX_DIMENSIONS))(*descriptor_words(buffer, None))
    printer(ctypes.addressof(words))


def check_rank(buffer: SSAValue, op: Operation) -> None:
    """Reject a buffer that has more dimensions than a buffer of unknown rank may have."""
    assert isinstance(buffer.type, MemRefType)
    if (rank := len(buffer.type.get_shape())) > MAX_DIMENSIONS:
        fail(
            op,
            f"a buffer of unknown rank can have at most {MAX_DIMENSIONS} dimensions, but this one "
            f"has {rank}",
        )


def _external(body: FunctionSource, op: func.CallOp, symbol: str) -> Callable[..., Any]:
    known = body.module.externals.get(symbol)
    if known is not None and known.address is None:
        return _python_function(known)
    name = symbol if known is None else known.symbol
    address = body.module.addresses.get(name) or address_of(name)
    types = (value.type for value in (*op.res, *op.arguments))
    kinds: list[Any] = [
        SCALARS["i64" if isinstance(type_, IndexType) else str(type_)] for type_ in types
    ]
    result = kinds.pop(0) if op.res else None
    assert address is not None
    return ctypes.CFUNCTYPE(result, *kinds)(address)


def _python_function(known: PythonExternal) -> Callable[..., Any]:
    """Return a function that calls a registered Python function.

    It returns whether the call succeeded, followed by the results.
    """
    # PYFUNCTYPE keeps the GIL, which the Python function would have to acquire again.
    called = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address_of(known.symbol) or 0)
    size = _WORD * max(len(known.arguments), len(known.results), 1)

    def call(*operands: Any) -> tuple[Any, ...] | int:
        words = new_words(size)
        address = ctypes.addressof(words)
        for index, (word, operand) in enumerate(zip(known.arguments, operands, strict=True)):
            SCALARS[word].from_address(address + _WORD * index).value = operand
        done = called(address)
        results = [
            SCALARS[word].from_address(address + _WORD * index).value
            for index, word in enumerate(known.results)
        ]
        return (done, *results) if results else done

    return call


def _print(body: FunctionSource, op: PrintOp) -> None:
    """Print a number and a newline, for `vector.print`."""
    type_, value = op.source.type, body.name(op.source)
    width = width_of(type_)
    # MLIR prints an i1 as 0 or 1.
    is_signed = (
        width > 1
        and isinstance(type_, IntegerType)
        and type_.signedness.data is not Signedness.UNSIGNED
    )
    kind: Any = ctypes.c_int64
    if is_signed:
        name = "printI64"
    elif width:
        name, value = "printU64", f"{value} & {(1 << width) - 1}"
    else:
        name, kind = "printF64", ctypes.c_double
    if width > 64 or not (width or is_float(type_)):
        fail(op, f"'{type_}' cannot be printed")
    addresses = body.module.addresses
    body.line(f"{body.keep(ctypes.CFUNCTYPE(None, kind)(addresses[name]))}({value})")
    body.line(f"{body.keep(ctypes.CFUNCTYPE(None)(addresses['printNewline']))}()")


LOWERINGS: dict[str, Lowering] = {func.CallOp.name: _call, PrintOp.name: _print}
