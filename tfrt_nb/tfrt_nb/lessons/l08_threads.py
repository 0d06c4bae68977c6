"""Exercises of tutorial 08, threads and queues."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable

from tfrt_nb.exercises.answer import Answer, Names, attempt, waited_for
from tfrt_nb.exercises.exercise import exercise
from tfrt_nb.tracing.eager import call
from tfrt_runtime.kernels.users.user import USER_KERNELS

_WAIT = 0.1
"""How long the kernel of `threads.blocking` waits, in seconds."""
_CALLS = 8
"""How many of them wait at the same time, unless they occupy a worker."""


@exercise(
    "threads.pools",
    form="a = compute\nb = compute\nc = compute\nd = compute",
    right="a = compute\nb = blocking\nc = blocking\nd = compute",
    wrong={
        "a = blocking\nb = blocking\nc = blocking\nd = compute": "how long",
        "a = compute\nb = compute\nc = blocking\nd = compute": "short",
        "a = compute\nb = blocking\nc = compute\nd = compute": "network",
        "a = compute\nb = blocking\nc = blocking\nd = blocking": "needs a processor",
        "a = compute\nb = blocking": "Part c",
    },
    why="Sorting (a) and compressing (d) need a processor all the time.  The others wait for "
    "something outside.",
)
def pools(answer: Answer) -> str | None:
    """Which pool is right, `compute` or `blocking`, for a kernel that (a) sorts numbers for 4
    seconds, (b) waits 1 ms for a clock, (c) downloads a page, (d) compresses a picture that is in
    memory?
    """
    return answer.hint_for_parts(
        a=(
            "compute",
            "blocking",
            "it does not matter how long it takes.  Does sorting need a processor while it runs?",
        ),
        b=(
            "blocking",
            "compute",
            "it is short, but it only waits, and a worker would be idle.",
        ),
        c=("blocking", "compute", "it waits for the network most of the time."),
        d=(
            "compute",
            "blocking",
            "the picture is in memory, so it needs a processor all the time.",
        ),
    )


@exercise(
    "threads.start",
    form="a = 30\nb = 40",
    right="a = 0\nb = 200",
    wrong={
        "a = 0\nb = 0": "Both workers",
        "a = 200\nb = 200": "earliest",
        "a = 0\nb = 100": "sleep at the same time",
        "a = 0\nb = 400": "third",
        "a = 0\nb = 600": "at the same time",
        "a = now\nb = 200": "Part a: Write whole numbers",
    },
    why="If %d is taken first, it starts at once.  If two sleepers are taken first, both workers "
    "are asleep until 200 ms.  Then a worker is free; if the third sleeper goes first, the other "
    "worker takes %d, also at 200 ms.",
)
def start(answer: Answer) -> str | None:
    """On `mstd:2`, three kernels that sleep 200 ms run on the **compute** pool by mistake; `%d`, a
    sum, is ready at 0 as well. (a) When can `%d` start at the earliest, and (b) at the latest?
    Write two numbers, in ms. (Only the two workers run kernels.)
    """
    a, b = (one.number() for one in answer.parts("a", "b"))
    if (a, b) == (0, 0):
        return "(b) Both workers may take a sleeper first.  Who would run %d then?"
    if a != 0:
        return "(a) At the earliest: which kernel may a worker take first?"
    if b in (100, 600):
        return "(b) The two workers sleep at the same time, starting at 0."
    if b == 400:
        return (
            "(b) At 200 ms both workers wake up.  One may take the third sleeper; what does "
            "the other one do?"
        )
    return None if b == 200 else "Keep a clock for each of the two workers."


@exercise(
    "threads.blocking",
    start="""\
    @tfrt.kernel("my.download")
    def download(page: int) -> int:
        time.sleep(0.1)
        return page * 2
    """,
    right=(
        """\
        import time
        @tfrt.kernel("my.download", blocking=True)
        def download(page: int) -> int:
            time.sleep(0.1)
            return page * 2
        """,
        """\
        import time
        def fetched(page):
            time.sleep(0.1)
            return page * 2
        @tfrt.kernel("my.download", blocking=True)
        def download(page: int) -> int:
            return fetched(page)
        """,
        """\
        import asyncio
        @tfrt.kernel("my.download")
        async def download(page: int) -> int:
            await asyncio.sleep(0.1)
            return page * 2
        """,
        """\
        import asyncio
        import time
        @tfrt.kernel("my.download")
        async def download(page: int) -> int:
            await asyncio.to_thread(time.sleep, 0.1)
            return page * 2
        """,
        """\
        import threading
        @tfrt.kernel("my.download")
        def download(page: int) -> int:
            later = tfrt.unavailable()
            threading.Timer(0.1, later.set_result, [2 * page]).start()
            return later
        """,
    ),
    wrong={
        "import time\n@tfrt.kernel('my.download', blocking=True)\ndef download(page: int) -> "
        "int:\n    return page * 2": "Keep the wait",
        "import time\n@tfrt.kernel('my.download')\ndef download(page: int) -> int:\n    "
        "time.sleep(0.05)\n    return page * 2": "still ties up a worker",
        "@tfrt.kernel('my.download')\ndef download(page: int) -> int:\n    return "
        "page * 2": "Keep the wait",
        "import asyncio, time\n@tfrt.kernel('my.download')\nasync def download(page: int) -> "
        "int:\n    await asyncio.sleep(0)\n    time.sleep(0.1)\n    return page * 2": "event loop",
        "import time\n@tfrt.kernel('my.download', blocking=True)\ndef download(page: int) -> "
        "int:\n    time.sleep(0.1)\n    print(page * 2)": "expected i64",
        "import time\ndef download(page):\n    time.sleep(0.1)\n    return "
        "page * 2": "@tfrt.kernel",
        "import time\n@tfrt.kernel('my.download', blocking=True)\ndef download(page: int) -> "
        "int:\n    time.sleep(0.1)\n    return page": "not 6",
        "import time\n@tfrt.kernel('my.download')\nasync def download(page: int) -> int:\n    "
        "time.sleep(0.1)\n    return page * 2": "event loop",
        "from time import sleep\n@tfrt.kernel('my.download')\nasync def download(page: int) -> "
        "int:\n    sleep(0.1)\n    return page * 2": "event loop",
    },
    why="`blocking=True` gives the kernel a thread of the blocking pool.  An `async def` kernel "
    "waits without any thread.",
)
def blocking(answer: Names) -> str | None:
    """Change the kernel so that it waits without tying up a worker. It must still wait, and return
    twice its argument.
    """
    function = answer.get("download")
    made = getattr(function, "kernel", None)
    if made is None or not callable(function):
        return "`download` must be a kernel: keep `@tfrt.kernel`."
    is_async = inspect.iscoroutinefunction(made.function)
    for _ in range(2):  # on a busy machine all that a first call needs takes as long as the wait
        began = time.monotonic()
        found = attempt("download(3)", lambda: waited_for(call(made.name, 3)))
        if time.monotonic() - began < _WAIT / 2:  # clocks differ
            awaited = "  A coroutine such as `asyncio.sleep(…)` runs only when it is awaited."
            return (
                f"Keep the wait of {_WAIT} s: it stands for the wait of a real "
                f"kernel.{awaited * is_async}"
            )
    # The second time, all that a first call needs is there.
    if not getattr(USER_KERNELS[made.name], "blocking", False) and not any(
        _overlap(function) for _ in range(2)
    ):
        if is_async:
            return (
                "It blocks all kernels on the event loop: in an `async def`, write `await "
                "asyncio.sleep`."
            )
        return "It still ties up a worker while it waits, however short the wait is."
    return None if found == 6 else f"download(3) returns {found}, not 6."


def _overlap(kernel: Callable[..., object]) -> bool:
    """Whether several calls wait at the same time, where there is one worker."""
    from tfrt_nb.tracing.functions import program
    from tfrt_runtime.host.context import HostContext

    several = program(lambda: tuple(kernel(3) for _ in range(_CALLS))).trace()
    with HostContext("mstd:1") as host:
        began = time.monotonic()
        several.run(host=host).wait(_CALLS * _WAIT)
        return time.monotonic() - began < _CALLS * _WAIT / 2
