"""Test that a coroutine's result is resolved once, and that no work is hidden in the meantime.

`python_functions.settle` resolves the result.  Here, each Python object is a number.
"""

from __future__ import annotations

import pytest
from tests.exploring.explorer import World, explored
from tests.exploring.simulated_host import SimulatedHost, name_cell

from tfrt_runtime.native import async_value, handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import load, load_acquire, store, store_i32
from tfrt_runtime.native.python import python_functions
from tfrt_runtime.native.queues.tasks import find_task, free_task

INT, STR, OBJECT = 1001, 1002, 1003
"""The classes of the returned objects."""


@pytest.fixture(autouse=True)
def words_as_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a scenario pass the words of a Python function instead of the integer bound to it."""
    monkeypatch.setattr(python_functions, "bound_words", lambda words: words)


class Settling:
    """The call of `settle` that a coroutine makes after it has returned `item`."""

    def __init__(self, host: SimulatedHost, value: int, result_type: int, item: int) -> None:
        self.held: list[int] = []
        """The objects to which native code has added a reference."""
        self.answers: list[int] = []
        self.context = host.outside[0]
        kind = OBJECT if result_type == at.TYPE_OBJECT else INT
        self._given = host.block(40, "arguments")
        for index, word in enumerate((self.context, value, result_type, 0, item)):
            store(self._given + 8 * index, word)
        api = host.block(at.PYTHON_SIZE, "python", "PYTHON_")
        functions = {
            at.PYTHON_READ_WORD: lambda word: word,
            at.PYTHON_READ_INT: self._read_int,
            at.PYTHON_MAKE_BOOL: lambda word: word,
            at.PYTHON_TYPE: lambda _: kind,
            at.PYTHON_ADD: self.held.append,
            at.PYTHON_DROP: lambda _: None,
            at.PYTHON_IS_INSTANCE: lambda _, __: 0,
            at.PYTHON_HAS_BUFFER: lambda _: 0,
        }
        for place, function in functions.items():
            store(api + place, host.function(function))
        store(api + at.PYTHON_INT, INT)
        store(api + at.PYTHON_STR, STR)
        self._words = host.block(16, "bound words")
        store(self._words, api)
        store(self._words + 8, host.process)

    def __call__(self) -> None:
        self.answers.append(python_functions.settle(self._words, self._given, 5))

    def _read_int(self, item: int, overflow: int) -> int:
        store_i32(overflow, 0)
        return item


@pytest.mark.parametrize("result_type", [at.TYPE_I64, at.TYPE_OBJECT])
@explored
def test_a_returned_object_or_a_cancellation_resolves_a_result(
    world: World, result_type: int
) -> None:
    host = SimulatedHost(world, outside=3)
    _, canceller, waiter = host.outside
    value = name_cell(world, handles.value_make(host.main, result_type), "value")
    settle = Settling(host, value, result_type, 42)

    def cancel() -> None:
        if handles.value_claim(value):
            handles.value_set_error(canceller, value, 7)

    world.thread(settle, "coroutine")
    world.thread(cancel, "cancels")
    world.thread(lambda: handles.value_and_then(waiter, value, 9), "waits")

    def check() -> None:
        is_error = async_value.state_of(value) == at.ERROR
        payload = load(value + at.VALUE_PAYLOAD)
        handles.value_drop(host.main, value)
        held = [42] if result_type == at.TYPE_OBJECT and not is_error else []
        assert (payload, settle.held) == (7 if is_error else 42, held)
        assert (host.called, host.released) == ([9], [7] if is_error else held)
        assert (settle.answers, load(host.process + at.PROCESS_RESUMING)) == ([1], 0)

    world.finally_assert(check)


@explored
def test_an_object_of_another_type_leaves_the_result_to_python(world: World) -> None:
    host = SimulatedHost(world, outside=1)
    value = name_cell(world, handles.value_make(host.main, 0), "value")
    settle = Settling(host, value, at.TYPE_UNKNOWN, 42)
    world.thread(settle, "coroutine")

    def check() -> None:
        assert (settle.answers, async_value.is_available(value)) == ([0], False)
        handles.value_drop(host.main, value)

    world.finally_assert(check)


@explored
def test_a_queue_is_not_at_rest_while_a_result_makes_work_for_it(world: World) -> None:
    """The thread reads the words that `host.waiting.has_work` reads, in the same order."""
    host = SimulatedHost(world, outside=2)
    value = name_cell(world, handles.value_make(host.main, at.TYPE_I64), "value")
    activation = host.block(at.ACTIVATION_REGISTERS, "activation", "ACTIVATION_")
    store(activation + at.ACTIVATION_SHARED, at.SHARED_WITH_CALLERS)
    async_value.wait_for(host.main, value, at.WAIT_END, activation, 0)

    def look() -> None:
        if async_value.is_available(value):
            is_resuming = load_acquire(host.process + at.PROCESS_RESUMING) != 0
            assert is_resuming or load_acquire(host.queue + at.QUEUE_INJECTED) != 0

    world.thread(Settling(host, value, at.TYPE_I64, 42), "coroutine")
    world.thread(look, "looks")

    def check() -> None:
        task = find_task(host.main)
        assert load(task + at.TASK_FIRST) == activation | at.READY_END
        free_task(host.main, task)
        handles.value_drop(host.main, value)

    world.finally_assert(check)
