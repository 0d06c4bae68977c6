"""Test what a run waits for outside the runtime."""

from __future__ import annotations

from tfrt_runtime.diagnostics import error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.promises import MIN_SWEPT, Promises


class Value:
    """The parts of an AsyncValue that promises read."""

    source = None

    def __init__(self) -> None:
        self.is_done = False

    def done(self) -> bool:
        return self.is_done


def texts(promises: Promises) -> list[str]:
    return [note.message for note in promises.notes()]


def test_only_open_promises_are_kept() -> None:
    promises, kept = Promises(), Value()
    promises.watch(kept, "kept")
    for number in range(1000):
        value = Value()
        promises.watch(value, str(number))
        value.is_done = True

    assert len(promises._promises) <= MIN_SWEPT
    assert texts(promises) == ["kept"]


def test_a_value_whose_object_dies_meanwhile_is_no_promise(leak_check: None) -> None:
    """Another thread may ask after `__del__` runs, but before weak references are cleared."""
    promises = Promises()

    class Dying(AsyncValue):
        def __del__(self) -> None:
            super().__del__()
            seen.append(promises.are_open())

    seen: list[bool] = []
    with HostContext("s") as host:
        made = make_unavailable(host.work_queue, "i32")
        value = Dying(host.work_queue, made.address)
        native_process().quick.value_add_reference(made.address)
        promises.watch(value, "a value")
        seen.append(promises.are_open())
        del value
        made.set_error(error("over"))

    assert seen == [True, False]
