# Cancel ends a wait without a limit at once, even while a plain Python kernel runs; so does an
# interrupt, after which the run goes on.
import os
import signal
import threading
import time
import warnings
from functools import partial

import tfrt_nb as tfrt

warnings.simplefilter("ignore", tfrt.BlockingWarning)  # on a busy machine the kernel runs for long

began, may_end = threading.Event(), threading.Event()


@tfrt.kernel("shop.slow")
def slow(x: int) -> int:
    began.set()
    may_end.wait(100)
    return x


@tfrt.program
def twice(x: tfrt.i32):
    return slow(slow(x))


program = twice.trace()


def start(host):
    """A run whose kernel may not end yet."""
    began.clear()
    may_end.clear()
    return program.run(1, host=host)


def when_it_runs(action):
    """Do something while the kernel runs; it may run already.

    Not at once: what has run for less than a millisecond may run on a thread that waits.
    """

    def act():
        if began.wait(100):
            time.sleep(0.1)
            action()

    threading.Thread(target=act).start()


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


for queue in ("mstd:1", "mstd:2"):
    waits = {"result": lambda run: run.result(), "value": lambda run: run.results[0].result()}
    for name, wait in waits.items():
        with tfrt.HostContext(queue) as host:
            run = start(host)
            when_it_runs(partial(run.cancel, "enough"))
            try:
                wait(run)
            except tfrt.CancelledError as error:
                print(
                    queue,
                    name,
                    error.__class__.__name__,
                    "before the kernel ends:",
                    not may_end.is_set(),
                )
            may_end.set()
            print(run.wait(), run.done())
    with tfrt.HostContext(queue) as host:
        run = start(host)
        try:
            when_it_runs(interrupt)
            run.result()
        except KeyboardInterrupt:
            print(queue, "interrupted before the kernel ends:", not may_end.is_set())
        may_end.set()
        print(run.wait(), run.result())

# A function that was short is waited for by working again, and gives the same.
may_end.set()
with tfrt.HostContext("mstd:1") as host:
    print([program.run(i, host=host).result() for i in range(5)])
