"""The entries of the native core that Python calls: their names and numbers of words.

Each word is a 64-bit integer; addresses are of structs in `native.layouts`.  Each row names the
core's module, whose function of the same name documents what the entry does, which references it
takes, and on which threads it may run.  A test compares both.
"""

# Annotations are evaluated here: the table of modules is built from them.
from collections.abc import Callable
from typing import Annotated, Protocol, TypeAlias

Words1: TypeAlias = Callable[[int], int]
Words2: TypeAlias = Callable[[int, int], int]
Words3: TypeAlias = Callable[[int, int, int], int]
Words4: TypeAlias = Callable[[int, int, int, int], int]
Words5: TypeAlias = Callable[[int, int, int, int, int], int]
Words6: TypeAlias = Callable[[int, int, int, int, int, int], int]
Words7: TypeAlias = Callable[[int, int, int, int, int, int, int], int]


class Both(Protocol):
    """Entries that are called in both ways."""

    value_forward: Annotated[Words3, "handles"]
    value_set_error: Annotated[Words3, "handles"]
    start_calls_with: Annotated[Words6, "python_calls"]
    start_rows: Annotated[Words6, "python_calls"]
    start_call_with: Annotated[Words4, "python_calls"]


class Quick(Both, Protocol):
    """Entries that keep the GIL: they never wait, and call only short Python code."""

    fill_stock: Annotated[Words1, "cells"]
    give_back: Annotated[Words2, "cells"]
    memory_limit: Annotated[Words1, "cells"]
    reserve_within: Annotated[Words3, "cells"]
    trim: Annotated[Words2, "trimming"]
    trim_at_rest: Annotated[Words1, "trimming"]
    log_clock: Annotated[Words1, "events"]
    log_drain: Annotated[Words3, "events"]
    take_kept: Annotated[Words1, "events"]
    take_tasks: Annotated[Words1, "deques"]
    pool_pop: Annotated[Words1, "blocking_pool"]
    begin_started: Annotated[Words1, "sharing"]
    drop_latch: Annotated[Words2, "waiters"]
    add_tensor_reference: Annotated[Words1, "tensors"]
    drop_tensor: Annotated[Words2, "tensors"]
    reclaim_all: Annotated[Words2, "tensors"]
    tensor_over: Annotated[Words7, "tensors"]
    trim_store: Annotated[Words1, "tensors"]
    context_free: Annotated[Words1, "handles"]
    context_make: Annotated[Words4, "handles"]
    host_leave: Annotated[Words1, "handles"]
    host_take: Annotated[Words1, "handles"]
    latch_make: Annotated[Words2, "handles"]
    request_cancel: Annotated[Words1, "handles"]
    request_enter: Annotated[Words1, "handles"]
    request_notify: Annotated[Words1, "handles"]
    value_add_reference: Annotated[Words1, "handles"]
    value_and_then: Annotated[Words3, "handles"]
    value_claim: Annotated[Words1, "handles"]
    value_drop: Annotated[Words2, "handles"]
    value_make: Annotated[Words2, "handles"]
    value_make_indirect: Annotated[Words1, "handles"]
    value_of: Annotated[Words4, "handles"]
    value_outcome: Annotated[Words1, "handles"]
    drop_results: Annotated[Words4, "python_calls"]
    read_results: Annotated[Words5, "python_calls"]
    next_number: Annotated[Words1, "python_runs"]
    async_abandon: Annotated[Words3, "async_objects"]
    async_sweep: Annotated[Words2, "async_objects"]
    next_stuck: Annotated[Words2, "async_objects"]
    change_interrupts: Annotated[Words3, "async_interrupts"]
    present_context: Annotated[Words1, "async_interrupts"]
    free_kept: Annotated[Words2, "async_buffers"]
    keep_buffer: Annotated[Words2, "async_buffers"]


class Slow(Both, Protocol):
    """Entries that release the GIL while they run: they may wait, and run kernels."""

    hand_over: Annotated[Words1, "sharing"]
    leave_request: Annotated[Words2, "activation"]
    blocking_loop: Annotated[Words3, "executor"]
    help_until: Annotated[Words3, "executor"]
    start_call: Annotated[Words5, "executor"]
    refuse_blocking: Annotated[Words2, "executor"]
    run_one: Annotated[Words3, "executor"]
    watch_until: Annotated[Words3, "executor"]
    worker_loop: Annotated[Words1, "executor"]
    pool_stop: Annotated[Words1, "handles"]
    queue_stop: Annotated[Words1, "handles"]
    value_emplace: Annotated[Words5, "handles"]
    value_break: Annotated[Words3, "handles"]
    async_call: Annotated[Words3, "async_awaiting"]
    visit_imports: Annotated[Words4, "compiled_kernels"]


MODULES: dict[str, str] = {
    entry: hint.__metadata__[0]
    for kind in (Both, Quick, Slow)
    for entry, hint in kind.__annotations__.items()
}
"""The module of the core that has each entry, by the entry's name."""


class Entries:
    """The entries of the core, each made on the first request.  Safe to share between threads."""

    def __init__(self, make: Callable[[str], Callable[..., int]]) -> None:
        """`make` returns the entry that the core exports as `MODULE.NAME`."""
        self._make = make

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in MODULES:
            raise AttributeError(f"the core has no entry {name} for Python")
        entry = self.__dict__[name] = self._make(f"{MODULES[name]}.{name}")
        return entry
