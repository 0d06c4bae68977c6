# What the runtime's parts look like from Python: frames, functions, queues, allocators, contexts, tracing.
import threading
from concurrent.futures import ThreadPoolExecutor

import tfrt_nb as tfrt


@tfrt.kernel("host.later")
def later(frame: tfrt.KernelFrame, x: int):
    value = frame.allocate()  # returned now, set by another thread
    threading.Thread(target=lambda: value.emplace(x + 1)).start()
    return value


@tfrt.kernel("host.twice", raw=True)
def twice(frame: tfrt.KernelFrame, x):
    [function] = frame.functions  # a region of the operation
    first = function.execute([x])
    return function.execute(first)[0]


@tfrt.kernel("host.either", raw=True)
def either(x, y):
    return x if x.done() else y  # raw: AsyncValues, and one of them comes back


@tfrt.kernel("host.shares")
def shares(frame: tfrt.KernelFrame, x: int):
    parts = [frame.enqueue(lambda i=i: x * i) for i in range(4)]  # on the workers, as part of the run
    parts.append(frame.enqueue(lambda: threading.current_thread().name != "MainThread", blocking=True))
    return tfrt.gather(*parts).then(sum)  # a kernel need not wait


class Counter:
    """One per host, made when it is first asked for."""

    def __init__(self, host):
        self.count = 0


@tfrt.kernel("host.count")
def count(frame: tfrt.KernelFrame) -> int:
    own = frame.host.shared_context(Counter)
    own.count += 1
    names = frame.resources.get_or_create("names", list, list)  # of the run
    names.append(frame.name)
    return own.count * 10 + len(names)


text = """
func.func @frames(%x: i32) -> (i32, i32, i32) {
  %a = "host.later"(%x) : (i32) -> i32
  %b = "host.either"(%x, %a) : (i32, i32) -> i32
  %c = "host.shares"(%x) : (i32) -> i32
  tfrt.return %a, %b, %c : i32, i32, i32
}
func.func @counts() -> (i32, i32) {
  %a = "host.count"() : () -> i32
  %b = "host.count"() : () -> i32
  tfrt.return %a, %b : i32, i32
}
func.func @wait(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @region(%x: i32) -> i32 {
  %y = "host.twice"(%x) ({
  ^bb0(%v: i32):
    %w = tfrt.mul.i32 %v, %v
    tfrt.return %w : i32
  }) : (i32) -> i32
  tfrt.return %y : i32
}
"""
program = tfrt.Program(text)
print(program.frames(3).result(20), program.region(3).result(20))
with tfrt.HostContext("s") as host:
    print(program.counts(host=host).result(20), program.counts(host=host).result(20))


class Pool:
    """A work queue of one's own: tasks are callables."""

    name, parallelism_level = "pool", 2

    def __init__(self):
        self.threads = ThreadPoolExecutor(2, "pool")
        self.tasks = 0

    def add_task(self, task):
        self.tasks += 1
        self.threads.submit(task)

    def add_blocking_task(self, task, allow_queuing):
        threading.Thread(target=task).start()
        return True

    def await_values(self, values):
        for value in values:
            ended = threading.Event()
            value.and_then(ended.set)
            ended.wait()

    def quiesce(self):
        pass

    def is_in_worker_thread(self):
        return threading.current_thread().name.startswith("pool")


pool = Pool()
with tfrt.HostContext(pool) as host:
    print(program.frames(5, host=host).result(20)[0], pool.tasks > 0)
pool.threads.shutdown()


class Counting:
    """An allocator of one's own, over another one."""

    def __init__(self):
        self.below, self.bytes = tfrt.MallocAllocator(), 0

    def allocate_bytes(self, size, alignment):
        self.bytes += size
        return self.below.allocate_bytes(size, alignment)

    def deallocate_bytes(self, address, size):
        self.below.deallocate_bytes(address, size)


counting = Counting()
filled = tfrt.Program("""
func.func @main() -> !t.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  tfrt.return %t : !t.tensor
}
""")
with tfrt.HostContext("s", allocator=counting) as host:
    print(filled.run(host=host).result(20).shape, counting.bytes)

with tfrt.HostContext("mstd:2") as host:  # the cancel value of a host, and a deadline of a run
    waiting = tfrt.unavailable()
    run = program.wait(waiting, host=host)
    host.cancel("the whole host")
    print(run.results[0].exception(20).diagnostics[0].message, run.results[0].cancelled())
    print(program.wait(1, host=host).results[0].cancelled(), host.is_cancelled)
    host.restart()
    print(program.wait(1, host=host).result(20))
    never = tfrt.unavailable()
    late = program.wait(never, host=host, timeout=0.01).results[0].exception(20)
    print(isinstance(late, tfrt.TimeoutError))


class Sink:
    """Where a trace goes."""

    def __init__(self):
        self.names = []

    def begin(self, activity):
        self.names.append(activity.name)

    def end(self, activity):
        assert activity.begin_ns <= activity.end_ns

    def event(self, activity):
        self.names.append(activity.name)

    def close(self):
        pass


sink = Sink()
tracing = tfrt.Tracing(sink, tfrt.Level.DEBUG)
with tfrt.HostContext("s", tracing=tracing) as host, tracing.requested():
    program.counts(host=host).result(20)
print(sum("host.count" in name for name in sink.names))
