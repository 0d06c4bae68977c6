"""Test things that a process has one of if several threads request them at once."""

import subprocess
import sys
import threading

import pytest

from tfrt_runtime.once import once

FIRST_ASKED_FOR_BY_MANY = """
import sys
import threading

from tfrt_runtime.{module} import {function}

sys.setswitchinterval(1e-6)
start, found = threading.Barrier(8), []


def ask():
    start.wait()
    found.append({function}())


threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), len(set(map(id, found))))
"""


def test_a_second_thread_waits_while_the_first_one_makes_it() -> None:
    makes_first, makes_second, go_on = threading.Event(), threading.Event(), threading.Event()
    found: list[object] = []

    @once
    def get() -> object:
        (makes_second if makes_first.is_set() else makes_first).set()
        assert go_on.wait(60)
        return object()

    threads = [threading.Thread(target=lambda: found.append(get())) for _ in range(2)]
    threads[0].start()
    assert makes_first.wait(60)
    threads[1].start()
    is_made_twice = makes_second.wait(0.2)
    go_on.set()
    for thread in threads:
        thread.join()

    assert not is_made_twice
    assert found[0] is found[1] is get()


def test_it_is_made_anew_after_an_error() -> None:
    attempts = []

    @once
    def get() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return "made"

    with pytest.raises(ValueError, match="not yet"):
        get()

    assert [get(), get(), len(attempts)] == ["made", "made", 2]


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("host.process", "native_process"),
        ("host.tracing.events", "event_log"),
        ("async_runtime.runs", "known_runs"),
        ("async_runtime", "kernel_functions"),
    ],
)
def test_threads_that_ask_first_at_the_same_time_get_the_same(module: str, function: str) -> None:
    program = FIRST_ASKED_FOR_BY_MANY.format(module=module, function=function)

    ran = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert (ran.stdout, ran.stderr) == ("8 1\n", "")
