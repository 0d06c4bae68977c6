"""What a file without its optional sections leaves open, from the signatures of known operations.

Also the names of attributes that hold functions, which no file has.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.ir import Attribute

from tfrt_nb.convert.attributes import dtype_of
from tfrt_nb.dialects.catalog import SIGNATURES, host_operation
from tfrt_nb.dialects.control_flow import CaseOp
from tfrt_nb.dialects.control_flow.structure import CallingOp, ControlFlowOp
from tfrt_nb.dialects.types import CHAIN, WORDS
from tfrt_runtime.bef.encoding import ARRAY_FLAG, AttributeKind, DType
from tfrt_runtime.bef.records import BefKernel


def function_attributes(kernel_name: str, functions: Sequence[str]) -> dict[str, Attribute]:
    """The attributes by which an operation refers to `functions`."""
    symbols: list[Attribute] = [SymbolRefAttr(name) for name in functions]
    operation = host_operation(kernel_name)
    if operation is not None and issubclass(operation, CaseOp):
        (name,) = operation.callees
        return {name: ArrayAttr(symbols)}
    if operation is not None and issubclass(operation, CallingOp):
        names: Sequence[str] = operation.callees
        if len(names) == len(symbols):
            return dict(zip(names, symbols, strict=True))
    if len(symbols) == 1:
        return {"callee": symbols[0]}
    # Kernels get their functions in the order of these names.
    width = len(str(len(symbols) - 1))
    return {f"callee_{index:0{width}}": symbol for index, symbol in enumerate(symbols)}


_SETTINGS = {
    "duration_secs": "i32",
    "max_count": "i32",
    "name": "string",
    "num_warmup_runs": "i32",
}

# Type words of the attributes of control flow, which has no signatures.
_CONTROL_FLOW = {
    "tfrt.while": {"parallel_iterations": "i64"},
    "tfrt_test.benchmark": _SETTINGS,
    "tfrt_test.sync_benchmark": {n: word for n, word in _SETTINGS.items() if n != "name"},
}
_GIVES_CHAIN = frozenset(
    {
        "tfrt.parallel_for.i32",
        "tfrt.parallel_call.i32",
        "tfrt_test.benchmark",
        "tfrt_test.sync_benchmark",
    }
)


def settings(operation_name: str) -> frozenset[str]:
    """The attributes without which an operation of control flow has no short form."""
    return frozenset(_CONTROL_FLOW.get(operation_name, ()))


def attribute_names(kernel: BefKernel) -> tuple[str, ...]:
    """Names for the attributes of `kernel`, in order."""
    words = _attribute_words(kernel)
    if words is not None:
        return tuple(words)
    width = len(str(len(kernel.attributes) - 1))
    return tuple(f"attr{index:0{width}}" for index in range(len(kernel.attributes)))


def attribute_kinds(kernel: BefKernel) -> tuple[int | None, ...]:
    """What the attributes of `kernel` are; None where that is unknown."""
    words = _attribute_words(kernel)
    if words is None:
        return (None,) * len(kernel.attributes)
    return tuple(map(_kind, words.values()))


def _attribute_words(kernel: BefKernel) -> dict[str, str] | None:
    """Name and type word of each attribute in the order of a file; None if that is not known."""
    signature = SIGNATURES.get(kernel.name)
    known = _CONTROL_FLOW.get(kernel.name) if signature is None else signature.attributes
    if known is None:
        return None
    # Words of attributes that may be left out end in a question mark.
    words = {name: word for name, word in sorted(known.items()) if word[-1] != "?"}
    return words if len(words) == len(kernel.attributes) else None


_KINDS: dict[str, int] = {
    "string": DType.STRING,
    "type": AttributeKind.TYPE,
    "shape": AttributeKind.SHAPE,
    "dense": AttributeKind.DENSE,
    "aggregate": AttributeKind.AGGREGATE,
}


def _kind(word: str) -> int | None:
    if word in _KINDS:
        return _KINDS[word]
    element = word.removeprefix("array.")
    dtype = dtype_of(WORDS[element]) if element in WORDS else None
    if dtype is None or element == word:
        return dtype
    return ARRAY_FLAG | dtype


def result_types(
    kernel: BefKernel, arguments: Sequence[Attribute], callee_results: Sequence[Attribute]
) -> Sequence[Attribute] | None:
    """The types of the results of `kernel`, None if its operation does not fix them.

    `arguments` are the types of what it takes, `callee_results` those of the first function that it refers to.
    """
    if kernel.name in _GIVES_CHAIN:
        types: Sequence[Attribute] = [CHAIN]
    elif (operation := host_operation(kernel.name)) is None:
        return None
    elif issubclass(operation, ControlFlowOp):
        # A loop's body has one more, the condition.
        types = callee_results[: len(kernel.results)]
    else:
        signature = SIGNATURES[kernel.name]
        is_of_chains = bool(arguments) and all(type_ == CHAIN for type_ in arguments)
        words = (is_of_chains and signature.other_results) or signature.results
        types = [] if "any" in words else [WORDS[word] for word in words]
    return types if len(types) == len(kernel.results) else None
