"""Test `print` in Python kernels: it belongs to the run, and names the kernel if watched."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.prints import divert_errors
from tfrt_runtime.kernels.users.user import user_kernel

SLOW = 60
TWICE = """
func.func @main() -> (!tfrt.chain, !tfrt.chain) {
  %c = tfrt.new.chain
  %d = "my.say"(%c) : (!tfrt.chain) -> !tfrt.chain
  %e = "my.say"(%d) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %d, %e : !tfrt.chain, !tfrt.chain
}"""


@contextlib.contextmanager
def diverted() -> Iterator[io.StringIO]:
    """Divert the standard error of watched runs, and yield the standard output."""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        undo = divert_errors()
        yield stream
        undo()
        print("the end")
    assert stream.getvalue().endswith("the end\n")


def start(
    host: HostContext, say: Callable[..., object], *, watch: bool = True, blocking: bool = False
) -> Execution:
    registry = standard_kernels()
    registry.add(user_kernel("my.say", say, blocking=blocking))
    program = Program.from_source(TWICE, "test.mlir")
    execution = program.run(host, kernels=registry, output=lambda _: None, watch=watch)
    assert execution.wait(SLOW)
    assert not execution.diagnostics
    return execution


def say(chain: object) -> object:
    print("hello", 1)
    return chain


async def say_later(chain: object) -> object:
    print("hello", end=" ")
    await asyncio.sleep(0.001)
    await asyncio.to_thread(print, 1)
    return chain


def test_errors_and_logs_of_a_watched_run_are_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("my"), "propagate", False)  # pytest has handlers

    def warn(chain: object) -> object:
        print("careful", file=sys.stderr)
        logging.getLogger("my").warning("hello")
        return chain

    with contextlib.redirect_stderr(io.StringIO()) as stream:
        with diverted(), HostContext("s") as host:
            execution = start(host, warn)
        assert sys.stderr is stream
        assert stream.getvalue() == ""

    assert execution.output == "careful\nhello\n" * 2


@pytest.mark.parametrize(("function", "blocking"), [(say, False), (say, True), (say_later, False)])
@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_what_kernels_of_any_run_print_is_the_runs_and_goes_where_it_prints(
    queue: str, function: Callable[..., object], blocking: bool
) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as stream, HostContext(queue) as host:
        execution = start(host, function, watch=False, blocking=blocking)
        assert execution.output == "hello 1\n" * 2
        assert stream.getvalue() == ""  # the run has its own output

        again = Execution(host, execution.program, "main")
        assert again.wait(SLOW)
        assert again.output == stream.getvalue() == "hello 1\n" * 2


def test_what_a_kernel_redirects_is_its_own_and_what_a_run_within_prints_is_both_runs() -> None:
    runs: list[Execution] = []
    own = io.StringIO()

    def begin(chain: object) -> object:
        with HostContext("s") as host:
            runs.append(Execution(host, runs[0].program, "main"))
            runs[-1].wait(SLOW)
            with contextlib.redirect_stdout(own):
                Execution(host, runs[0].program, "main").wait(SLOW)
                print("and more")
        return chain

    with contextlib.redirect_stdout(io.StringIO()) as stream, HostContext("mstd:2") as host:
        runs.append(start(host, say, watch=False))
        execution = start(host, begin, watch=False)
        assert stream.getvalue() == ""

    assert runs[-1].output == "hello 1\n" * 2
    assert own.getvalue() == ("hello 1\n" * 2 + "and more\n") * 2
    assert execution.output == "hello 1\n" * 4


@pytest.mark.parametrize(("function", "blocking"), [(say, False), (say, True), (say_later, False)])
@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_what_kernels_of_a_watched_run_print_is_the_runs(
    queue: str, function: Callable[..., object], blocking: bool
) -> None:
    with diverted() as stream, HostContext(queue) as host:
        execution = start(host, function, blocking=blocking)
        assert stream.getvalue() == ""

    assert execution.output == "hello 1\n" * 2
    assert execution.watch is not None
    lines: dict[int, str] = {}
    for _, kernel, text in execution.watch.log:
        lines[kernel] = lines.get(kernel, "") + text
    assert lines == {1: "hello 1\n", 2: "hello 1\n"}


def test_what_others_print_stays_where_it_was() -> None:
    with diverted() as stream, HostContext("s") as host:

        def ask(chain: object) -> object:
            other = threading.Thread(target=print, args=("a thread",))
            other.start()
            other.join()
            return chain

        execution = start(host, ask)
        print("the cell")

        assert stream.getvalue() == "a thread\n" * 2 + "the cell\n"
    assert execution.output == ""


def test_a_run_may_print_to_the_stream_itself() -> None:
    with diverted() as stream, HostContext("s") as host:
        registry = standard_kernels()
        registry.add(user_kernel("my.say", say))
        program = Program.from_source(TWICE, "test.mlir")
        program.run(host, kernels=registry, output=sys.stdout.write, watch=True).wait(SLOW)
        assert stream.getvalue() == "hello 1\n" * 2


def test_a_kernel_that_writes_no_text_gets_the_streams_error() -> None:
    problems: list[str] = []

    def write(chain: object) -> object:
        with pytest.raises(TypeError) as raised:
            sys.stdout.write(b"bytes")  # type: ignore[arg-type]
        problems.append(str(raised.value))
        return CHAIN

    with diverted(), HostContext("s") as host:
        start(host, write)

    assert len(problems) == 2 and all("bytes" in one for one in problems)


def test_two_runs_at_once_keep_their_prints() -> None:
    both = threading.Barrier(2, timeout=SLOW)

    def say_name(name: str) -> Callable[[object], object]:
        def say(chain: object) -> object:
            both.wait()
            print(name)
            return chain

        return say

    with diverted(), HostContext("mstd:2,2") as host:
        outputs: dict[str, str] = {}

        def run(name: str) -> None:
            outputs[name] = start(host, say_name(name), blocking=True).output

        threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SLOW)

    assert outputs == {"one": "one\none\n", "two": "two\ntwo\n"}
