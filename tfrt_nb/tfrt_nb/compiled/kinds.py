"""Which functions of a module the executor runs, and which become machine code.

    func.func @a() -> i32 {                      func.func @b() -> i32 {
      %x = tfrt.constant.i32 1                     %x = arith.constant 1 : i32
      tfrt.return %x : i32                         return %x : i32
    }                                            }

@a is a host program: each of its operations is a kernel, and it becomes BEF.  @b is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.catalog import UnknownOp, is_kernel
from tfrt_nb.dialects.control_flow import NATIVE, ReturnOp
from tfrt_nb.source.spans import span_of
from tfrt_runtime.diagnostics import TfrtError, error, note

# By name: most programs need the async dialect as little as xDSL's.
_FUNCTION, _ASYNC_FUNCTION = "func.func", "async.func"
OF_CODE = frozenset({_FUNCTION, _ASYNC_FUNCTION, "memref.global", "llvm.func"})
"""What a module of compiled functions has, by name."""


@dataclass(frozen=True)
class Halves:
    """A module by what becomes of its functions.  Either half may have none.

    Where all functions are of one kind, its half is the module itself.
    """

    host: ModuleOp
    compiled: ModuleOp


def split(module: ModuleOp) -> Halves:
    """The two halves of a module; see `is_compiled` for which function goes where.

    Beside compiled functions, what is declared and the buffers of the module (`memref.global`) are
    theirs, too; not so what only host programs refer to, or call a native kernel.

    Raises:
        TfrtError: a compiled function calls a host function.
    """
    definitions = list(module.ops)
    compiled = {op for op in definitions if is_compiled(op)}
    if not compiled:
        return Halves(module, ModuleOp([]))
    mentioned = {name for op in compiled for name in symbols_in(op)}
    hosts = {_name(op): op for op in definitions if _is_host_function(op)}
    if not mentioned.isdisjoint(hosts):
        _refuse_host_functions(compiled, hosts)
    others = {name for op in hosts.values() for name in symbols_in(op)}
    compiled |= {op for op in definitions if _belongs_to_code(op, mentioned, others - mentioned)}
    if len(compiled) == len(definitions):
        return Halves(ModuleOp([]), module)
    places = {index for index, op in enumerate(definitions) if op in compiled}
    of_host = set(range(len(definitions))) - places
    return Halves(_only(module, of_host), _only(module, places))


def is_compiled(op: Operation) -> bool:
    """Whether an operation of a module is a function with a body that becomes machine code.

    An `async.func` does.  A `func.func` does when each of its blocks ends in `return` or in a branch,
    and no operation in it is of a dialect of host programs.  A function with such kernels is a host
    program even where it lacks its `tfrt.return`, so that the error names what it lacks.
    """
    if op.name not in (_FUNCTION, _ASYNC_FUNCTION) or not op.regions[0].blocks:
        return False
    if op.name == _ASYNC_FUNCTION:
        return True
    ends = [block.last_op for block in op.regions[0].blocks]
    return all(map(_leaves, ends)) and not any(is_kernel(nested) for nested in op.walk())


def _leaves(end: Operation | None) -> bool:
    """Whether a block's last operation is a terminator, and not an unknown one."""
    return (
        end is not None
        and not isinstance(end, UnknownOp | ReturnOp)
        and end.has_trait(IsTerminator)
    )


def symbols_in(op: Operation) -> Iterator[str]:
    """The names of the functions and buffers that an operation and what is in it refer to."""
    for nested in op.walk():
        yield from _symbols_of(nested)


def _symbols_of(op: Operation) -> Iterator[str]:
    for attribute in (*op.properties.values(), *op.attributes.values()):
        if isinstance(attribute, SymbolRefAttr):
            yield attribute.root_reference.data


def _refuse_host_functions(compiled: Iterable[Operation], hosts: Mapping[str, Operation]) -> None:
    advice = (
        "it has kernels or a 'tfrt.return': leave these out and end it with 'return', or write kernels and"
        " 'tfrt.call' in the function that calls it"
    )
    found = [
        error(
            f"'{op.name}' op '{name}' is a host program, which compiled functions cannot call",
            span_of(op),
            [note(advice, span_of(hosts[name]))],
        )
        for function in compiled
        for op in function.walk()
        if op is not function
        for name in _symbols_of(op)
        if name in hosts
    ]
    if found:
        raise TfrtError(*found)


def _name(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def _is_host_function(op: Operation) -> bool:
    return op.name == _FUNCTION and bool(op.regions[0].blocks) and not is_compiled(op)


def _belongs_to_code(op: Operation, mentioned: set[str], foreign: set[str]) -> bool:
    if op.name == _FUNCTION and not op.regions[0].blocks:
        symbol = _name(op)
        return symbol in mentioned or not (symbol in foreign or NATIVE in op.attributes)
    return op.name in OF_CODE - {_FUNCTION}


def _only(module: ModuleOp, places: set[int]) -> ModuleOp:
    """A copy of the module with the operations at these places."""
    copy = module.clone()
    for index, op in enumerate(list(copy.ops)):
        if index not in places:
            copy.body.block.erase_op(op, safe_erase=False)
    return copy
