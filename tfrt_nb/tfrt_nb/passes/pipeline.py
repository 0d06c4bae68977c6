"""The order in which passes run, and pipelines in MLIR's notation.

    builtin.module(async-parallel-for{num-workers=4 min-task-size=8},func.func(canonicalize))

In MLIR, a pass in `func.func(...)` runs on each function of the module. All passes here run on a
module, so the nesting makes no difference.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.passes.buffers.check_buffers import CheckBuffers
from tfrt_nb.passes.buffers.convert_linalg_to_parallel_loops import (
    ConvertLinalgToParallelLoops,
    ExpandBuffers,
)
from tfrt_nb.passes.buffers.guard_buffers import GuardBuffers
from tfrt_nb.passes.counting.async_ref_counting import (
    AsyncRuntimeRefCountingOpt,
    HoistRefCounts,
)
from tfrt_nb.passes.counting.async_runtime_ref_counting import (
    AsyncRuntimeRefCounting,
    DropOnErrorPaths,
    MarkExplicitCounts,
)
from tfrt_nb.passes.lowering.async_to_async_runtime import (
    AsyncFuncToAsyncRuntime,
    AsyncToAsyncRuntime,
)
from tfrt_nb.passes.lowering.await_in_calls import AwaitInCalls, PropagateFailures
from tfrt_nb.passes.lowering.convert_scf_to_cf import ConvertScfToCf
from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.lowering.number_functions import NumberFunctions
from tfrt_nb.passes.safety.guard_operations import CheckAsync, GuardOperations
from tfrt_nb.passes.safety.interruptible_loops import InterruptibleLoops
from tfrt_nb.passes.speed.fast_path import FastPath
from tfrt_nb.passes.speed.unroll_short_loops import UnrollShortLoops
from tfrt_runtime.diagnostics import Location, TfrtError, error

PASSES: dict[str, str | type[ModulePass]] = {
    "async-await-in-calls": "lowering.await_in_calls.AwaitInCalls",
    "async-check": "safety.guard_operations.CheckAsync",
    "async-check-buffers": "buffers.check_buffers.CheckBuffers",
    "async-desugar-proposal": "lowering.desugar_proposal.DesugarProposal",
    "async-drop-on-error-paths": "counting.async_runtime_ref_counting.DropOnErrorPaths",
    "async-expand-buffers": "buffers.convert_linalg_to_parallel_loops.ExpandBuffers",
    "async-func-to-async-runtime": "lowering.async_to_async_runtime.AsyncFuncToAsyncRuntime",
    "async-guard-buffers": "buffers.guard_buffers.GuardBuffers",
    "async-guard-operations": "safety.guard_operations.GuardOperations",
    "async-hoist-ref-counts": "counting.async_ref_counting.HoistRefCounts",
    "async-interruptible-loops": "safety.interruptible_loops.InterruptibleLoops",
    "async-log-events": "log_events.LogEvents",
    "async-mark-explicit-counts": "counting.async_runtime_ref_counting.MarkExplicitCounts",
    "async-number-functions": "lowering.number_functions.NumberFunctions",
    "async-parallel-for": "parallel.async_parallel_for.AsyncParallelFor",
    "async-propagate-failures": "lowering.await_in_calls.PropagateFailures",
    "async-ref-counting": "counting.async_ref_counting.AsyncRefCounting",
    "async-ref-counting-optimization": "counting.async_ref_counting.AsyncRefCountingOptimization",
    "async-fast-path": "speed.fast_path.FastPath",
    "async-runtime-policy-based-ref-counting": "counting.async_runtime_ref_counting.AsyncRuntimePolicyBasedRefCounting",
    "async-runtime-ref-counting": "counting.async_runtime_ref_counting.AsyncRuntimeRefCounting",
    "async-runtime-ref-counting-opt": "counting.async_ref_counting.AsyncRuntimeRefCountingOpt",
    "async-to-async-runtime": "lowering.async_to_async_runtime.AsyncToAsyncRuntime",
    "async-unroll-short-loops": "speed.unroll_short_loops.UnrollShortLoops",
    "canonicalize": "speed.canonicalize.Canonicalize",
    "convert-linalg-to-parallel-loops": "buffers.convert_linalg_to_parallel_loops.ConvertLinalgToParallelLoops",
    "convert-scf-to-cf": "lowering.convert_scf_to_cf.ConvertScfToCf",
    "cse": "xdsl.transforms.common_subexpression_elimination.CommonSubexpressionElimination",
    "dce": "xdsl.transforms.dead_code_elimination.DeadCodeElimination",
    "inline": "speed.inline.Inline",
    "tfrt-print-stream": "print_streams.PrintStreams",
}
"""The passes that a pipeline can name, each with its module in this package and its class.

A pass is imported when a pipeline names it, because a run needs only some of them. A notebook can
add a class as the value for its own pass.
"""
_REMOVED = frozenset({"async-elide-coroutines"})
"""Passes from earlier versions, which a pipeline may still name. They have no effect."""
_ANCHORS = frozenset({"any", "builtin.module", "func.func", "async.func"})
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w.\-]*)|(\{[^{}]*\})|([(),]))")


@dataclass(frozen=True)
class Pipeline:
    """Passes that run one after another.

    `str` returns a string that `parse_pipeline` turns into the same pipeline.
    """

    passes: tuple[ModulePass, ...]

    def apply(
        self, context: Context, module: ModuleOp, verify: Callable[[ModuleOp], None] | None = None
    ) -> None:
        """Run all passes on the module, in place.

        If `verify` is given, it checks the module after each pass.
        """
        for pass_ in self.passes:
            pass_.apply(context, module)
            if verify is not None:
                verify(module)

    def __str__(self) -> str:
        written = (str(one.pipeline_pass_spec()).replace("_", "-") for one in self.passes)
        return f"builtin.module({','.join(written)})"


def executable_pipeline(*first: ModulePass, level: int = 1, spawn: bool = True) -> Pipeline:
    """Return the pipeline from users' operations to the operations that the JIT compiles.

    The passes in `first` run before all others. In the lowered program, errors keep their reason
    and location, and never kill the process. Tokens are resolved last. References are counted after
    every exit of a function is known.

    Level 0 is the lowering that the async dialect describes: each task and each async function is a
    coroutine. Level 1 adds shortcuts that do not change results. A recursive call becomes a
    coroutine only when it waits, a task that never waits becomes a plain function, and tasks with
    equal bodies share one function. Without `spawn`, each task is a coroutine.
    """
    is_fast = level > 0
    return Pipeline(
        (
            # The next pass recognizes programs without explicit counts by their tasks and awaits,
            # so the proposal's operations must become tasks and awaits first.
            DesugarProposal(),
            MarkExplicitCounts(),
            NumberFunctions(),
            ConvertLinalgToParallelLoops(),
            ExpandBuffers(),
            CheckAsync(),
            CheckBuffers(),
            # `GuardBuffers` marks accesses as in bounds, which `GuardOperations` then skips.
            GuardBuffers(),
            GuardOperations(recursion=False),
            *map(_for_execution, first),
            AwaitInCalls(),
            # This pass makes the remaining parallel loops sequential, so it follows the passes in
            # `first`.
            InterruptibleLoops(),
            # Functions that are already async need no recursion check: if little stack is left,
            # they continue on a worker.
            GuardOperations(divisions=False, accesses=False, loops=False),
            *((FastPath(),) if is_fast else ()),
            AsyncFuncToAsyncRuntime(token_last=True, keep_errors=True, bounded_stack=True),
            AsyncToAsyncRuntime(
                share_bodies=is_fast, token_last=True, keep_errors=True, spawn=is_fast and spawn
            ),
            PropagateFailures(),
            DropOnErrorPaths(explicit_only=True),
            AsyncRuntimeRefCounting(share_exits=is_fast, leave_counted=True),
            *((AsyncRuntimeRefCountingOpt(), HoistRefCounts()) if is_fast else ()),
            *((UnrollShortLoops(),) if is_fast else ()),
            ConvertScfToCf(),
        )
    )


def _for_execution(pass_: ModulePass) -> ModulePass:
    """Configure a pass for programs that run.

    For parallel loops, no task outlives a failing loop, and a negative trip count means 0.
    """
    if pass_.name == "async-parallel-for":
        from tfrt_nb.passes.parallel.async_parallel_for import AsyncParallelFor

        assert isinstance(pass_, AsyncParallelFor)
        return replace(
            pass_,
            clamp_trip_counts=True,
            join_on_failure=True,
            reductions=True,
            fold=False,
        )
    return pass_


class PipelineError(TfrtError):
    """The error for a pipeline that cannot be parsed or names an unknown option of a pass."""


def pass_named(name: str) -> type[ModulePass]:
    """Return the class of the pass called `name`.

    Raises:
        KeyError: if no pass has that name.
    """
    found = PASSES[name]
    if not isinstance(found, str):
        return found
    module, _, class_name = found.rpartition(".")
    if not module.startswith("xdsl."):
        module = f"tfrt_nb.passes.{module}"
    return cast(type[ModulePass], getattr(import_module(module), class_name))


def parse_pipeline(text: str) -> Pipeline:
    """Parse a pipeline in MLIR's notation.

    Raises:
        PipelineError: if the string is invalid. The error's location has the column.
    """
    reader = _Reader(text)
    passes = tuple(reader.sequence())
    reader.expect_end()
    return Pipeline(passes)


class _Reader:
    """Parses names with `{options}`, anchors with `(...)`, and commas."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def sequence(self) -> Iterator[ModulePass]:
        """Parse `element (, element)*` up to a closing parenthesis or the end."""
        if self._peek() in ("", ")"):
            return
        yield from self._element()
        while self._peek() == ",":
            self._next()
            yield from self._element()

    def expect_end(self) -> None:
        """Raise `PipelineError` unless the input is at its end."""
        if self._peek() != "":
            self._refuse(f"unexpected '{self._peek()}'")

    def _element(self) -> Iterator[ModulePass]:
        start = self.position
        name = self._next()
        if name in _ANCHORS:
            self._expect("(")
            yield from self.sequence()
            self._expect(")")
            return
        if name in _REMOVED:
            what = f"the pass '{name}' was removed and does nothing"
            warnings.warn(what, FutureWarning, stacklevel=2)
            return
        if name not in PASSES:
            known = ", ".join(sorted(PASSES))
            self._refuse(f"no pass is named '{name}'; there are {known}", start)
        options = self._next() if self._peek().startswith("{") else "{}"
        yield self._configured(pass_named(name), options, start)

    def _configured(self, pass_: type[ModulePass], text: str, start: int) -> ModulePass:
        kinds = {field.name: field.type for field in fields(pass_)}
        options: dict[str, bool | int] = {}
        for setting in text[1:-1].split():
            key, _, value = setting.partition("=")
            name = key.replace("-", "_")
            if name not in kinds:
                known = ", ".join(name.replace("_", "-") for name in kinds) or "none"
                self._refuse(f"'{pass_.name}' has no option '{key}'; its options: {known}", start)
            options[name] = self._value(kinds[name], key, value, start)
        return pass_(**options)

    def _value(self, kind: object, key: str, value: str, start: int) -> bool | int:
        # If a pass's module postpones annotations, the type of a field is only the type's name.
        if kind in ("bool", bool):
            if value in ("", "true", "1"):
                return True
            if value in ("false", "0"):
                return False
        elif re.fullmatch(r"-?\d+", value):
            return int(value)
        self._refuse(f"'{value}' is not a value for '{key}'", start)

    def _peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match[0].strip() if match is not None else self.text[self.position :].strip()[:1]

    def _next(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self._refuse("expected the name of a pass")
        self.position = match.end()
        return match[0].strip()

    def _expect(self, punctuation: str) -> None:
        if self._peek() != punctuation:
            self._refuse(f"expected '{punctuation}'")
        self._next()

    def _refuse(self, message: str, position: int | None = None) -> NoReturn:
        column = (self.position if position is None else position) + 1
        raise PipelineError(error(message, Location("<pipeline>", 1, column)))
