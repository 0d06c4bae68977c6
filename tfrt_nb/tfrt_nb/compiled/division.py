"""Divide a module into host functions and compiled functions, and put both in one BEF file.

    func.func @a() -> i32 {                      func.func @b() -> i32 {
      %x = tfrt.constant.i32 1                     %x = arith.constant 1 : i32
      tfrt.return %x : i32                         return %x : i32
    }                                            }

@a is a host function: each of its operations is a kernel, and the function is stored in the BEF
format. @b is a compiled function. Its MLIR text is in a section of the file that TFRT does not
know. The machine that runs the program compiles this text to machine code. Host functions see the
compiled functions that they call as native functions.

Most programs have no compiled functions. Therefore, the modules for compiled functions are imported
only when a program has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, UnitAttr
from xdsl.ir import Operation, Region
from xdsl.traits import IsTerminator

from tfrt_nb.compiled.module import OF_CODE, parallel_for_line
from tfrt_nb.dialects.catalog import UnknownOp, is_kernel
from tfrt_nb.dialects.control_flow import NATIVE, JitOp, ReturnOp
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.source.spans import source_span, span_of
from tfrt_runtime.bef.records import BefModule
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError, error, note

if TYPE_CHECKING:
    from xdsl.dialects import func

# Use names instead of classes, because most programs need neither the async dialect nor xDSL's
# dialects.
_FUNCTION, _ASYNC_FUNCTION = "func.func", "async.func"
_JIT_SPELLINGS = ("tfrt.jit", "hex.jit", "tfrt.run", "hex.run")


def divide(module: ModuleOp) -> tuple[ModuleOp, ModuleOp | None]:
    """Return a module with the host functions, and one with the compiled functions, or None.

    The host functions declare the compiled functions that they call. Each region of a `tfrt.jit`
    becomes a function of the module.

    Raises:
        TfrtError: if such a region contains an operation that cannot be compiled, or if a compiled
            function calls a host function.
    """
    if _may_have_jit(module):
        from tfrt_nb.passes.outline_jit import outline_jit

        outline_jit(module)
    halves = split(module)
    if not halves.compiled.body.block.ops.first:
        return module, None
    _declare_compiled(halves)
    return halves.host, halves.compiled


def _may_have_jit(module: ModuleOp) -> bool:
    """Return whether the module may have a `tfrt.jit`.

    Searching the source is faster than walking the module.
    """
    span = source_span(module)
    if span is not None:
        return any(name in span.source.text for name in _JIT_SPELLINGS)
    return any(isinstance(op, JitOp) for op in module.walk())


def with_compiled(host: BefModule, compiled: ModuleOp, parallel_for: str | None = None) -> bytes:
    """Add the compiled functions to the file of host functions.

    `parallel_for` contains the options for splitting the compiled functions' parallel loops.
    """
    from tfrt_nb.convert.carried import compiled_text

    text = parallel_for_line(parallel_for) + compiled_text(compiled)
    return write_bef(replace(host, compiled=text))


@dataclass(frozen=True)
class Halves:
    """A module's host functions and its compiled functions. Either half may be empty.

    If all functions are of one kind, their half is the module itself.
    """

    host: ModuleOp
    compiled: ModuleOp


def split(module: ModuleOp) -> Halves:
    """Split a module into its two halves; see `is_compiled`.

    The compiled half also gets the declarations and the buffers of the module (`memref.global`). A
    declaration stays in the host half if only host functions refer to it, or if it represents a
    native kernel.

    Raises:
        TfrtError: if a compiled function calls a host function.
    """
    definitions = list(module.ops)
    compiled = {op for op in definitions if is_compiled(op)}
    if not compiled:
        return Halves(module, ModuleOp([]))
    mentioned = {name for op in compiled for name in symbols_in(op)}
    bodies = [op for op in definitions if op.name == _FUNCTION and op.regions[0].blocks]
    hosts = {symbol_name(op): op for op in bodies if op not in compiled}
    if not mentioned.isdisjoint(hosts):
        _refuse_host_functions(compiled, hosts)
    others = {name for op in hosts.values() for name in symbols_in(op)}
    compiled |= {op for op in definitions if _belongs_to_code(op, mentioned, others - mentioned)}
    if len(compiled) == len(definitions):
        return Halves(ModuleOp([]), module)
    places = {index for index, op in enumerate(definitions) if op in compiled}
    return Halves(_only(module, set(range(len(definitions))) - places), _only(module, places))


def is_compiled(op: Operation) -> bool:
    """Return whether `op` is a function whose body becomes machine code.

    Every `async.func` is compiled. A `func.func` is compiled if each of its blocks ends in `return`
    or a branch, and none of its operations is from a dialect of host programs. A function with such
    an operation is a host function even if its `tfrt.return` is missing, so that the error names
    the missing terminator.
    """
    if op.name not in (_FUNCTION, _ASYNC_FUNCTION) or not op.regions[0].blocks:
        return False
    if op.name == _ASYNC_FUNCTION:
        return True
    ends = [block.last_op for block in op.regions[0].blocks]
    return all(
        end is not None
        and not isinstance(end, UnknownOp | ReturnOp)
        and end.has_trait(IsTerminator)
        for end in ends
    ) and not any(map(is_kernel, op.walk()))


def symbols_in(op: Operation) -> Iterator[str]:
    """Yield the names of the functions and buffers to which an operation or its regions refer."""
    for nested in op.walk():
        yield from _symbols_of(nested)


def _symbols_of(op: Operation) -> Iterator[str]:
    for attribute in (*op.properties.values(), *op.attributes.values()):
        if isinstance(attribute, SymbolRefAttr):
            yield attribute.root_reference.data


def _refuse_host_functions(compiled: Iterable[Operation], hosts: Mapping[str, Operation]) -> None:
    advice = (
        "'@{0}' has kernels or a 'tfrt.return': remove them and end '@{0}' with 'return', or write "
        "its caller with kernels and 'tfrt.call'"
    )
    found = [
        error(
            f"'{op.name}' op '{name}' is a host program, which compiled functions cannot call",
            span_of(op),
            [note(advice.format(name), span_of(hosts[name]))],
        )
        for function in compiled
        for op in function.walk()
        if op is not function
        for name in _symbols_of(op)
        if name in hosts
    ]
    if found:
        raise TfrtError(*found)


def _belongs_to_code(op: Operation, mentioned: set[str], foreign: set[str]) -> bool:
    if op.name == _FUNCTION and not op.regions[0].blocks:
        symbol = symbol_name(op)
        return symbol in mentioned or not (symbol in foreign or NATIVE in op.attributes)
    return op.name in OF_CODE - {_FUNCTION}


def _only(module: ModuleOp, places: set[int]) -> ModuleOp:
    """Return a copy of the module that has only the operations at these positions."""
    copy = module.clone()
    # The operations of a copy have the same positions as the originals.
    for index, op in enumerate(list(copy.ops)):
        if index not in places:
            copy.body.block.erase_op(op, safe_erase=False)
    return copy


def _declare_compiled(halves: Halves) -> None:
    """In the host half, declare the compiled functions to which the half refers.

    A function that the half cannot call is not declared.
    """
    compiled = {
        symbol_name(op): op for op in halves.compiled.ops if op.name in (_FUNCTION, _ASYNC_FUNCTION)
    }
    for name in {name: None for op in halves.host.ops for name in symbols_in(op)}:
        if name in compiled:
            declaration = _declaration(compiled[name])
            if declaration is not None:
                halves.host.body.block.add_op(declaration)


def _declaration(function: Operation) -> func.FuncOp | None:
    """Return the declaration of a function, or None if the function cannot be called.

    An operation that refers to such a function is not a kernel, and is rejected later.
    """
    from xdsl.dialects import func

    from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
    from tfrt_nb.dialects.crossing import host_types

    assert isinstance(function, func.FuncOp | AsyncFuncOp)
    type_ = function.function_type
    inputs, outputs = host_types(type_.inputs.data), host_types(type_.outputs.data)
    if inputs is None or outputs is None:
        return None
    declaration = func.FuncOp(function.sym_name.data, (inputs, outputs), Region(), "private")
    declaration.attributes[NATIVE] = UnitAttr()
    declaration.location = function.location
    return declaration
