"""Pipelines in MLIR's notation, and the passes that they can name.

    builtin.module(async-parallel-for{num-workers=4 min-task-size=8},func.func(canonicalize))

A pass in `func.func(...)` runs on the functions of the module; since all passes here take a module,
that is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import NoReturn, cast

from xdsl.passes import ModulePass

from tfrt_nb.passes.pipeline import Pipeline
from tfrt_runtime.diagnostics import Location, TfrtError, error

PASSES = {
    "async-await-in-calls": "lowering.await_in_calls.AwaitInCalls",
    "async-call-directly": "speed.call_directly.CallDirectly",
    "async-check": "safety.check_async.CheckAsync",
    "async-check-buffers": "buffers.check_buffers.CheckBuffers",
    "async-desugar-proposal": "lowering.desugar_proposal.DesugarProposal",
    "async-drop-on-error-paths": "counting.drop_on_error_paths.DropOnErrorPaths",
    "async-elide-coroutines": "speed.elide_coroutines.ElideCoroutines",
    "async-expand-buffers": "buffers.expand_buffers.ExpandBuffers",
    "async-expand-selects": "lowering.expand_selects.ExpandSelects",
    "async-func-to-async-runtime": "lowering.async_func_to_async_runtime.AsyncFuncToAsyncRuntime",
    "async-guard-buffers": "buffers.guard_buffers.GuardBuffers",
    "async-guard-operations": "safety.guard_operations.GuardOperations",
    "async-interruptible-loops": "safety.interruptible_loops.InterruptibleLoops",
    "async-log-events": "log_events.LogEvents",
    "async-mark-explicit-counts": "counting.mark_explicit_counts.MarkExplicitCounts",
    "async-number-functions": "lowering.number_functions.NumberFunctions",
    "async-parallel-for": "parallel.async_parallel_for.AsyncParallelFor",
    "async-propagate-failures": "lowering.propagate_failures.PropagateFailures",
    "async-ref-counting": "counting.async_ref_counting.AsyncRefCounting",
    "async-ref-counting-optimization": "counting.async_ref_counting_optimization.AsyncRefCountingOptimization",
    "async-fast-path": "speed.fast_path.FastPath",
    "async-runtime-policy-based-ref-counting": "counting.async_runtime_policy_based_ref_counting.AsyncRuntimePolicyBasedRefCounting",
    "async-runtime-ref-counting": "counting.async_runtime_ref_counting.AsyncRuntimeRefCounting",
    "async-runtime-ref-counting-opt": "counting.async_runtime_ref_counting_opt.AsyncRuntimeRefCountingOpt",
    "async-to-async-runtime": "lowering.async_to_async_runtime.AsyncToAsyncRuntime",
    "async-unroll-short-loops": "speed.unroll_short_loops.UnrollShortLoops",
    "canonicalize": "xdsl.transforms.canonicalize.CanonicalizePass",
    "convert-linalg-to-parallel-loops": "buffers.convert_linalg_to_parallel_loops.ConvertLinalgToParallelLoops",
    "convert-scf-to-cf": "lowering.convert_scf_to_cf.ConvertScfToCf",
    "cse": "xdsl.transforms.common_subexpression_elimination.CommonSubexpressionElimination",
    "dce": "xdsl.transforms.dead_code_elimination.DeadCodeElimination",
    "inline": "speed.inline.Inline",
    "tfrt-print-stream": "print_streams.PrintStreams",
}
"""Every pass that a pipeline can name, by that name: its module here and its class.

They are imported when they are named: what runs a program needs but some of them.
"""

_ANCHORS = frozenset({"any", "builtin.module", "func.func", "async.func"})
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w.\-]*)|(\{[^{}]*\})|([(),]))")


class PipelineError(TfrtError):
    """A pipeline that cannot be read, or an option that a pass does not have."""


def pass_named(name: str) -> type[ModulePass]:
    """The class of the pass.

    Raises:
        KeyError: if no pass has the name.
    """
    module, _, class_name = PASSES[name].rpartition(".")
    if not module.startswith("xdsl."):
        module = f"tfrt_nb.passes.{module}"
    return cast(type[ModulePass], getattr(import_module(module), class_name))


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that the text describes.

    Raises:
        PipelineError: with the column of what is wrong.
    """
    reader = _Reader(text)
    passes = tuple(reader.sequence())
    reader.expect_end()
    return Pipeline(passes)


class _Reader:
    """Reads `name{options}`, `anchor(...)` and commas."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def sequence(self) -> Iterator[ModulePass]:
        """`element (, element)*`, up to a closing parenthesis or the end."""
        if self._peek() in ("", ")"):
            return
        yield from self._element()
        while self._peek() == ",":
            self._next()
            yield from self._element()

    def expect_end(self) -> None:
        """Refuse anything that follows."""
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
        if match is not None:
            return match[0].strip()
        return self.text[self.position :].strip()[:1]

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
