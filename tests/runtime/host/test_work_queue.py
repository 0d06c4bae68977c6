"""Test work queues: their descriptions, when threads start and end, and what threads leave."""

from __future__ import annotations

import gc
import os
import re
import resource
import signal
import subprocess
import sys
import threading

import pytest

from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.queue_names import WorkQueueError, parse_work_queue
from tfrt_runtime.host.queues.work_queue import make_work_queue
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import make_available, make_unavailable

CORES = os.cpu_count() or 1


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("s", (0, 256)),
        ("mstd", (CORES, 256)),
        ("mstd:3", (3, 256)),
        ("mstd:3,7", (3, 7)),
        ("mstd:1024,1024", (1024, 1024)),
    ],
)
def test_a_description_says_how_many_threads(text: str, threads: tuple[int, int]) -> None:
    assert parse_work_queue(text) == threads


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown work queue '': expected s, mstd, mstd:N or mstd:N,B"),
        ("S", "unknown work queue 'S'"),
        ("s:1", "unknown work queue 's:1'"),
        ("mstd:", "unknown work queue 'mstd:'"),
        ("mstd:-1", "unknown work queue 'mstd:-1'"),
        ("mstd:2,", "unknown work queue 'mstd:2,'"),
        ("mstd:2 ", "unknown work queue 'mstd:2 '"),
        ("mstd:01", "unknown work queue 'mstd:01'"),
        ("mstd:\u0662", "unknown work queue 'mstd:\u0662'"),
        ("mstd:99999999999", "must be 1 to 1024, not 99999999999"),
        (f"mstd:1,{'9' * 5000}", "blocking threads must be 1 to 1024, not 999"),
        ("mstd:0", "work queue 'mstd:0': threads must be 1 to 1024, not 0"),
        ("mstd:2000", "work queue 'mstd:2000': threads must be 1 to 1024, not 2000"),
        ("mstd:1,0", "work queue 'mstd:1,0': blocking threads must be 1 to 1024, not 0"),
    ],
)
def test_a_wrong_description_is_refused(text: str, message: str) -> None:
    with pytest.raises(WorkQueueError, match=re.escape(message)):
        parse_work_queue(text)
    with pytest.raises(WorkQueueError, match=re.escape(message)):
        HostContext(text)


@pytest.mark.parametrize(
    ("text", "name", "level"),
    [
        ("s", "single-threaded", 1),
        ("mstd:3,7", "Multi-threaded C++ work queue (3 threads, 7 blocking threads)", 3),
    ],
)
def test_a_queue_has_the_reference_s_name_and_a_parallelism_level(
    text: str, name: str, level: int
) -> None:
    queue = make_work_queue(text)

    assert (queue.name, queue.parallelism_level) == (name, level)
    queue.stop()


def workers() -> list[str]:
    names = (thread.name for thread in threading.enumerate())
    return sorted(name for name in names if name.startswith(("worker", "blocking")))


def test_threads_start_when_they_are_needed_and_end_with_the_host() -> None:
    seen = []
    with HostContext("mstd:2") as host:
        seen.append(workers())
        make_available(host.work_queue, 1, "i32")
        seen.append(workers())
        host.work_queue.start()
        host.work_queue.start()
        seen.append(workers())
    seen.append(workers())

    assert seen == [[], [], ["worker 1", "worker 2"], []]


def test_a_stopped_queue_starts_no_threads() -> None:
    with HostContext("mstd:2") as host:
        pass
    host.work_queue.start()
    host.close()

    assert workers() == []


def test_a_value_outlives_its_host() -> None:
    with HostContext("mstd:2") as host:
        value = make_available(host.work_queue, [1], "")
        late = make_unavailable(host.work_queue, "i32")
    del host
    late.emplace(2)

    assert (value.result(), late.result(1)) == ([1], 2)


def test_values_may_be_garbage_together_with_their_queue() -> None:
    """It must not matter which of them the collector finalizes first."""
    for _ in range(20):
        with HostContext("s") as host:
            ring: list[object] = [make_available(host.work_queue, object()) for _ in range(10)]
            ring.append(ring)
            ring.append(host)
        del ring, host


def test_threads_that_ended_leave_their_context_to_others() -> None:
    with HostContext("s") as host:

        def touch() -> None:
            make_available(host.work_queue, 1, "i32").result()

        for _ in range(200):
            thread = threading.Thread(target=touch)
            thread.start()
            thread.join()

        assert len(host.work_queue._contexts) <= 3


def test_a_value_may_die_while_its_queue_gets_to_know_the_thread() -> None:
    process = native_process()
    before = process.live_values()
    queue = make_work_queue("s")
    values = [make_available(queue, 1)]
    borrow = queue._borrow_context

    def collect_and_borrow() -> int:
        values.clear()  # the collector may do this when borrowing allocates memory
        return borrow()

    queue._borrow_context = collect_and_borrow
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.extend((queue.context(), queue.context())))
    thread.start()
    thread.join()

    assert found[0] == found[1] != 0
    assert process.live_values() == before
    queue._borrow_context = borrow
    assert len(queue.contexts) == 3 and sorted(queue._idle_contexts) == sorted(queue.contexts[1:])


def test_hosts_that_are_gone_leave_no_memory_behind() -> None:
    def use_hosts(count: int) -> int:
        for _ in range(count):
            with HostContext("s") as host:
                values = [make_available(host.work_queue, i, "i32") for i in range(2000)]
                del values
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before, after = use_hosts(30), use_hosts(100)

    assert after - before < 8_000  # in KiB; 100 free lists with 2,000 cells take 12,500


@pytest.mark.parametrize("has_timers", [False, True])
def test_the_threads_of_a_host_that_is_dropped_without_being_closed_end(has_timers: bool) -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        host = HostContext("mstd:2")
        host.work_queue.start()
        if has_timers:
            host.timers.after(1000, lambda: None)
        del host
    gc.collect()

    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) - before == set()


def test_a_child_process_refuses_its_parent_s_host_and_uses_one_of_its_own() -> None:
    with HostContext("mstd:2") as host:
        host.work_queue.start()
        child = os.fork()
        if child == 0:
            os._exit(in_child(host))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(host: HostContext) -> int:
    """Run the test's code in the child of a fork, and return its exit status."""
    signal.alarm(20)  # a child that hangs must not make the test hang
    try:
        Request(host, None)
    except WorkQueueError as problem:
        is_refused = "create a new host here" in str(problem)
    host.close()
    with HostContext("mstd:1") as own:
        late = make_unavailable(own.work_queue, "i32")
        threading.Thread(target=late.emplace, args=(2,)).start()
        return int(not (is_refused and late.result(10) == 2))


@pytest.mark.parametrize("entry", ["help_until", "watch_until"])
def test_a_thread_that_comes_late_to_its_sleep_does_not_sleep_for_ever(entry: str) -> None:
    # The deadlines are close to now, so the clock often passes one between its two reads.
    program = f"""
import ctypes, time
from tfrt_runtime.host.context import HostContext
queue = HostContext("s").work_queue
wait, word = queue.process.slow.{entry}, ctypes.c_int64(1)
context, address = queue.context(), ctypes.addressof(word)
for nanoseconds in range(20_000):
    wait(context, address, time.monotonic_ns() + nanoseconds)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
