"""Exercises of tutorial 10, a project: a page of downloads."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Lock

from tfrt_nb.exercises.answer import SECONDS, Names, Wrong, attempt
from tfrt_nb.exercises.exercise import exercise
from tfrt_nb.tracing.functions import program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.users.user import kernel


class Server:
    """A simulated server: slow, with a limit, and unreliable.

    The first request for page 3 fails, page 5 hangs, and page 8 is the last one.
    `asked` lists the pages that were requested, and `most` is the largest number of simultaneous
    requests. Any thread may call `ask`.
    """

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.most = self._now = 0
        self._lock = Lock()

    def ask(self, page: int) -> int:
        """The size of a page, after a while.

        Raises:
            ConnectionError: if asking again helps.
            ValueError: if there is no such page.
        """
        with self._lock:
            self.asked.append(page)
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(1.5 if page == 5 else 0.15)
        with self._lock:
            self._now -= 1
        if page > 8:
            raise ValueError(f"there is no page {page}")
        if page == 3 and self.asked.count(page) == 1:
            raise ConnectionError(f"page {page}: the connection was reset")
        return 100 * page


def _fetched(answer: Names, pages: Iterable[int]) -> tuple[Server, list[object]]:
    """Request all pages at once with the answer's `fetch`; return the new server, and each page's
    size or exception.
    """
    function = answer.get("fetch")
    if not callable(function) or getattr(function, "kernel", None) is None:
        raise Wrong("`fetch` must be a kernel: keep `@tfrt.kernel`.")
    server, before = Server(), answer.names.get("ask")
    answer.names["ask"] = server.ask
    try:
        several = attempt("fetch", program(lambda: tuple(function(page) for page in pages)).trace)
        with HostContext("mstd:1") as host:
            run = several.run(host=host)  # type: ignore[attr-defined]
            if not run.wait(SECONDS):
                raise Wrong(f"`fetch` is not done after {SECONDS:g} s.")
            errors = [one.exception() for one in run.results]
            sizes = [
                one.result() if error is None else error.__cause__ or error
                for one, error in zip(run.results, errors, strict=True)
            ]
    finally:
        answer.names["ask"] = before
    return server, sizes


def _missing(sizes: list[object], expected: list[int]) -> str | None:
    """Return the hint about the first size that is not as expected."""
    for size, wanted in zip(sizes, expected, strict=True):
        if size != wanted:
            shown = f"{type(size).__name__}: {size}" if isinstance(size, Exception) else size
            return f"Page {wanted // 100} gives {shown}; its size is {wanted}."
    return None


_PLAIN = """\
@tfrt.kernel("page.fetch")
def fetch(page: int) -> int:
    return ask(page)
"""


def _with(options: str) -> str:
    return _PLAIN.replace('"page.fetch"', f'"page.fetch", {options}')


_RETRIES = "blocking=True, retries=2, retry_on=OSError"


@exercise(
    "downloads.kernel",
    start=_PLAIN,
    right=(
        _with("blocking=True"),
        _PLAIN.replace("def ", "async def ").replace(
            "ask(page)", "await asyncio.to_thread(ask, page)"
        ),
    ),
    wrong={
        _PLAIN.replace('"page.fetch"', '"page.get"'): "one after the other",
        _with("blocking=True").replace("ask(page)", "page"): "Page 1 gives 1",
        _with("blocking=True").replace("@", "# @"): "must be a kernel",
        _PLAIN.replace("def ", "async def "): "one after the other",
    },
    why="`ask` waits for a server, so it belongs in the blocking pool: all requests wait at the "
    "same time.",
)
def download_kernel(answer: Names) -> str | None:
    """Change `fetch` so that all requests wait at the same time, even on one worker."""
    server, sizes = _fetched(answer, (1, 2, 4, 6))
    if found := _missing(sizes, [100, 200, 400, 600]):
        return found
    one_by_one = (
        "The requests are made one after the other.  Does `ask` need a processor while it runs?"
    )
    return None if server.most > 1 else one_by_one


@exercise(
    "downloads.retry",
    start=_with("blocking=True"),
    right=(
        _with(_RETRIES),
        _with("blocking=True, retries=1, retry_on=ConnectionError, delay=0.1"),
    ),
    wrong={
        _with("blocking=True, retries=2"): "requested 3 times",
        _with("blocking=True, retry_on=OSError"): "give retries=",
        _with("blocking=True, retries=2, retry_on=ValueError"): "Page 3 gives ConnectionError",
        _with("retries=2, retry_on=OSError"): "one after the other",
    },
    why="A `ConnectionError` is an `OSError`; a `ValueError` is not: asking again for a page that "
    "does not exist does not help.",
)
def download_retry(answer: Names) -> str | None:
    """The first request for page 3 fails with a `ConnectionError`. Let `fetch` ask again, at most
    twice. But it must ask only once for a page that does not exist (a `ValueError`).
    """
    server, sizes = _fetched(answer, (3, 9, 1, 2))
    if found := _missing([sizes[0], *sizes[2:]], [300, 100, 200]):
        return found
    if (times := server.asked.count(9)) > 1:
        return f"Page 9 does not exist, but was requested {times} times: see `retry_on=`."
    return (
        None if server.most > 1 else "The requests are made one after the other: `blocking=True`."
    )


@exercise(
    "downloads.limit",
    start=_with(_RETRIES),
    right=_with(_RETRIES + ", limit=3"),
    wrong={
        _with("blocking=True, limit=3"): "Page 3 gives ConnectionError",
        _with(_RETRIES + ", limit=8"): "at the same time",
        _with(_RETRIES + ", limit=1"): "one after the other",
        _with(_RETRIES + ", limit=0"): "limit",
    },
    why="`limit=3` lets three calls run; the others wait without a thread until one is done.",
)
def download_limit(answer: Names) -> str | None:
    """If you make more than three requests at a time, the check's server stops serving you.
    Let `fetch` make at most three, and still ask again.
    """
    pages = (1, 2, 3, 4, 6, 7, 8)
    server, sizes = _fetched(answer, pages)
    if found := _missing(sizes, [100 * page for page in pages]):
        return found
    if server.most > 3:
        return f"{server.most} requests ran at the same time; at most three may."
    return None if server.most > 1 else "The requests are made one after the other: three may run."


@exercise(
    "downloads.deadline",
    start=_with(_RETRIES + ", limit=3"),
    right=(
        _with(_RETRIES + ", limit=3, timeout=0.5, deadline=1.0"),
        _with(_RETRIES + ", limit=3, deadline=1.0"),
    ),
    wrong={
        _with(_RETRIES + ", limit=3, timeout=5"): "Page 5 gives 500",
        _with(_RETRIES + ", limit=3, timeout=0.05"): "Page 1 gives TimeoutError",
        _with(_RETRIES + ", deadline=1.0").replace("blocking=True, ", ""): "blocking",
        _with("blocking=True, limit=3, deadline=1.0"): "Page 3 gives ConnectionError",
    },
    why="`timeout=` is for one attempt, `deadline=` for a call with all its attempts and delays.",
)
def download_deadline(answer: Names) -> str | None:
    """Page 5 hangs. Let each call of `fetch`, with all its attempts, end after at most one second;
    the other pages must still arrive.
    """
    _, sizes = _fetched(answer, (5, 1, 3))
    if found := _missing(sizes[1:], [100, 300]):
        return found
    if isinstance(sizes[0], TimeoutError):
        return None
    return f"Page 5 gives {sizes[0]}; it must end in a TimeoutError: it hangs for 1.5 s."


_server = Server()


@kernel("lesson.fetch", blocking=True, retries=2, retry_on=OSError, limit=3, deadline=1.0)
def fetch(page: int) -> int:
    """The size of a page of a simulated server: what the steps before `downloads.live` built."""
    return _server.ask(page)


_ALL = """\
@tfrt.program
def one(page: tfrt.i32):
    return fetch(page)


def download(pages, enough):
    sizes = []
    for box in one.map(pages).as_completed():
        sizes.append(box.result())
    return sizes
"""
_LIVE = """\
@tfrt.program
def one(page: tfrt.i32):
    return fetch(page)


def download(pages, enough):
    sizes, run = [], one.map(pages)
    for box in run.as_completed():
        if box.exception() is None:
            sizes.append(box.result())
        if sum(sizes) >= enough:
            run.cancel()
            break
    return sizes
"""


@exercise(
    "downloads.live",
    start=_ALL,
    right=_LIVE,
    wrong={
        _ALL.replace(
            "        sizes", "        if box.exception() is None:\n            sizes"
        ): "cancel",
        _LIVE.replace("            run.cancel()\n", "            pass\n").replace(
            "            break\n", ""
        ): "cancel",
        _LIVE.replace("        if box.exception() is None:\n    ", ""): "raises",
        _LIVE.replace("sum(sizes) >= enough", "sizes"): "For pages 1, 9, 2, 3",
        _LIVE.replace("return sizes", "return sum(sizes)"): "in a list",
    },
    why="`as_completed` gives each box when it is decided, so you can act on it; `cancel` turns "
    "every box that is still empty into an error, and no further page is requested.",
)
def download_live(answer: Names) -> str | None:
    """Write `download(pages, enough)`. It fetches all pages at once, with `fetch` from the
    earlier steps, and returns the sizes in a list, in the order in which they arrive. A page that
    fails is left out. As soon as the sizes together are `enough` or more, it cancels the rest and
    returns.
    """
    before = answer.names.get("fetch")
    answer.names["fetch"] = fetch
    try:
        sizes = answer.call("download", [1, 9, 2, 3], 10**6)
        if not isinstance(sizes, list) or sorted(sizes) != [100, 200, 300]:
            return f"For pages 1, 9, 2, 3 it returns {sizes}, not 100, 200, and 300 in a list."
        _server.asked.clear()
        sizes = answer.call("download", [2] * 20, 500)
        asked = -1
        while asked != (asked := len(_server.asked)) or _server._now:
            time.sleep(0.05)
    finally:
        answer.names["fetch"] = before
    if asked == 20:
        return "It requests all 20 pages, although three are enough: cancel the rest."
    return (
        None
        if sizes == [200] * 3
        else "Three pages of 200 bytes are enough for 500: it should return [200, 200, 200]; found "
        f"{sizes}."
    )
