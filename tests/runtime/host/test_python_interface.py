"""Test the core's use of undocumented parts of CPython, and runs without them."""

from __future__ import annotations

import contextvars
import gc
import os
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from tfrt_runtime.host import python_interface
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.python_interface import SHORTCUTS
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.building import python_api
from tfrt_runtime.native.library import Library

TESTS = Path(__file__).parents[2]
ABOUT_RUNS = (
    "tfrt_nb/test_contexts.py",
    *(
        f"runtime/executor/test_dying_objects.py::test_{name}"
        for name in (
            "a_promise_is_dropped_while_its_run_is_cancelled",
            "a_run_is_dropped_while_its_results_are_decided",
            "the_collector_finds_what_refers_to_itself_through_a_run",
        )
    ),
)


def words() -> array[int]:
    return python_interface.python_interface(native_process().library, {}, lambda _: None)


def test_the_places_are_those_of_the_present_context_and_its_mapping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SHORTCUTS, raising=False)
    variable = contextvars.ContextVar("variable", default=0)
    made = words()
    context = contextvars.copy_context()
    context.run(variable.set, 1)

    def mapping_of(one: contextvars.Context) -> int:
        place = id(one) + made[at.PYTHON_VARIABLES // 8]
        return array("q", (python_interface.ctypes.c_int64 * 1).from_address(place))[0]

    assert made[at.PYTHON_CONTEXT // 8] != 0
    assert [mapping_of(context)] == [id(one) for one in gc.get_referents(context)]
    assert mapping_of(context.copy()) == mapping_of(context)


def test_no_shortcut_is_taken_where_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SHORTCUTS, "0")
    made = words()
    assert made[at.PYTHON_VARIABLES // 8] == made[at.PYTHON_CONTEXT // 8] == 0
    assert made[at.PYTHON_UNTRACK // 8] == made[at.PYTHON_OCCURRED // 8]


def test_no_field_of_python_is_read_where_pointers_are_no_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(python_interface.machine, "HAS_WIDE_POINTERS", False)
    monkeypatch.setattr(Library, "python", lambda self, name: 0)
    made = words()
    assert made[at.PYTHON_VARIABLES // 8] == made[at.PYTHON_CONTEXT // 8] == 0
    assert made[at.PYTHON_INT // 8] == id(int)


def test_each_function_of_python_has_an_adapter_for_machines_with_other_pointers() -> None:
    called = {*python_interface._FUNCTIONS.values(), "PyLong_AsVoidPtr"}
    assert {*python_api.API, *python_api.CHANGING, python_api.VECTORCALL} == called


@pytest.mark.parametrize("elsewhere", [lambda *_: 0, lambda _, __, size: 0 if size > 100 else 16])
def test_no_context_is_shared_where_cpython_has_a_field_elsewhere(
    elsewhere: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_interface, "_place_of", elsewhere)
    made = words()
    assert (made[at.PYTHON_VARIABLES // 8], made[at.PYTHON_CONTEXT // 8]) == (0, 0)


def test_contexts_prints_and_ends_of_runs_are_the_same_without_shortcuts() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ABOUT_RUNS],
        cwd=TESTS,
        env={**os.environ, SHORTCUTS: "0"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
