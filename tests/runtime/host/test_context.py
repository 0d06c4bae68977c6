"""Test the host, its shared contexts, and the requests of runs."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading
import time
from collections.abc import Callable

import pytest

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.run_parts import ResourceContext

# --- the host ---


def test_a_closed_event_loop_is_refused() -> None:
    loop = asyncio.new_event_loop()
    loop.close()

    with pytest.raises(TfrtError, match="loop: the event loop is closed"):
        HostContext("s", loop=loop)


class Sample:
    """A shared context that counts its instances."""

    made = 0

    def __init__(self, host: HostContext) -> None:
        self.host = host
        Sample.made += 1


def test_a_shared_context_is_made_once_however_many_ask(host: HostContext) -> None:
    Sample.made = 0
    found: list[Sample] = []
    threads = [
        threading.Thread(target=lambda: found.append(host.shared_context(Sample))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [one is found[0] for one in found] == [True] * 8
    assert (Sample.made, found[0].host is host) == (1, True)


def test_a_shared_context_may_ask_for_another_one(host: HostContext) -> None:
    class Outer:
        def __init__(self, host: HostContext) -> None:
            self.inner = host.shared_context(Sample)

    assert host.shared_context(Outer).inner is host.shared_context(Sample)


def test_what_is_printed_goes_to_the_run_that_prints(new_request: Callable[..., Request]) -> None:
    printed: dict[str, str] = {"host": "", "run": ""}

    def sink(name: str) -> object:
        def write(text: str) -> None:
            printed[name] += text

        return write

    with HostContext("s", output=sink("host")) as host:  # type: ignore[arg-type]
        request = new_request(host, sink("run"))  # type: ignore[arg-type]
        host.print("a")
        before = host.serve(request)
        host.print("b")
        host.serve(before)
        host.print("c")
        end(request)

    assert printed == {"host": "ac", "run": "b"}


# --- requests ---


def end(request: Request) -> None:
    """Finish the one pending thing that a request starts with."""
    request.leave()


def test_a_request_is_over_when_nothing_of_it_is_left(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    request = new_request(host)
    request.enter()
    request.leave()
    before = request.is_done
    end(request)

    assert (before, request.is_done, request.wait(0)) == (False, True, True)


def test_each_request_has_a_number_of_its_own(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    requests = [new_request(host) for _ in range(3)]
    for request in requests:
        end(request)

    assert len({request.id for request in requests}) == 3


def test_callbacks_of_a_request_run_once_when_it_is_over(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    calls: list[str] = []
    request = new_request(host)
    request.on_done(lambda: calls.append("before"))
    end(request)
    request.on_done(lambda: calls.append("after"))

    assert calls == ["before", "after"]


def test_a_callback_of_a_request_that_raises_stops_nobody(
    host: HostContext, capsys: pytest.CaptureFixture[str], new_request: Callable[..., Request]
) -> None:
    calls: list[str] = []
    request = new_request(host)
    request.on_done(lambda: calls.append(str(1 // 0)))
    request.on_done(lambda: calls.append("second"))
    end(request)

    assert (calls, request.is_done) == (["second"], True)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_diagnostics_are_kept_in_order_and_the_host_hears_of_them(
    new_request: Callable[..., Request],
) -> None:
    heard: list[str] = []
    with HostContext("s", on_diagnostic=lambda raised: heard.append(raised.message)) as host:
        request = new_request(host)
        request.report(error("one"))
        request.report(error("two"))
        end(request)

    assert [raised.message for raised in request.diagnostics] == heard == ["one", "two"]


def test_quiesce_waits_for_every_run(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    first, second = new_request(host), new_request(host)
    end(first)
    waited = [host.quiesce(timeout=0.02)]
    thread = threading.Thread(target=end, args=(second,))
    thread.start()
    waited.append(host.quiesce(timeout=20))
    thread.join()

    assert waited == [False, True]


def test_quiesce_waits_for_what_begins_in_the_meantime(
    host: HostContext, new_request: Callable[..., Request]
) -> None:
    first, later = new_request(host), []
    first.on_done(lambda: later.append(new_request(host)))
    # The later run is not over, whether quiesce looks before or after this.
    thread = threading.Timer(0.01, end, (first,))
    thread.start()
    waited = host.quiesce(timeout=0.1)
    thread.join()
    end(later[0])

    assert (waited, host.quiesce(timeout=20)) == (False, True)


# --- resources ---


class Resource:
    """Records when it is destroyed."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log

    def __del__(self) -> None:
        self._log.append(self._name)


def test_resources_are_destroyed_in_reverse_order_of_creation() -> None:
    log: list[str] = []
    resources = ResourceContext()
    for name in "abc":
        resources.create(name, Resource(name, log))
    del resources

    assert log == ["c", "b", "a"]


def test_a_resource_is_made_once_and_found_by_name_and_kind() -> None:
    resources = ResourceContext()
    made = resources.get_or_create("list", list, lambda: [1])
    again = resources.get_or_create("list", list, lambda: [2])

    assert made is again is resources.get("list", list)
    assert resources.get("other", list) is None
    with pytest.raises(TypeError, match="resource 'list' is a list, not a dict"):
        resources.get("list", dict)
    with pytest.raises(KeyError, match="resource 'list' already exists"):
        resources.create("list", [])


def test_resources_can_be_cleared_and_made_again() -> None:
    log: list[str] = []
    resources = ResourceContext()
    resources.create("a", Resource("first", log))
    resources.clear()
    resources.create("a", Resource("second", log))
    resources.clear()

    assert log == ["first", "second"]


def test_threads_that_ask_at_once_get_the_same_resource() -> None:
    resources, found, start = ResourceContext(), [], threading.Barrier(8)

    def ask() -> None:
        start.wait()
        found.append(resources.get_or_create("one", list, list))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [one is found[0] for one in found] == [True] * 8


def test_functions_of_the_core_hold_what_the_interpreter_reads_when_they_end() -> None:
    for function in (native_process().launch, native_process().quick.fill_stock):
        [held] = [one for one in gc.get_referents(function) if isinstance(one, tuple)]
        assert any(isinstance(one, ctypes.Structure) for one in held)


def test_a_host_whose_close_is_interrupted_ends_its_threads_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    host = HostContext("mstd:2")
    host.work_queue.start()
    before = threading.active_count()
    with monkeypatch.context() as patch:
        patch.setattr(host, "_quiesce", interrupt)
        with pytest.raises(KeyboardInterrupt):
            host.close()
    end = time.monotonic() + 20
    while threading.active_count() > before - 2 and time.monotonic() < end:
        time.sleep(0.01)

    assert threading.active_count() == before - 2
