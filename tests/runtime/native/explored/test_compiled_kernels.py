"""Test small scenes in which kernels call compiled functions, in all interleavings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import World, explore, explored
from tests.exploring.simulated_coroutines import Scene
from tests.exploring.simulated_host import name_cell

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, resolve, state_of
from tfrt_runtime.native.calls import activation
from tfrt_runtime.native.coroutines import async_abi, async_objects
from tfrt_runtime.native.coroutines.async_objects import storage_of
from tfrt_runtime.native.kernels import compiled_kernels
from tfrt_runtime.native.memory import load, load_acquire, store, store_i32


class KernelScene(Scene):
    """A host whose kernels call compiled functions; `threads` run beside its main thread."""

    def __init__(self, world: World, threads: int) -> None:
        super().__init__(world, threads)
        self.request = self.host.request(1)
        self.arrived = self.host.function(compiled_kernels.argument_arrived)

    def run(self, body: Callable[[int], object], name: str) -> None:
        """Run `body(context)` on a thread of its own, with compiled code or without."""
        context = self._idle[0]
        self.thread(lambda: body(context), name)

    def value(self) -> int:
        """Create an unavailable host value with one reference."""
        made = handles.value_make(self.host.main, at.TYPE_I64)
        return name_cell(self.world, made, "host value")

    def resolve(self, context: int, value: int, failure: int = 0) -> None:
        """Make a host value 42, or an error."""
        assert handles.value_claim(value) == 1
        if failure != 0:
            handles.value_set_error(context, value, failure)
        else:
            handles.value_emplace(context, value, at.TYPE_I64, 42, 0)

    def produce(self, context: int, made: int, payload: int, failure: int) -> None:
        """Resolve an object, like a coroutine: to a payload, or to an error if there is one."""
        if failure != 0:
            async_objects.note_failure(context, made, failure)
            async_abi.set_error(made)
        else:
            store(storage_of(made), payload)
            async_abi.emplace_object(made)

    def record(self, adapter: int, *types: int) -> int:
        """Create the record of a kernel with one argument, whose type comes first in `types`."""
        record = self.host.block(128, "record", "RECORD_")
        data = self.host.block(8 * (compiled_kernels.FIRST_TYPE + len(types)), "data")
        waiters = (
            compiled_kernels.result_arrived,
            compiled_kernels.buffer_arrived,
            compiled_kernels.tensor_arrived,
        )
        words = (adapter, self.arrived, *map(self.host.function, waiters), *types)
        for place, word in enumerate(words):
            store(data + 8 * place, word)
        store_i32(record + at.RECORD_DATA, data - record)
        store_i32(record + at.RECORD_ARGUMENTS, 1)
        store_i32(record + at.RECORD_RESULTS, len(types) - 1)
        return record

    def enter(self, context: int, *arguments: int) -> None:
        """Put a context into a kernel of the request, with these arguments."""
        store(context + at.CONTEXT_REQUEST, self.request)
        for place, value in enumerate(arguments):
            store(load(context + at.CONTEXT_ARGUMENTS) + 8 * place, value)
            store(load(context + at.CONTEXT_RESULTS) + 8 * place, 0)


def payload(value: int) -> int:
    return load(resolve(value) + at.VALUE_PAYLOAD)


@pytest.mark.parametrize("fails", [False, True])
def test_a_coroutine_sees_what_a_host_value_becomes_whenever_that_is(fails: bool) -> None:
    def scenario(world: World) -> None:
        scene = KernelScene(world, 2)
        value = scene.value()
        seen: list[tuple[int, int]] = []
        objects: list[int] = []

        def look(_: int) -> None:
            [made] = objects
            seen.append((state_of(made), payload(made)))

        def await_value(context: int) -> None:
            made = compiled_kernels.object_of(context, value, at.TYPE_I64, scene.arrived)
            objects.append(made)
            async_abi.await_and_execute(made, 1, scene.coroutines.resume)

        scene.coroutines.when_resumed = look
        scene.run(lambda context: scene.resolve(context, value, 7 if fails else 0), "producer")
        scene.run(await_value, "coroutine")

        def check() -> None:
            scene.coroutines.run_tasks(scene.host.main)
            assert seen == [(at.ERROR, 7) if fails else (at.CONCRETE, 42)]
            scene.drop(objects[0])
            drop_reference(scene.host.main, value)

        world.finally_assert(check)

    assert explore(scenario, interleavings=4000).interleavings > 10


def test_who_gives_up_waiting_does_not_touch_the_host_value() -> None:
    outcomes: set[int] = set()

    def scenario(world: World) -> None:
        scene = KernelScene(world, 2)
        value = scene.value()
        made = compiled_kernels.object_of(scene.host.main, value, at.TYPE_I64, scene.arrived)
        name_cell(world, made, "object")
        failure = scene.host.error(9)

        scene.run(lambda context: scene.resolve(context, value), "producer")
        scene.run(lambda context: async_objects.async_abandon(context, made, failure), "impatient")

        def check() -> None:
            assert (state_of(value), payload(value)) == (at.CONCRETE, 42)
            outcomes.add(payload(made))
            scene.drop(made)
            drop_reference(scene.host.main, value)

        world.finally_assert(check)

    assert explore(scenario).complete
    assert outcomes == {42, 9}


@pytest.mark.parametrize("arrives", [False, True])
def test_a_cancellation_ends_the_wait_for_a_host_value_whenever_it_comes(arrives: bool) -> None:
    outcomes: set[tuple[int, int]] = set()

    def scenario(world: World) -> None:
        scene = KernelScene(world, 3)
        value = scene.value()
        shared = scene.coroutines.shared
        record = scene.record(0, at.TYPE_I64)
        cancelled = load(scene.request + at.REQUEST_CANCELLED_VALUE)
        objects: list[int] = []

        def await_value(context: int) -> None:
            scene.enter(context, value)
            objects.append(compiled_kernels.kernel_object(context, record, 0))
            async_abi.await_and_execute(objects[0], 1, scene.coroutines.resume)

        def cancel(context: int) -> None:
            handles.request_cancel(scene.request)
            compiled_kernels.visit_imports(context, shared, scene.request, cancelled)

        scene.run(await_value, "coroutine")
        scene.run(cancel, "canceller")
        if arrives:
            scene.run(lambda context: scene.resolve(context, value), "producer")

        def check() -> None:
            assert scene.finish() == [1]
            outcomes.add((state_of(objects[0]), payload(objects[0])))
            if not arrives:
                scene.resolve(scene.host.main, value)
            compiled_kernels.visit_imports(scene.host.main, shared, 0, 0)
            assert load_acquire(shared + at.ASYNC_IMPORTED) == 0
            scene.drop(objects[0])
            drop_reference(scene.host.main, value)

        world.finally_assert(check)

    assert explore(scenario, interleavings=800).interleavings > 10
    assert outcomes <= {(at.ERROR, 2**64 - 1), (at.ERROR, -1), (at.CONCRETE, 42)}
    assert {state for state, _ in outcomes} == ({at.ERROR, at.CONCRETE} if arrives else {at.ERROR})


def test_a_cancellation_finds_the_import_that_another_thread_is_visiting() -> None:
    """While a thread sweeps, it holds the list, so the canceller sees an empty one."""
    repeated: set[bool] = set()

    def scenario(world: World) -> None:
        scene = KernelScene(world, 3)
        value = scene.value()
        shared = scene.coroutines.shared
        record = scene.record(0, at.TYPE_I64)
        cancelled = load(scene.request + at.REQUEST_CANCELLED_VALUE)

        def import_value(context: int) -> int:
            scene.enter(context, value)
            made = compiled_kernels.kernel_object(context, record, 0)
            async_abi.await_and_execute(made, 1, scene.coroutines.resume)
            return made

        made = scene.main(lambda: import_value(scene.host.main))
        left: list[bool] = []

        def cancel(context: int) -> None:
            handles.request_cancel(scene.request)
            seen = compiled_kernels.visit_imports(context, shared, scene.request, cancelled)
            left.append(seen < load_acquire(shared + at.ASYNC_IMPORTED))

        scene.run(cancel, "canceller")
        scene.run(lambda context: compiled_kernels.visit_imports(context, shared, 0, 0), "sweeper")

        def check() -> None:
            repeated.add(left[0])
            if left[0]:
                compiled_kernels.visit_imports(scene.host.main, shared, scene.request, cancelled)
            assert state_of(made) == at.ERROR
            assert scene.finish() == [1]
            scene.resolve(scene.host.main, value)
            compiled_kernels.visit_imports(scene.host.main, shared, 0, 0)
            assert load_acquire(shared + at.ASYNC_IMPORTED) == 0
            scene.drop(made)
            drop_reference(scene.host.main, value)

        world.finally_assert(check)

    assert explore(scenario, interleavings=4000).interleavings > 10
    assert repeated == {False, True}


@pytest.mark.parametrize("fails", [False, True])
def test_a_run_is_over_once_when_its_last_result_is_there(fails: bool) -> None:
    def scenario(world: World) -> None:
        scene = KernelScene(world, 2)
        main = scene.host.main
        record = scene.record(0, at.TYPE_I64, at.TYPE_I64)
        made = scene.main(lambda: async_abi.create_value(8))
        name_cell(world, made, "result")
        failure = scene.host.error(9)

        def produce(context: int) -> None:
            scene.produce(context, made, 42, failure if fails else 0)

        def give(context: int) -> None:
            scene.enter(context, 0)
            compiled_kernels.kernel_return_object(context, record, 0, made)
            assert load(load(context + at.CONTEXT_RESULTS)) == made
            activation.leave_request(context, scene.request)

        scene.run(produce, "coroutine")
        scene.run(give, "kernel")

        def check() -> None:
            assert scene.host.done == [scene.request]
            assert payload(made) == (9 if fails else 42)
            assert load(made + at.VALUE_KIND) >> 8 == at.TYPE_I64 or fails
            reported = [event for event, _ in scene.coroutines.events]
            assert reported == ([at.EVENT_FAILED] if fails else [])
            drop_reference(main, made)
            if not fails:
                drop_reference(main, failure)

        world.finally_assert(check)

    assert explore(scenario, interleavings=4000).interleavings > 10


@pytest.mark.parametrize("what", ["tensor", "another", "error"])
def test_a_coroutine_gets_the_buffer_of_a_tensor_that_comes_later(what: str) -> None:
    def scenario(world: World) -> None:
        scene = KernelScene(world, 2)
        value = scene.value()
        record = scene.record(0, at.TYPE_I64)
        seen: list[tuple[int, int]] = []
        objects: list[int] = []

        def lend(context: int, pending: int) -> int:
            if what == "another":
                return scene.host.error(5)
            assert payload(load(pending + at.PENDING_VALUE)) == 42
            store(load(pending + at.PENDING_DESCRIPTOR), 1000)
            return 0

        def look(_: int) -> None:
            [made] = objects
            state = state_of(made)
            seen.append((state, payload(made) if state == at.ERROR else load(storage_of(made))))

        def await_value(context: int) -> None:
            scene.enter(context, value)
            made = compiled_kernels.kernel_buffer_object(context, record, 0, 40, 0)
            objects.append(made)
            async_abi.await_and_execute(made, 1, scene.coroutines.resume)

        scene.coroutines.answers[at.EVENT_TENSOR_ARRIVED] = lend
        scene.coroutines.when_resumed = look
        failure = 7 if what == "error" else 0
        scene.run(lambda context: scene.resolve(context, value, failure), "producer")
        scene.run(await_value, "coroutine")

        def check() -> None:
            scene.coroutines.run_tasks(scene.host.main)
            expected = {
                "tensor": (at.CONCRETE, 1000),
                "another": (at.ERROR, 5),
                "error": (at.ERROR, 7),
            }
            assert seen == [expected[what]]
            scene.drop(objects[0])
            drop_reference(scene.host.main, value)

        world.finally_assert(check)

    assert explore(scenario, interleavings=3000).interleavings > 10


@pytest.mark.parametrize("fails", [False, True])
def test_a_buffer_that_comes_later_is_a_tensor_before_its_run_is_over(fails: bool) -> None:
    def scenario(world: World) -> None:
        scene = KernelScene(world, 2)
        main = scene.host.main
        record = scene.record(0, at.TYPE_I64, at.TYPE_I64)
        made = scene.main(lambda: async_abi.create_value(40))
        name_cell(world, made, "result")
        failure = scene.host.error(9)
        results: list[int] = []

        def make_tensor(context: int, pending: int) -> int:
            address = load(load(pending + at.PENDING_DESCRIPTOR))
            return handles.value_of(context, at.TYPE_I64, address, 0)

        def produce(context: int) -> None:
            scene.produce(context, made, 1000, failure if fails else 0)

        def give(context: int) -> None:
            scene.enter(context, 0)
            compiled_kernels.kernel_return_buffer_object(context, record, 0, made, 0)
            results.append(load(load(context + at.CONTEXT_RESULTS)))
            activation.leave_request(context, scene.request)

        scene.coroutines.answers[at.EVENT_BUFFER_ARRIVED] = make_tensor
        scene.run(produce, "coroutine")
        scene.run(give, "kernel")

        def check() -> None:
            assert scene.host.done == [scene.request]
            assert (state_of(results[0]), payload(results[0])) == (
                (at.ERROR, 9) if fails else (at.CONCRETE, 1000)
            )
            drop_reference(main, results[0])
            if not fails:
                drop_reference(main, failure)

        world.finally_assert(check)

    assert explore(scenario, interleavings=3000).interleavings > 10


@explored
def test_results_that_a_failed_function_has_not_set_are_its_failure(world: World) -> None:
    scene = KernelScene(world, 0)
    main = scene.host.main

    def adapter(context: int, record: int) -> int:
        compiled_kernels.kernel_return(context, record, 0, 5)
        async_objects.fail_thread(context, scene.host.error(9))
        return 1

    record = scene.record(scene.host.function(adapter), at.TYPE_I64, at.TYPE_I64, at.TYPE_I64)
    scene.enter(main, 0, 0)
    compiled_kernels.run_compiled(main, record)
    frame = load(main + at.CONTEXT_RESULTS)
    results = [load(frame + 8 * place) for place in range(2)]

    assert [(state_of(value), payload(value)) for value in results] == [
        (at.CONCRETE, 5),
        (at.ERROR, 9),
    ]
    assert [event for event, _ in scene.coroutines.events] == [at.EVENT_FAILED]
    for value in results:
        drop_reference(main, value)


@explored
def test_a_function_that_waits_keeps_its_frame(world: World) -> None:
    scene = KernelScene(world, 1)
    main = scene.host.main
    token = scene.main(async_abi.create_token)
    inner = scene.record(0, at.TYPE_I64, at.TYPE_I64)

    def task(handle: int) -> None:
        # Another kernel, run by the thread that waits.
        scene.enter(main, 0, 0, 0)
        compiled_kernels.kernel_return(main, inner, 0, handle)
        drop_reference(main, load(load(main + at.CONTEXT_RESULTS)))
        async_abi.emplace_object(token)

    def adapter(context: int, record: int) -> int:
        async_abi.execute(3, scene.coroutines.resume)
        async_abi.await_object(token)
        assert load(compiled_kernels.kernel_argument(context, 0)) == 21
        assert load(context + at.CONTEXT_REQUEST) == scene.request
        compiled_kernels.kernel_return(context, record, 0, 42)
        async_abi.drop_ref(token, 1)
        return 0

    scene.coroutines.when_resumed = task
    argument = handles.value_of(main, at.TYPE_I64, 21, 0)
    scene.enter(main, argument)
    frame = load(main + at.CONTEXT_RESULTS)
    record = scene.record(scene.host.function(adapter), at.TYPE_I64, at.TYPE_I64)
    compiled_kernels.run_compiled(main, record)

    assert (load(main + at.CONTEXT_RESULTS), payload(load(frame))) == (frame, 42)
    drop_reference(main, load(frame))
    drop_reference(main, argument)
