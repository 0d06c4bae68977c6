"""The entries of the native core that Python calls, by the core's module that has them.

An entry takes and returns integers of 64 bits; addresses are of structs in `native.layouts`.  What
it does, how many words it takes, which references it takes, and on which threads it may run is said
by the function of the same name in that module.  A test compares the calls with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _modules(entries: dict[str, str]) -> dict[str, str]:
    """Return the module of each entry."""
    return {name: module for module, names in entries.items() for name in names.split()}


BOTH = _modules(
    {
        "handles": "value_forward value_set_error",
        "python_calls": "start_calls_with start_rows start_call_with",
    }
)
"""Entries that are called in both ways."""

QUICK = BOTH | _modules(
    {
        "cells": "fill_stock give_back memory_limit reserve_within",
        "trimming": "trim trim_at_rest",
        "events": "log_clock log_drain take_kept",
        "deques": "take_tasks",
        "blocking_pool": "pool_pop",
        "sharing": "begin_started",
        "waiters": "drop_latch",
        "tensors": "add_tensor_reference drop_tensor reclaim_all tensor_over trim_store",
        "handles": "context_free context_make host_leave host_take latch_make request_cancel"
        " request_enter request_notify value_add_reference value_and_then value_claim value_drop"
        " value_make value_make_indirect value_of value_outcome",
        "python_calls": "drop_results read_results",
        "python_runs": "next_number",
        "async_objects": "async_abandon async_sweep next_stuck",
        "async_interrupts": "change_interrupts present_context",
        "async_buffers": "free_kept keep_buffer",
    }
)
"""Entries that are done at once: called with the GIL."""

SLOW = BOTH | _modules(
    {
        "sharing": "hand_over",
        "activation": "leave_request",
        "executor": "blocking_loop help_until start_call refuse_blocking run_one watch_until"
        " worker_loop",
        "handles": "pool_stop queue_stop value_emplace value_break",
        "async_awaiting": "async_call",
        "compiled_kernels": "visit_imports",
    }
)
"""Entries that may run kernels, or wait: called without the GIL."""


class Entries:
    """Entries of the core, each made on first use.  Safe to share between threads."""

    def __init__(
        self, make: Callable[[str], Callable[..., int]], modules: Mapping[str, str]
    ) -> None:
        """`make` returns the entry that the core exports as `MODULE.NAME`."""
        self._make, self._modules = make, modules

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in self._modules:
            raise AttributeError(f"the core has no entry {name} for Python")
        entry = self.__dict__[name] = self._make(f"{self._modules[name]}.{name}")
        return entry
