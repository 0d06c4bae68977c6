"""The passes by name, and pipelines of them in MLIR's notation.

    builtin.module(async-parallel-for{num-workers=4 min-task-size=8},func.func(canonicalize))

A pass in `func.func(...)` runs on the functions of the module; since all passes here take a module,
that is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.passes.async_func_to_async_runtime import AsyncFuncToAsyncRuntime
from tfrt_nb.passes.async_parallel_for import AsyncParallelFor
from tfrt_nb.passes.async_ref_counting import AsyncRefCounting
from tfrt_nb.passes.async_runtime_policy_based_ref_counting import (
    AsyncRuntimePolicyBasedRefCounting,
)
from tfrt_nb.passes.async_runtime_ref_counting import AsyncRuntimeRefCounting
from tfrt_nb.passes.async_runtime_ref_counting_opt import AsyncRuntimeRefCountingOpt
from tfrt_nb.passes.async_to_async_runtime import AsyncToAsyncRuntime
from tfrt_nb.passes.await_in_calls import AwaitInCalls
from tfrt_nb.passes.canonicalize import Canonicalize
from tfrt_nb.passes.check_async import CheckAsync
from tfrt_nb.passes.check_buffers import CheckBuffers
from tfrt_nb.passes.convert_scf_to_cf import ConvertScfToCf
from tfrt_nb.passes.cse import Cse
from tfrt_nb.passes.desugar_proposal import DesugarProposal
from tfrt_nb.passes.drop_on_error_paths import DropOnErrorPaths
from tfrt_nb.passes.elide_coroutines import ElideCoroutines
from tfrt_nb.passes.expand_selects import ExpandSelects
from tfrt_nb.passes.guard_operations import GuardOperations
from tfrt_nb.passes.inline import Inline
from tfrt_nb.passes.interruptible_loops import InterruptibleLoops
from tfrt_nb.passes.print_streams import PrintStreams
from tfrt_nb.passes.propagate_failures import PropagateFailures
from tfrt_nb.passes.symbol_dce import SymbolDce
from tfrt_runtime.diagnostics import Location, TfrtError, error

PASSES: dict[str, type[ModulePass]] = {
    pass_.name: pass_
    for pass_ in (
        AsyncFuncToAsyncRuntime,
        AsyncParallelFor,
        AsyncRefCounting,
        AsyncRuntimePolicyBasedRefCounting,
        AsyncRuntimeRefCounting,
        AsyncRuntimeRefCountingOpt,
        AsyncToAsyncRuntime,
        AwaitInCalls,
        Canonicalize,
        CheckAsync,
        CheckBuffers,
        ConvertScfToCf,
        Cse,
        DesugarProposal,
        DropOnErrorPaths,
        ElideCoroutines,
        ExpandSelects,
        GuardOperations,
        Inline,
        InterruptibleLoops,
        PrintStreams,
        PropagateFailures,
        SymbolDce,
    )
}
"""Every pass that a pipeline can name."""

_ANCHORS = frozenset({"any", "builtin.module", "func.func", "async.func"})
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w.\-]*)|(\{[^{}]*\})|([(),]))")


class PipelineError(TfrtError):
    """A pipeline that cannot be read, or an option that a pass does not have."""


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


def executable_pipeline(*first: ModulePass) -> Pipeline:
    """From what users write to what the JIT compiles.  `first` runs on the high-level operations.

    Errors keep their reason and place and end no process, tokens are resolved last, references are
    counted once every way out of a function is known.
    """
    return Pipeline(
        (
            DesugarProposal(),
            CheckAsync(),
            CheckBuffers(),
            ExpandSelects(),
            GuardOperations(recursion=False),
            *map(_for_execution, first),
            AwaitInCalls(),
            InterruptibleLoops(),
            # What is an async function by now can go on elsewhere where the stack ends.
            GuardOperations(divisions=False, accesses=False, loops=False),
            AsyncFuncToAsyncRuntime(
                token_last=True, keep_errors=True, bounded_stack=True, fold=False
            ),
            AsyncToAsyncRuntime(
                share_bodies=True,
                token_last=True,
                keep_errors=True,
                spawn_leaves=True,
                fold=False,
            ),
            PropagateFailures(),
            ElideCoroutines(),
            AsyncRuntimeRefCounting(share_exits=True),
            AsyncRuntimeRefCountingOpt(),
            ConvertScfToCf(wide_switches=True),
        )
    )


def _for_execution(pass_: ModulePass) -> ModulePass:
    """A parallel loop leaves nothing running behind, and makes no iterations out of negative counts."""
    if isinstance(pass_, AsyncParallelFor):
        return replace(
            pass_,
            clamp_trip_counts=True,
            join_on_failure=True,
            reductions=True,
            align_loops=False,
            fold=False,
        )
    return pass_


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
        yield self._configured(PASSES[name], options, start)

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


def _notation(pass_: ModulePass) -> str:
    changed = [
        f"{field.name.replace('_', '-')}={str(getattr(pass_, field.name)).lower()}"
        for field in fields(pass_)
        if getattr(pass_, field.name) != field.default
    ]
    return f"{pass_.name}{{{' '.join(changed)}}}" if changed else pass_.name
