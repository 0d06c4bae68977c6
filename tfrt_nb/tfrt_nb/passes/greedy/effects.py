"""Which operations go away when nobody uses their results."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

_PURE_DIALECTS = frozenset(("arith", "index", "math", "ub"))
_PURE = frozenset(
    (
        "async.create_group",
        "async.yield",
        "builtin.unrealized_conversion_cast",
        "cf.br",
        "cf.cond_br",
        "cf.switch",
        "func.constant",
        "func.return",
        "async.return",
        "memref.alloca_scope.return",
        "memref.cast",
        "memref.collapse_shape",
        "memref.dim",
        "memref.expand_shape",
        "memref.extract_aligned_pointer_as_index",
        "memref.extract_strided_metadata",
        "memref.get_global",
        "memref.memory_space_cast",
        "memref.rank",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.transpose",
        "memref.view",
        "scf.condition",
        "scf.forall.in_parallel",
        "scf.reduce.return",
        "scf.yield",
        "tfrt.merge.chains",
        "tfrt.new.chain",
    )
)
_HARMLESS = frozenset(("memref.alloc", "memref.alloca", "memref.load"))
"""What reads, or makes something that is gone when nobody has it."""
_WRITING_NOTHING = _HARMLESS | {"memref.dealloc"}
_RECURSIVE = frozenset(
    (
        "memref.alloca_scope",
        "scf.for",
        "scf.forall",
        "scf.if",
        "scf.index_switch",
        "scf.parallel",
        "scf.reduce",
        "scf.while",
    )
)
"""What does nothing but what the operations inside do."""
_IMPURE = frozenset(("ub.unreachable",))
_CONSTANT_OF_HOST_PROGRAMS = "tfrt.constant."


def is_pure(op: Operation) -> bool:
    """Whether the operation neither reads nor changes anything but its operands and results."""
    name = op.name
    if name in _PURE:
        return True
    dialect, _, _ = name.partition(".")
    return (dialect in _PURE_DIALECTS and name not in _IMPURE) or name.startswith(
        _CONSTANT_OF_HOST_PROGRAMS
    )


def only_reads(op: Operation) -> bool:
    """Whether the operation gives the same again while nothing is written."""
    return op.name == "memref.load"


def has_no_effect(op: Operation) -> bool:
    """Whether neither the operation nor what is in it reads or changes anything."""
    return all(is_pure(one) for one in _that_do_something(op))


def may_write(op: Operation) -> bool:
    """Whether the operation, or one in it, may write to a buffer."""
    return any(
        not is_pure(one) and one.name not in _WRITING_NOTHING for one in _that_do_something(op)
    )


def _that_do_something(op: Operation) -> Iterator[Operation]:
    """The operation, or those in it if it does nothing but what they do."""
    if op.name not in _RECURSIVE:
        yield op
        return
    for region in op.regions:
        for block in region.blocks:
            for nested in block.ops:
                yield from _that_do_something(nested)


def would_be_dead(op: Operation) -> bool:
    """Whether the operation may go away as soon as nobody uses its results."""
    return not is_terminator(op) and _is_harmless(op)


def is_dead(op: Operation) -> bool:
    """Whether the operation may go away."""
    return all(result.first_use is None for result in op.results) and would_be_dead(op)


def is_terminator(op: Operation) -> bool:
    """Whether the operation ends its block."""
    return bool(op.successors) or op.name in _TERMINATORS


_TERMINATORS = frozenset(
    (
        "async.return",
        "async.yield",
        "func.return",
        "memref.alloca_scope.return",
        "scf.condition",
        "scf.forall.in_parallel",
        "scf.reduce",
        "scf.reduce.return",
        "scf.yield",
        "tfrt.return",
        "ub.unreachable",
    )
)


def _is_harmless(op: Operation) -> bool:
    return all(is_pure(one) or one.name in _HARMLESS for one in _that_do_something(op))
