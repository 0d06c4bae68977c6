"""Test errors that keep places instead of frames: readers of tracebacks show the same as before."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import io
import json
import linecache
import pdb  # noqa: T100 - it reads tracebacks
import sys
import traceback
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import stack_data
from IPython.core.ultratb import AutoFormattedTB

from tfrt_runtime.host.failures import detach


class Shop:
    """A class whose code has cells, free variables, a comprehension, and multiline expressions."""

    def count(self, pieces: int, *more: int, **named: int) -> int:
        def left(price: int) -> int:
            return (pieces - price) + (
                pieces // (price - price)
            )  # fmt: skip

        return sum(left(price) for price in [pieces])

    @staticmethod
    def read(text: str) -> object:
        return [json.loads(each) for each in [text]]


def a_cause() -> None:
    try:
        {}["x"]
    except KeyError as problem:
        raise ValueError("v") from problem


def a_context() -> None:
    try:
        {}["x"]
    except KeyError:
        compile("def f(:\n  pass", "some.py", "exec")


def a_group() -> None:
    raise BaseExceptionGroup("all", [caught(a_cause), caught(a_context)])


def endless(depth: int) -> int:
    return endless(depth + 1) + 1


async def awaited() -> float:
    async def inner() -> float:
        return 1 / 0

    return await inner()


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    exceptions: None = None


def frozen() -> None:
    raise Frozen


def leaves() -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: {}["x"])
        assert stack


def of_text(source: str, path: str, name: str) -> Callable[[], object]:
    space: dict[str, Callable[[], object]] = {}
    exec(compile(source, path, "exec"), space)  # noqa: S102
    return space[name]


FAILING: dict[str, Callable[[], object]] = {
    "closure": lambda: Shop().count(3),
    "library": lambda: Shop.read("{"),
    "cause": a_cause,
    "context": a_context,
    "group": a_group,
    "recursion": lambda: endless(0),
    "coroutine": lambda: asyncio.run(awaited()),
    "frozen": frozen,
    "with": leaves,
    "no file": of_text("def f():\n    return 1 / 0", "<string>", "f"),
}


def caught(function: Callable[[], object]) -> BaseException:
    try:
        function()
    except BaseException as problem:  # noqa: BLE001
        return problem.with_traceback(problem.__traceback__.tb_next)
    raise AssertionError


def as_text(problem: BaseException) -> str:
    """Return the traceback as text, as many readers print it.

    These are `traceback`, `logging`, pytest's native style and, from 3.13 on, Python itself.
    """
    return "".join(traceback.format_exception(problem))


def as_python(problem: BaseException) -> str:
    with contextlib.redirect_stderr(io.StringIO()) as shown:
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    return shown.getvalue()


def as_ipython(problem: BaseException) -> str:
    reader = AutoFormattedTB(mode="Context")
    return "\n".join(
        reader.structured_traceback(type(problem), problem, problem.__traceback__, tb_offset=0)
    )


def as_pytest(problem: BaseException) -> str:
    return str(pytest.ExceptionInfo.from_exception(problem).getrepr(style="long"))


def as_nodes(problem: BaseException) -> list[tuple[object, ...]]:
    """Return the expressions that `executing` finds from the instructions."""
    frames = stack_data.FrameInfo.stack_data(problem.__traceback__, collapse_repeated_frames=False)
    found = [each.executing for each in frames if isinstance(each, stack_data.FrameInfo)]
    return [(each.code_qualname(), each.text(), type(each.node)) for each in found]


READ = [(kind, reader) for kind in FAILING for reader in (as_text, as_python)]
# The other readers compare locals, or take too long.
READ += [
    (kind, reader) for kind in FAILING if kind != "recursion" for reader in (as_pytest, as_nodes)
]
READ += [(kind, as_ipython) for kind in ("closure", "library", "group")]


@pytest.mark.parametrize(("kind", "reader"), READ)
def test_a_reader_shows_a_detached_error_as_it_shows_the_error(
    kind: str, reader: Callable[[BaseException], object]
) -> None:
    problem = caught(FAILING[kind])
    expected = reader(problem)
    for _ in range(2):  # an error's cause may also be the cause of another one
        detach(problem)
        assert reader(problem) == expected


def test_a_debugger_lists_the_line_that_failed_and_names_what_is_not_kept() -> None:
    problem = caught(lambda: Shop().count(3))
    detach(problem)
    said = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("list\np price, len\n"), stdout=said, nosigint=True)
    debugger.use_rawinput = False
    debugger.reset()
    debugger.interaction(None, problem.__traceback__)
    lines = said.getvalue().splitlines()
    assert [each for each in lines if "->\t" in each] == [
        next(each for each in lines if "pieces // (price - price)" in each and "\t" in each)
    ]
    assert any("(<not kept>, <built-in function len>)" in each for each in lines)


def test_a_source_is_found_by_the_loader_of_its_module(tmp_path: Path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "shop.zip", "w") as archive:
        archive.writestr("zipped_shop.py", "def f():\n    return 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path / "shop.zip")
    import zipped_shop

    problem = caught(zipped_shop.f)
    expected = as_text(problem)
    linecache.clearcache()
    detach(problem)
    assert as_text(problem) == expected
    assert "return 1 / 0" in expected


def test_an_entry_without_an_instruction_of_its_line_marks_nothing() -> None:
    """Templates and compilers create such entries, which name a line of their source."""
    problem = caught(lambda: Shop().count(3))
    entry = problem.__traceback__
    line = entry.tb_lineno + 1
    detach(problem.with_traceback(type(entry)(None, entry.tb_frame, entry.tb_lasti, line)))
    (shown,) = traceback.extract_tb(problem.__traceback__)
    assert (shown.lineno, shown.colno, shown.end_colno) == (line, None, None)


def test_a_traceback_of_any_depth_keeps_its_ends() -> None:
    def dive(depth: int) -> int:
        return dive(depth - 1) if depth else ends()

    def ends() -> int:
        raise ValueError

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(6_000)
    try:
        problem = caught(lambda: dive(5_000))
    finally:
        sys.setrecursionlimit(limit)
    detach(problem)
    names = [each.f_code.co_name for each, _ in traceback.walk_tb(problem.__traceback__)]
    assert (len(names), names[0], names[-1]) == (1_000, "<lambda>", "ends")


def test_a_detached_error_holds_no_locals() -> None:
    class Large:
        """A large object that a function uses."""

    def fail(large: Large) -> None:
        also = large
        dead.append(weakref.ref(large))

        def inner() -> Large:
            return also

        raise ValueError(type(inner()).__name__)

    dead: list[weakref.ref[Large]] = []
    problem = caught(lambda: fail(Large()))
    detach(problem)
    gc.collect()
    assert [each() for each in dead] == [None]
    frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__)]
    assert [(frame.f_locals, frame.f_back) for frame in frames] == [({}, None)] * 2
