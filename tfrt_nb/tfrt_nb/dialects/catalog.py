"""Look up operations by name, or by a similar name.

Three kinds of operations exist: those that have their own class (control flow), those that have a
signature, and all others, which are accepted as written. The class of an operation of the last two
kinds is created when a program first uses the operation.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import import_module
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect, Operation, OpTraits
from xdsl.traits import OpTrait

from tfrt_nb.dialects import control_flow
from tfrt_nb.dialects.kernel_op import kernel_op
from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.scalars import FAMILIES, Family

HOST_DIALECTS = frozenset(
    name.partition(".")[0] for name in (*SIGNATURES, *(op.name for op in control_flow.OPERATIONS))
) - {"demo"}
"""The dialects of host programs, except `demo`."""


def is_kernel(op: Operation) -> bool:
    """Return whether an operation is in a dialect of host programs."""
    return op.name.partition(".")[0] in HOST_DIALECTS


class UnknownOp(Operation):
    """An operation that is in no table. It keeps its own name: `"golden.op"(...)`.

    Nothing is known about such an operation, so a block may also end with it.
    """

    name = "builtin.unknown"
    traits = OpTraits(lambda: ())

    @classmethod
    def has_trait(
        cls, trait: type[OpTrait] | OpTrait, *, value_if_unregistered: bool = True
    ) -> bool:
        return value_if_unregistered

    @classmethod
    def dialect_name(cls) -> str:
        """Return the part of the name before the dot, or "" for a name without a dot.

        MLIR also accepts names without a dot.
        """
        dialect, dot, _ = cls.name.partition(".")
        return dialect if dot else ""


_CLASSES: dict[str, type[Operation]] = {op.name: op for op in control_flow.OPERATIONS}


def host_operation(name: str) -> type[Operation] | None:
    """Return the class of a host program's operation, or None if no table has `name`."""
    operation = _CLASSES.get(name)
    if operation is None and name in SIGNATURES:
        operation = _CLASSES[name] = kernel_op(SIGNATURES[name])
    return operation


@functools.cache
def unknown_operation(name: str) -> type[Operation]:
    """Return the class for an operation that is in no table."""
    return type("UnknownOp", (UnknownOp,), {"name": name})


class HostContext(Context):
    """An xDSL context with the dialects of host programs, of async programs, and of MLIR."""

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        return (
            host_operation(name)
            or self.get_registered_op(name, dialect_stack)
            or unknown_operation(name)
        )

    def get_registered_op(self, name: str, dialect_stack: Sequence[str]) -> type[Operation] | None:
        """Return the class of an operation of xDSL's dialects or the async dialect."""
        # Without this, xDSL would return a class for unregistered operations.
        allow_unregistered, self.allow_unregistered = self.allow_unregistered, False
        try:
            return super().get_optional_op(name, dialect_stack=dialect_stack)
        finally:
            self.allow_unregistered = allow_unregistered


def new_context() -> HostContext:
    """Return a context for parsing, which loads a dialect when the source first names it."""
    context = HostContext(allow_unregistered=True)
    context.load_dialect(Builtin)
    register_upstream(context)
    return context


def register_upstream(context: Context) -> None:
    """Register the dialects of async programs.

    The context loads a dialect when a program first names it.
    """
    for name, factory in _LAZY_DIALECTS.items():
        context.register_dialect(name, factory)


def _lazily(module: str, name: str) -> Callable[[], Dialect]:
    """Return a function that imports `module` when a program first names its dialect.

    Most host programs need none of these dialects.
    """
    return lambda: cast(Dialect, getattr(import_module(module), name))


_LAZY_DIALECTS = {
    "arith": _lazily("tfrt_nb.dialects.async_.upstream.arithmetic", "Arith"),
    "async": _lazily("tfrt_nb.dialects.async_.dialect", "Async"),
    "cf": _lazily("tfrt_nb.dialects.async_.upstream.branches", "Cf"),
    "func": _lazily("tfrt_nb.dialects.async_.upstream.branches", "Func"),
    "linalg": _lazily("tfrt_nb.dialects.async_.upstream.linear", "Linalg"),
    "math": _lazily("xdsl.dialects.math", "Math"),
    "memref": _lazily("tfrt_nb.dialects.async_.upstream.buffers", "MemRef"),
    "scf": _lazily("tfrt_nb.dialects.async_.upstream.loops", "Scf"),
    "ub": _lazily("xdsl.dialects.ub", "UB"),
    "vector": _lazily("tfrt_nb.dialects.async_.upstream.printing", "Vector"),
}

UPSTREAM_DIALECTS = frozenset({"builtin", *_LAZY_DIALECTS})
"""The dialects whose operations are defined by xDSL or by `async_`."""


# Advice about names that do not exist here: names from elsewhere, misspelled names, and MLIR's
# operations

INSTEAD = {
    "async.invoke": "async.run { ... async.yield }",
    "scf.parallel_for": "scf.parallel (%i) = (%first) to (%end) step (%step) { ... }",
    "scf.forall": "scf.parallel (%i) = (%first) to (%end) step (%step) { ... }",
    "tfrt.constant.str": 'tfrt_test.get_string {value = "..."}',
    "tfrt.constant.string": 'tfrt_test.get_string {value = "..."}',
    "tfrt.print.string": "tfrt_test.print_string %text, %chain",
}
"""Maps an operation that does not exist here to the code that replaces it."""
NOT_HERE = {
    "affine": "lower it first, with 'mlir-opt -lower-affine', or write 'scf.for', 'memref.load', "
    "and 'memref.store'",
    "bufferization": "bufferize first, with 'mlir-opt -one-shot-bufferize'",
    "complex": "lower it first, with 'mlir-opt -convert-complex-to-standard'",
    "gpu": "write 'scf.parallel': programs run on the CPU",
    "index": "write the operation of 'arith' with the type 'index', as in 'arith.addi %a, %b : "
    "index'",
    "llvm": "write the program as it was before it was lowered, with 'func', 'scf', 'cf', 'arith', "
    "and 'memref'",
    "omp": "write 'scf.parallel' instead",
    "tensor": "bufferize first, with 'mlir-opt -one-shot-bufferize', or write 'memref.load' and "
    "'memref.store'",
}
"""Maps an MLIR dialect that does not exist here to advice."""


def similar_operations(name: str) -> list[str]:
    """Return the operations that the author of `name` may have meant.

    Users' kernels come first, followed by the other operations, the likeliest first.
    """
    if own := difflib.get_close_matches(name, list(HOOKS.kernel_names()), n=2, cutoff=0.75):
        return own
    dialect, _, stem = name.partition(".")
    if upstream := _LAZY_DIALECTS.get(dialect):
        if name in INSTEAD:
            return [INSTEAD[name].partition(" ")[0]]
        stems = [op.name.partition(".")[2] for op in upstream().operations]
        return [f"{dialect}.{near}" for near in difflib.get_close_matches(stem, stems, n=2)]
    if not stem and any(op.name == f"async.{name}" for op in _LAZY_DIALECTS["async"]().operations):
        return [f"async.{name}"]
    return _similar(name, {*SIGNATURES, *_CLASSES})


def _words(family: Family) -> tuple[str, ...]:
    return (*family.aliases, *family.numpy, *family.arith)


_OTHERS = {
    "const": ("constant",),
    "constant": ("constant",),
    "for": ("repeat",),
    "println": ("print",),
} | {
    alias: tuple(family.name for family in FAMILIES if alias in _words(family))
    for alias in itertools.chain.from_iterable(map(_words, FAMILIES))
}
"""Other names for the stems of `tfrt.*` operations.

A name can have several meanings: the type decides whether a product is `mul` or `multiply`.
"""

_NAME = re.compile(
    r"(?P<dialect>\w+)\.(?P<stem>.+?)"
    r"(?:\.(?P<type>(?:u?i|bf|f|complex|u?int|float)\d\w*(?:\.\w+)?|int|float|double|bool|str))?"
)
_MEANT = {None: "i32", "int": "i32", "float": "f32", "double": "f64", "bool": "i1"}
"""The types that other languages' type names denote."""
_LIKENESS = 0.7


def _similar(name: str, known: Collection[str]) -> list[str]:
    """Return the names in `known` that the author may have meant by `name`, the likeliest first.

    Two names are similar if both their dialects and their stems are. A stem does not include the
    type, because many names share its few letters. Among similar names, those with the same type
    come first. A name without a type counts as `i32`. The kernels of sync functions come last,
    because their names differ from those of other kernels only by an `_s`.
    """
    dialects = {one.partition(".")[0] for one in known}
    written = name if name.partition(".")[0] in dialects else _in_a_dialect(name, dialects)
    match = _NAME.fullmatch(written)
    if match is None:
        return []
    names = defaultdict[str, list[str]](list)
    for one, stem in _stems(match["dialect"], sorted(known)):
        names[stem].append(one)
    near = difflib.get_close_matches(match["stem"].lower(), names, n=3, cutoff=_LIKENESS)
    near += [one for one in names if not near and one.startswith(f"{match['stem']}_")]
    wanted = _MEANT.get(match["type"], match["type"])

    def unlikeliness(found: tuple[float, str]) -> tuple[bool, float, bool, float, str]:
        likeness, one = found
        parts = _NAME.fullmatch(one)
        type_text = parts["type"] or "" if parts else ""
        types_likeness = difflib.SequenceMatcher(None, wanted, type_text).ratio()
        return "_s." in one, -likeness, type_text[:1] != wanted[0], -types_likeness, one

    found = [
        (difflib.SequenceMatcher(None, match["stem"], stem).ratio(), one)
        for stem in near
        for one in names[stem]
    ]
    return list(dict.fromkeys(one for _, one in sorted(found, key=unlikeliness) if one != name))


def _in_a_dialect(name: str, dialects: Collection[str]) -> str:
    """Return `name` with the dialect that the author may have meant.

    A name without a dialect is assigned to `tfrt`.
    """
    dialect, _, rest = name.partition(".")
    near = difflib.get_close_matches(dialect, dialects, n=1, cutoff=_LIKENESS)
    return f"{near[0]}.{rest}" if near else f"tfrt.{name}"


def _stems(dialect: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each known operation of the dialect with its stem.

    The stem is the name without dialect and type. An operation of `tfrt` is also yielded with each
    other name for its stem.
    """
    others = defaultdict[str, list[str]](list)
    for other, meanings in _OTHERS.items():
        for meaning in meanings:
            others[meaning].append(other)
    for one in known:
        match = _NAME.fullmatch(one)
        if match is not None and match["dialect"] == dialect:
            yield one, match["stem"]
            for other in others[match["stem"]] if dialect == "tfrt" else ():
                yield one, other


def in_host_programs(name: str, type_text: str) -> str | None:
    """Return the kernel that does the same as an MLIR operation on values of a type, or None."""
    dialect, _, rest = name.partition(".")
    if dialect != "arith" or rest not in _OTHERS:
        return "tfrt.call" if name == "func.call" else None
    found = f"tfrt.{_OTHERS[rest][0]}.{type_text}"
    return found if found in SIGNATURES and re.fullmatch(r"\w+", type_text) else None
