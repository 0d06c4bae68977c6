"""Passes in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.passes.buffers.check_buffers import CheckBuffers
from tfrt_nb.passes.buffers.convert_linalg_to_parallel_loops import ConvertLinalgToParallelLoops
from tfrt_nb.passes.buffers.expand_buffers import ExpandBuffers
from tfrt_nb.passes.buffers.guard_buffers import GuardBuffers
from tfrt_nb.passes.counting.async_runtime_ref_counting import AsyncRuntimeRefCounting
from tfrt_nb.passes.counting.async_runtime_ref_counting_opt import AsyncRuntimeRefCountingOpt
from tfrt_nb.passes.counting.drop_on_error_paths import DropOnErrorPaths
from tfrt_nb.passes.counting.mark_explicit_counts import MarkExplicitCounts
from tfrt_nb.passes.lowering.async_func_to_async_runtime import AsyncFuncToAsyncRuntime
from tfrt_nb.passes.lowering.async_to_async_runtime import AsyncToAsyncRuntime
from tfrt_nb.passes.lowering.await_in_calls import AwaitInCalls
from tfrt_nb.passes.lowering.convert_scf_to_cf import ConvertScfToCf
from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.lowering.expand_selects import ExpandSelects
from tfrt_nb.passes.lowering.number_functions import NumberFunctions
from tfrt_nb.passes.lowering.propagate_failures import PropagateFailures
from tfrt_nb.passes.safety.check_async import CheckAsync
from tfrt_nb.passes.safety.guard_operations import GuardOperations
from tfrt_nb.passes.safety.interruptible_loops import InterruptibleLoops
from tfrt_nb.passes.speed.call_directly import CallDirectly
from tfrt_nb.passes.speed.elide_coroutines import ElideCoroutines
from tfrt_nb.passes.speed.fast_path import FastPath
from tfrt_nb.passes.speed.unroll_short_loops import UnrollShortLoops


@dataclass(frozen=True)
class Pipeline:
    """Passes that run one after the other.  `str` gives the notation that makes the same pipeline."""

    passes: tuple[ModulePass, ...]

    def apply(self, context: Context, module: ModuleOp) -> None:
        """Run all passes on the module, which is changed in place."""
        for pass_ in self.passes:
            pass_.apply(context, module)

    def __str__(self) -> str:
        return f"builtin.module({','.join(map(_notation, self.passes))})"


def executable_pipeline(*first: ModulePass, level: int = 1) -> Pipeline:
    """From what users write to what the JIT compiles.  `first` runs on the high-level operations.

    Errors keep their reason and place and end no process, tokens are resolved last, references are
    counted once every way out of a function is known.

    Level 0 is the lowering that the async dialect describes: each task and each async function is a
    coroutine.  Level 1 adds the shortcuts, which change no result: calls that never wait are plain calls,
    tasks that never wait are plain functions, equal bodies are one function.
    """
    is_fast = level > 0
    shortcuts = (CallDirectly(), FastPath()) if is_fast else ()
    return Pipeline(
        (
            DesugarProposal(),
            MarkExplicitCounts(),
            NumberFunctions(),
            ConvertLinalgToParallelLoops(),
            ExpandBuffers(),
            CheckAsync(),
            CheckBuffers(),
            ExpandSelects(),
            GuardBuffers(),
            GuardOperations(recursion=False),
            *map(_for_execution, first),
            AwaitInCalls(),
            InterruptibleLoops(),
            # What is an async function by now can go on elsewhere where the stack ends.
            GuardOperations(divisions=False, accesses=False, loops=False),
            *shortcuts,
            AsyncFuncToAsyncRuntime(token_last=True, keep_errors=True, bounded_stack=True),
            AsyncToAsyncRuntime(
                share_bodies=is_fast, token_last=True, keep_errors=True, spawn=is_fast
            ),
            PropagateFailures(),
            DropOnErrorPaths(explicit_only=True),
            *((ElideCoroutines(),) if is_fast else ()),
            AsyncRuntimeRefCounting(share_exits=is_fast, leave_counted=True),
            *((AsyncRuntimeRefCountingOpt(),) if is_fast else ()),
            *((UnrollShortLoops(),) if is_fast else ()),
            ConvertScfToCf(),
        )
    )


def _for_execution(pass_: ModulePass) -> ModulePass:
    """A parallel loop leaves nothing running behind, and makes no iterations out of negative counts."""
    if pass_.name == "async-parallel-for":
        from tfrt_nb.passes.parallel.async_parallel_for import (
            AsyncParallelFor,  # most programs do without
        )

        assert isinstance(pass_, AsyncParallelFor)
        return replace(
            pass_,
            clamp_trip_counts=True,
            join_on_failure=True,
            reductions=True,
            fold=False,
        )
    return pass_


def _notation(pass_: ModulePass) -> str:
    changed = [
        f"{field.name.replace('_', '-')}={str(getattr(pass_, field.name)).lower()}"
        for field in fields(pass_)
        if getattr(pass_, field.name) != field.default
    ]
    return f"{pass_.name}{{{' '.join(changed)}}}" if changed else pass_.name
