"""Provide fakes of a program, a host, and a run, which a test controls by hand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import ClassVar

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython

from tfrt_magics.bridge.record import KINDS
from tfrt_magics.bridge.snapshot import Row, State
from tfrt_nb.documents.events import columns_of
from tfrt_nb.documents.heat_map import HeatMap
from tfrt_runtime.diagnostics import Location, TfrtError, error


@dataclass(frozen=True)
class FakeSignature:
    name: str
    argument_types: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()
    is_compiled: bool = False
    location: Location | None = None


@dataclass
class FakeAsyncValue:
    state: str = "unavailable"
    payload: object = None

    def result(self, timeout=None):
        return self.payload


def _text(payload: object) -> str:
    if isinstance(payload, TfrtError):
        return payload.diagnostics[0].message
    return "" if payload is None else str(payload)


class FakeEvents:
    """The events that the core would log for a run: one for each change of a named value.

    The value's line is its id.
    """

    start, dropped, absent, workers = 1, 0, (), ("worker 0",)

    def __init__(self, run: FakeRun) -> None:
        self._run = run
        self._known: dict[int, Row] = {}
        self.previews: dict[int, str] = {}
        self.pictures: dict[int, HeatMap] = {}
        self.log: list[tuple[int, int | None, str]] = []

    def drain(self):
        rows = []
        for value in self._run.named:
            number = value.number or 0
            if value.state != "unavailable" and self._known.get(number) != value:
                self._known[number] = value
                self.previews[number] = value.text
                rows.append(
                    (value.started_ns or 0, KINDS.index(value.state), -1, number, 1, 0, None)
                )
        return columns_of(rows)

    def preview(self):
        return {}

    def counts(self):
        return {}

    def unlogged(self):
        return {}

    def states(self):
        return {number: (value.state, 0) for number, value in self._known.items()}


@dataclass
class FakeRun:
    """A run that finishes when the test says so, or when it is cancelled, unless it is `stuck`."""

    results: list[FakeAsyncValue] = field(default_factory=list)
    named: list[Row] = field(default_factory=list)
    diagnostics: list = field(default_factory=list)
    stuck: bool = False
    is_stuck: bool = False
    promised: list = field(default_factory=list)
    cancelled: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    @cached_property
    def events(self) -> FakeEvents:
        return FakeEvents(self)

    def result_values(self):
        names = ["result"] if len(self.results) == 1 else [f"result {i}" for i in range(9)]
        return [
            Row(name, "i32", State(value.state), _text(value.payload), is_result=True)
            for name, value in zip(names, self.results, strict=False)
        ]

    def named_values(self):
        return list(self.named)

    def ready(self):
        return None

    def waiting_for(self):
        return list(self.promised)

    def wait(self, timeout=None):
        return self.over.wait(timeout)

    def cancel(self):
        self.cancelled = True
        if not self.stuck:
            self.over.set()

    def resolve(self, name: str, text: str, state: str = "available", **more) -> None:
        """Change the named value and, if it is called `result`, the first result."""
        if name == "result":
            self.results[0].payload = text
            self.results[0].state = state
            return
        place = [value.name for value in self.named].index(name)
        self.named[place] = replace(self.named[place], text=text, state=State(state), **more)


def logged(run: FakeRun, output: Callable[[str], None]) -> Callable[[str], None]:
    """Return `output`; its text is also in the log of `run`."""

    def write(text: str) -> None:
        run.events.log.append((0, None, text))
        output(text)

    return write


@dataclass
class FakeProgram:
    functions: tuple[FakeSignature, ...] = (FakeSignature("main", (), ("i32",)),)
    name: str = "cell 1"

    @property
    def _own_functions(self):
        return self.functions

    def parameters(self, function):
        return next(
            tuple(f"x{i}" for i in range(len(f.argument_types)))
            for f in self.functions
            if f.name == function
        )


class FakePage:
    """A program on a page, with one function and the values %0 to %63."""

    body: ClassVar = {
        "program": {
            "functions": [{"id": 0, "name": "main", "arguments": [], "results": []}],
            "operations": [],
            "values": [
                {"id": i, "name": f"%{i}", "type": "i32", "function": 0, "op": None}
                for i in range(64)
            ],
        },
        "layout": None,
        "source": "",
    }


class FakeHost:
    """A host that returns the runs that the test prepared, one for each call, and records calls."""

    def __init__(self, *runs: FakeRun) -> None:
        self.runs = list(runs)
        self.called: list[str] = []
        self.outputs = []
        self.arguments: list[tuple] = []
        self.is_closed = False
        self.is_spent = False
        self.memory: str | None = None

    def set_memory(self, memory: str | None) -> None:
        self.memory = memory

    def live_objects(self):
        return ()

    def load(self, program, slow=1.0):
        return self

    @property
    def document(self):
        return FakePage()

    def run(self, function, output, arguments=()):
        self.called.append(function)
        self.arguments.append(tuple(arguments))
        run = self.runs[len(self.called) - 1]
        self.outputs.append(logged(run, output))
        return run

    def close(self) -> None:
        self.is_closed = True


def compile_fake(
    text: str, name: str, parallel_for: str | None = None, libraries=None, level=None
) -> FakeProgram:
    """Compile a fake: `func @NAME` declares a function with one result; `oops` does not parse."""
    for number, line in enumerate(text.splitlines(), 1):
        if "oops" in line:
            column = line.index("oops") + 1
            raise TfrtError(error("no such operation: oops", Location(name, number, column)))
    names = [line.split("@")[1].split("(")[0] for line in text.splitlines() if "func @" in line]
    return FakeProgram(tuple(FakeSignature(each, (), ("i32",)) for each in names))


def one_result_run(*names: str, over: bool = False, **settings) -> FakeRun:
    """Return a run of a function with one i32 result and values with these names."""
    run = FakeRun(
        [FakeAsyncValue()],
        [Row(n, "i32", State.UNAVAILABLE, number=i) for i, n in enumerate(names)],
        **settings,
    )
    if over:
        run.over.set()
    return run


@pytest.fixture
def fake() -> SimpleNamespace:
    """The fakes above."""
    return SimpleNamespace(
        Signature=FakeSignature,
        AsyncValue=FakeAsyncValue,
        Run=FakeRun,
        Program=FakeProgram,
        Host=FakeHost,
        compile=compile_fake,
        one_result_run=one_result_run,
    )


@pytest.fixture
def notebook() -> Iterator[InteractiveShell]:
    """IPython with the extension, on the real compiler and runtime.

    Names that cells define are removed afterward.
    """
    shell = start_ipython() or InteractiveShell.instance()
    shell.colors = "nocolor"
    names = set(shell.user_ns)
    shell.run_line_magic("load_ext", "tfrt_nb")
    yield shell
    shell.run_line_magic("unload_ext", "tfrt_nb")
    shell.config.pop("TFRT", None)
    for name in set(shell.user_ns) - names:
        del shell.user_ns[name]


@pytest.fixture
def cell(notebook: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """A function that runs a cell, and returns its output, followed by its errors.

    Errors never have tracebacks.
    """

    def run(text: str) -> str:
        capsys.readouterr()
        problem = notebook.run_cell(text).error_in_exec
        captured = capsys.readouterr()
        assert type(problem).__name__ in ("NoneType", "UsageError", "TfrtError"), problem
        assert "Traceback" not in captured.out + captured.err
        return captured.out + captured.err

    return run
