"""Test programs on work queues that users implement."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.hand_cranked import HandCrankedQueue

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.queue_names import WorkQueueError
from tfrt_runtime.host.queues.user_queue import Awaited, Task
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels

FORK = """
func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %start = "tfrt_test.sum"(%one) : (i32) -> i32
  %left = "test.left"(%start) : (i32) -> i32
  %right = "test.right"(%start) : (i32) -> i32
  %total = tfrt.add.i32 %left, %right
  tfrt.return %total : i32
}
"""

FIB = """
func @fib(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %c = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %c, %n : (i32) -> i32 {
    tfrt.return %n : i32
  } else {
    %m1 = tfrt.constant.i32 -1
    %m2 = tfrt.constant.i32 -2
    %a = tfrt.add.i32 %n, %m1
    %b = "tfrt_test.async_add.i32"(%n, %m2) : (i32, i32) -> i32
    %fa = tfrt.call @fib(%a) : (i32) -> i32
    %fb = tfrt.call @fib(%b) : (i32) -> i32
    %s = tfrt.add.i32 %fa, %fb
    tfrt.return %s : i32
  }
  tfrt.return %r : i32
}
func @main() -> i32 {
  %n = tfrt.constant.i32 12
  %r = tfrt.call @fib(%n) : (i32) -> i32
  tfrt.return %r : i32
}
"""


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def kernels(ran: list[str]) -> KernelRegistry:
    """The standard kernels, and `test.left` and `test.right`, which record that they ran."""
    registry = standard_kernels()

    def noted(name: str) -> Callable[[int], int]:
        def run(value: int) -> int:
            ran.append(name)
            return value

        return run

    registry.kernel("test.left", results=("i32",))(noted("left"))
    registry.kernel("test.right", results=("i32",))(noted("right"))
    registry.kernel("test.blocking", results=("i32",), blocking=True)(noted("blocking"))
    return registry


def start(host: HostContext, text: str, kernels: KernelRegistry | None = None) -> Execution:
    return Program.from_source(text, "t.mlir").run(host, kernels=kernels, output=lambda _: None)


class Inline(HandCrankedQueue):
    """A queue that runs each task as it is added."""

    name = "inline"

    def add_task(self, task: Callable[[], object]) -> None:
        task()

    def add_blocking_task(
        self, task: Callable[[], object], allow_queuing: bool
    ) -> Callable[[], object] | None:
        task()
        return None


class Pool:
    """A queue on a thread pool of the standard library."""

    name = "pool"
    parallelism_level = 4

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(4, "pool")

    def add_task(self, task: Task) -> None:
        self._pool.submit(task)

    def add_blocking_task(self, task: Task, allow_queuing: bool) -> Task | None:
        self._pool.submit(task)
        return None

    def await_values(self, values: Sequence[Awaited]) -> None:
        for value in values:
            done = threading.Event()
            value.and_then(done.set)
            done.wait()

    def quiesce(self) -> None:
        self._pool.shutdown()

    def is_in_worker_thread(self) -> bool:
        return threading.current_thread().name.startswith("pool")


@pytest.fixture(params=[HandCrankedQueue, Inline, Pool])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    """A host on each kind of queue."""
    with HostContext(request.param()) as made:
        yield made


def test_a_host_has_the_user_s_queue_by_its_name() -> None:
    with HostContext(Pool()) as host:
        seen = host.work_queue.name, host.work_queue.parallelism_level

    assert seen == ("pool", 4)


def test_a_program_runs_on_any_queue(host: HostContext) -> None:
    run = start(host, FIB)

    assert run.wait(20)
    assert run.results[0].result(0) == 144


@pytest.mark.parametrize("kernels", [-1, 0, 1, 10**30])
def test_a_task_runs_one_kernel_at_least(kernels: int) -> None:
    queue = HandCrankedQueue()
    queue.kernels_per_task = kernels
    with HostContext(queue) as host:
        run = start(host, FIB)
        assert run.wait(20)
        assert run.results[0].result(0) == 144


def test_a_run_that_goes_on_is_never_stuck(host: HostContext) -> None:
    for _ in range(5):
        run = start(host, FIB)
        waiting = threading.Thread(target=run.wait, args=(20,))
        waiting.start()
        found: list[object] = []
        while not run.is_done:
            found += run.stuck()
        waiting.join()

        assert found == []


def test_blocking_kernels_go_to_the_user_s_queue(
    host: HostContext, kernels: KernelRegistry
) -> None:
    run = start(host, FORK.replace("test.left", "test.blocking"), kernels)

    assert run.wait(20)
    assert run.results[0].result(0) == 2


def test_quiesce_ends_on_any_queue(host: HostContext) -> None:
    text = """func @main() -> (!tfrt.chain, i32) {
      %ch = tfrt.new.chain
      %one = tfrt.constant.i32 1
      %q = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
      %two = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
      tfrt.return %q, %two : !tfrt.chain, i32
    }"""
    run = start(host, text)

    assert run.wait(20)
    assert run.results[1].result(0) == 2
    # A worker of a user's queue must not wait, unless everything else is done.
    text = "a thread of work queue 'pool' cannot wait for it"
    assert [problem.message for problem in run.diagnostics] in ([], [text])


@pytest.mark.parametrize("names", list(itertools.permutations(["test.waits", "test.resolves"])))
def test_a_kernel_that_waits_reaches_what_is_ready_behind_it(names: tuple[str, str]) -> None:
    text = f"""func @main() -> (i32, i32) {{
      %a = "{names[0]}"() : () -> i32
      %b = "{names[1]}"() : () -> i32
      tfrt.return %a, %b : i32, i32
    }}"""
    with HostContext(HandCrankedQueue()) as host:
        late = make_unavailable(host.work_queue, "i32")

        def resolve() -> int:
            late.emplace(42)
            return 1

        registry = standard_kernels()
        registry.kernel("test.waits", results=("i32",))(lambda: late.result(20))
        registry.kernel("test.resolves", results=("i32",))(resolve)
        run = start(host, text, registry)
        assert run.wait(20)
        found = {value.result(0) for value in run.results}

    assert found == {1, 42}


@pytest.mark.parametrize("order", list(itertools.permutations([0, 1])))
def test_the_user_s_queue_chooses_who_is_next(
    order: tuple[int, int], kernels: KernelRegistry, ran: list[str]
) -> None:
    queue = HandCrankedQueue()
    with HostContext(queue) as host:
        run = start(host, FORK, kernels)
        seen = [queue.pending]
        queue.run()
        seen.append(sorted(queue.pending))
        chosen = [queue.pending[order[0]].removeprefix("test.")]
        queue.run(order[0])
        chosen.append(queue.pending[0].removeprefix("test."))
        queue.run()
        seen.append(queue.pending)
        assert run.wait(20)

    assert seen == [["tfrt_test.sum"], ["test.left", "test.right"], ["tfrt.add.i32"]]
    assert ran == chosen


def test_a_lost_task_ends_the_run_with_an_error(kernels: KernelRegistry) -> None:
    queue = HandCrankedQueue()
    with HostContext(queue) as host:
        run = start(host, FORK, kernels)
        queue.run()
        queue.drop(queue.pending.index("test.left"))
        assert run.wait(20)

        text = "work queue 'hand-cranked' dropped the task of 'test.left' without running it"
        assert [str(d) for d in run.diagnostics] == [f"t.mlir:5:11: error: {text}"]
        problem = run.results[0].exception(0)
        assert problem is not None
        assert problem.diagnostics[0].message == text


class Refusing(HandCrankedQueue):
    """A queue that takes only the first task."""

    name = "refusing"

    def add_task(self, task: Callable[[], object]) -> None:
        if self.taken:
            raise RuntimeError("no room")
        self.taken = True
        super().add_task(task)

    def add_blocking_task(
        self, task: Callable[[], object], allow_queuing: bool
    ) -> Callable[[], object] | None:
        return task

    taken = False


def test_a_queue_that_raises_ends_the_run_with_an_error(kernels: KernelRegistry) -> None:
    text = "work queue 'refusing' did not accept the task of 'test."
    with HostContext(Refusing()) as host:
        run = start(host, FORK, kernels)
        assert run.wait(20)
        [first, *_] = run.diagnostics

    assert first.message.startswith(text)
    assert first.message.endswith("RuntimeError: no room")
    assert run.results[0].exception(0) is not None


def test_a_blocking_task_that_is_given_back_is_an_error(kernels: KernelRegistry) -> None:
    class GivesBack(HandCrankedQueue):
        def add_blocking_task(
            self, task: Callable[[], object], allow_queuing: bool
        ) -> Callable[[], object] | None:
            return task

    with HostContext(GivesBack()) as host:
        run = start(host, FORK.replace("test.left", "test.blocking"), kernels)
        assert run.wait(20)

        assert [d.message for d in run.diagnostics] == [
            "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."
        ]


def test_what_a_blocking_kernel_waits_for_may_not_queue(kernels: KernelRegistry) -> None:
    """The queue has one blocking thread, and starts more for tasks that must not wait."""
    asked: list[tuple[str, bool]] = []

    class OneThread(Pool):
        blocking = ThreadPoolExecutor(1)

        def add_blocking_task(self, task: Task, allow_queuing: bool) -> Task | None:
            asked.append((task.name, allow_queuing))
            if allow_queuing:
                self.blocking.submit(task)
            else:
                threading.Thread(target=task).start()
            return None

    inner = FORK.replace("test.left", "test.blocking")
    outer = FORK.replace("test.left", "test.outer")
    with HostContext(OneThread()) as host:

        def wait_for_inner(value: int) -> object:
            return start(host, inner, kernels).results[0].result()

        kernels.kernel("test.outer", results=("i32",), blocking=True)(wait_for_inner)
        assert start(host, outer, kernels).results[0].result(20) == 3
        assert start(host, inner, kernels).results[0].result(20) == 2
    OneThread.blocking.shutdown()

    assert asked == [("test.outer", True), ("test.blocking", False), ("test.blocking", True)]


def test_a_queue_that_cannot_wait_is_an_error() -> None:
    class Broken(HandCrankedQueue):
        def await_values(self, values: Sequence[object]) -> None:
            raise OSError("broken")

    with HostContext(Broken()) as host:
        run = start(host, FIB)
        with pytest.raises(WorkQueueError, match="cannot wait: OSError: broken"):
            run.wait(20)
        host.work_queue._user.quiesce()  # type: ignore[attr-defined]


def test_a_worker_must_not_wait(kernels: KernelRegistry) -> None:
    kernels.kernel("test.waits", results=("i32",), frame=True)(
        lambda frame: frame.allocate().result(1)
    )
    text = """func @main() -> i32 {
  %a = "test.waits"() : () -> i32
  tfrt.return %a : i32
}"""
    with HostContext(Pool()) as host:
        run = start(host, text, kernels)
        assert run.wait(20)

        assert "a thread of work queue 'pool' cannot wait for it" in str(run.diagnostics[0])


def test_a_task_runs_once(kernels: KernelRegistry) -> None:
    tasks: list[Callable[[], object]] = []

    class Keeps(HandCrankedQueue):
        def add_task(self, task: Callable[[], object]) -> None:
            tasks.append(task)
            super().add_task(task)

    with HostContext(Keeps()) as host:
        assert start(host, FORK, kernels).wait(20)

        with pytest.raises(RuntimeError, match=r"task 'tfrt_test\.sum' has already run"):
            tasks[0]()
        tasks.clear()


def test_a_run_that_nobody_cranks_waits_until_its_time_is_over(kernels: KernelRegistry) -> None:
    class Asleep(HandCrankedQueue):
        def await_values(self, values: Sequence[Awaited]) -> None:  # type: ignore[override]
            for value in values:
                done = threading.Event()
                value.and_then(done.set)
                done.wait()

    with HostContext(Asleep()) as host:
        run = start(host, FORK, kernels)

        assert (run.wait(0.05), run.stuck()) == (False, [])


ENDLESS_SYNC = """
func @body(%x: i64) -> (i64, i1) attributes {tfrt.sync} {
  %one = tfrt.constant_s.i64 1
  %y = "tfrt.add_s.i64"(%x, %one) : (i64, i64) -> i64
  %yes = tfrt.constant_s.i1 true
  tfrt.return %y, %yes : i64, i1
}
func @main() -> i64 attributes {tfrt.sync} {
  %x = tfrt.constant_s.i64 0
  %yes = tfrt.constant_s.i1 true
  %r = tfrt.while %yes @body(%x) parallel_iterations(1) : (i64) -> (i64)
  tfrt.return %r : i64
}
"""


def test_a_long_sync_function_makes_room_again_and_again(leak_check: None) -> None:
    queue = HandCrankedQueue()
    with HostContext(queue) as host:
        execution = start(host, ENDLESS_SYNC)
        for _ in range(3):  # each call returns, and leaves the rest as another task
            queue.run()
        execution.cancel("enough")
        while not execution.is_done:
            queue.run()
        problem = execution.results[0].exception(0)
        del execution
    assert problem is not None
    assert problem.diagnostics[0].message == "enough"
