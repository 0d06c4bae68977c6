"""What the notebook needs of a program, a host and a run.

`bridge.runtime` is the real thing; tests put another in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic

if TYPE_CHECKING:
    from tfrt_nb.convert.graph import Graph
    from tfrt_runtime.async_runtime import LiveObject


class Returning(Protocol):
    """What has results of known types."""

    @property
    def result_types(self) -> Sequence[str]: ...


class Signature(Protocol):
    """A function of a program, before it runs."""

    @property
    def name(self) -> str: ...
    @property
    def argument_types(self) -> Sequence[str]: ...
    @property
    def result_types(self) -> Sequence[str]: ...
    @property
    def is_compiled(self) -> bool:
        """Whether it is machine code, and no host program."""

    @property
    def location(self) -> AnyLocation | None: ...


class Program(Protocol):
    @property
    def name(self) -> str:
        """The source that its locations have."""

    @property
    def functions(self) -> Sequence[Signature]: ...

    @property
    def own_functions(self) -> Sequence[Signature]: ...

    def emit(self, stage: str) -> str:
        """The program at a stage; raises TfrtError when it has none such."""

    def graph(self) -> Graph:
        """What the operations give to each other."""

    def parameters(self, function: str) -> Sequence[str]:
        """The names of a function's parameters; empty for a file, which has none."""


class Value(Protocol):
    """A result or a named value of a running function, as it is at one moment.

    `state` is a word of `snapshot.State`; times are nanoseconds since its first event.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def worker(self) -> str | None: ...
    @property
    def started_ns(self) -> int | None: ...
    @property
    def resolved_ns(self) -> int | None: ...
    @property
    def count(self) -> int: ...
    @property
    def number(self) -> int | None:
        """That of a named value in the program's document."""


class EventLog(Protocol):
    """The events of one run, with ids of the program's document (`tfrt_nb.documents.run.RunDocument`)."""

    previews: dict[int, str]
    log: list[tuple[int, int | None, str]]

    @property
    def start(self) -> int | None: ...
    @property
    def dropped(self) -> int: ...
    @property
    def absent(self) -> Sequence[int]: ...
    @property
    def workers(self) -> Sequence[str]: ...
    def drain(self) -> Mapping[str, Sequence[Any]]: ...
    def preview(self) -> Mapping[int, str]: ...
    def states(self) -> Mapping[int, tuple[str, int | None]]: ...
    def counts(self) -> Mapping[int, int]: ...
    def unlogged(self) -> dict[int, str]: ...


class Run(Protocol):
    """A function that was started.  One thread at a time may read its values."""

    @property
    def results(self) -> Sequence[object]:
        """The AsyncValues that a cell hands to Python."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]: ...
    @property
    def events(self) -> EventLog:
        """What the native core logs of it."""

    def ready(self) -> Sequence[int] | None:
        """The operations that the reader may run next; None for a run that goes on by itself."""

    def step(self, operation: int | None, *, until: bool) -> None:
        """Run an operation, others until it is ready, or for None all that is left."""

    @property
    def is_stuck(self) -> bool:
        """Whether a waiting thread found that nothing can happen any more."""

    def waiting_for(self) -> Sequence[Diagnostic]:
        """Notes on the values that the run waits for from threads and event loops."""

    def result_values(self) -> Sequence[Value]: ...
    def named_values(self) -> Sequence[Value]: ...
    def wait(self, timeout: float) -> bool: ...
    def cancel(self) -> None: ...


class ProgramOnPage(Protocol):
    """A program as pages have it."""

    @property
    def body(self) -> Mapping[str, Any]:
        """`program`, `layout` and `source` of a run document."""

    def stages(self) -> dict[str, Any]:
        """`stages` of a run document; to make them takes as long as to compile the program."""

    def bef(self) -> bytes:
        """The program's file."""


class LoadedProgram(Protocol):
    """A program whose kernels are all known, on one host."""

    def run(self, function: str, output: Callable[[str], None], arguments: Sequence[object]) -> Run:
        """Start a function.  `output` gets each piece of printed text, on any thread.

        Raises TfrtError when it takes other arguments.
        """

    @property
    def document(self) -> ProgramOnPage:
        """The program as pages have it, made when it is first asked for."""


class Host(Protocol):
    """Where programs run."""

    def set_memory(self, memory: str | None) -> None:
        """What programs may take from now on: a text such as "2G", or None for the default."""

    def load(self, program: Program, slow: float = 1.0) -> LoadedProgram:
        """Its operations last `slow` times as long.  Raises TfrtError when the program uses kernels that there are not."""

    @property
    def is_spent(self) -> bool:
        """Whether something that was stopped runs on: the next cell needs another host."""

    def live_objects(self) -> Sequence[LiveObject]:
        """The async objects that runs have left behind."""

    def close(self) -> None: ...
