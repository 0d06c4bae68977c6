"""Which operations go away when nobody uses their results."""

from __future__ import annotations

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
    return op.name == "memref.load"


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


def has_recursive_effects(op: Operation) -> bool:
    return op.name in _RECURSIVE


def _is_harmless(op: Operation) -> bool:
    pending = [op]
    while pending:
        one = pending.pop()
        if one.name in _RECURSIVE:
            pending += [nested for r in one.regions for block in r.blocks for nested in block.ops]
        elif not is_pure(one) and one.name not in _HARMLESS:
            return False
    return True
