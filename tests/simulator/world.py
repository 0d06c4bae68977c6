"""A simulated machine for native functions, with an interface for scenarios and one for `memory`.

`memory` sends every access of uncompiled native code to the current `World`. A scenario allocates
and fills memory, starts threads, and states what must hold in the end; `run` lets a `Chooser`
decide every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.simulator.core import Machine
from tests.simulator.failures import BadCall, Leak, SimulationError, WrongOutcome
from tests.simulator.footprints import NOTES, Access, Way
from tests.simulator.scheduler import Chooser
from tests.simulator.threads import Kind
from tests.simulator.waiting import Waiting

FIRST_FUNCTION = 0x7F00_0000_0000


class World(Waiting):
    """Memory and threads of one run.

    Scenarios use the methods defined here; the interface for `memory` is inherited.
    """

    def __init__(self, chooser: Chooser, machine: Machine) -> None:
        super().__init__(chooser, machine)
        self.notes: list[object] = []
        self._functions: list[Callable[..., int | None]] = []
        self._checks: list[Callable[[], object]] = []

    def thread(self, body: Callable[[], object], name: str = "") -> None:
        """Run `body` on a new thread, after everything that the scenario has done so far."""
        self._scheduler.add(body, name)

    def finally_assert(self, check: Callable[[], object]) -> None:
        """Call `check` after all threads have exited.

        It raises an error or returns False to report a failure. Checks run in reverse order, so
        that the first setup can be undone last.
        """
        self._checks.append(check)

    def function(self, function: Callable[..., int | None]) -> int:
        """Return the address through which `call1` and the others reach `function`."""
        if function not in self._functions:
            self._functions.append(function)
        return FIRST_FUNCTION + 16 * self._functions.index(function)

    def label(self, address: int, label: str, fields: Mapping[int, str] | None = None) -> int:
        """Name an allocation, and its fields by offset, for reports; return `address`."""
        allocation = self._heap.find(address)
        if allocation is not None:
            allocation.label = label
            allocation.fields.update(fields or {})
        return address

    def keep(self, address: int) -> int:
        """Do not report an allocation that is never released; return `address`."""
        allocation = self._heap.find(address)
        if allocation is not None:
            allocation.kept = True
        return address

    def note(self, value: object) -> None:
        """Append to `notes`; the explorer tries every order of notes of different threads."""
        thread = self._scheduler.step(Kind.NOTE)
        self.notes.append(value)
        self._scheduler.performed(thread, Access(NOTES, Way.WRITE, len(self.notes)))
        self._tell(thread, "note", 0, note=repr(value))

    @property
    def decisions(self) -> list[int]:
        """The schedule so far."""
        return self._scheduler.decisions

    @property
    def steps(self) -> int:
        """The number of operations by the threads that others can notice."""
        return self._scheduler.steps

    def run(self) -> None:
        """Run the threads until they exit, run the checks, and search for leaks.

        Raises:
            SimulationError: for the first error.
        """
        try:
            self._scheduler.run()
            for check in reversed(self._checks):
                if check() is False:
                    raise WrongOutcome(f"what must hold in the end does not: {_place_of(check)}")
        except SimulationError as error:
            self._tell_failure(error.message)
            raise
        except Exception as error:
            who = self._scheduler.current.name
            self._tell_failure(str(error))
            raise WrongOutcome(f"{who}: {type(error).__name__}: {error}") from error
        finally:
            self._scheduler.abandon()
        self._check_leaks()

    def _check_leaks(self) -> None:
        leaks = [a for a in self._heap if not (a.released_by or a.kept)]
        if leaks:
            names = ", ".join(allocation.title for allocation in leaks)
            raise Leak(f"never released: {names}")

    def call1(self, function: int, first: int) -> int:
        """Call a function of one word."""
        return self._callee(function)(first) or 0

    def call2(self, function: int, first: int, second: int) -> int:
        """Call a function of two words."""
        return self._callee(function)(first, second) or 0

    def call3(self, function: int, first: int, second: int, third: int) -> int:
        """Call a function of three words."""
        return self._callee(function)(first, second, third) or 0

    def call4(self, function: int, first: int, second: int, third: int, fourth: int) -> int:
        """Call a function of four words."""
        return self._callee(function)(first, second, third, fourth) or 0

    def call7(self, function: int, *words: int) -> int:
        """Call a function of seven words."""
        return self._callee(function)(*words) or 0

    def call_f64(self, function: int, number: float) -> int:
        """Call a function of a double."""
        return self._callee(function)(number) or 0

    def call_for_f64(self, function: int, first: int) -> float:
        """Call a function that returns a double."""
        return float(self._callee(function)(first) or 0.0)

    def thread_context(self) -> int:
        """Return the thread's context; the scenario decides which thread works with which."""
        thread = self._scheduler.current
        if thread.context == 0:
            raise BadCall(f"{thread.name} has no context")
        return thread.context

    def set_thread_context(self, context: int) -> int:
        """Set the context that the thread works with; no other thread notices."""
        thread = self._scheduler.current
        former, thread.context = thread.context, context
        return former

    def stack_room(self) -> int:
        """Return a large number, because simulated stacks are never low."""
        return 1 << 40

    def bound_words(self, item: int) -> int:
        """Reject the call: Python calls no entry in a simulation."""
        raise BadCall(f"{item} is no function of Python")

    def _callee(self, function: int) -> Callable[..., int | None]:
        index, rest = divmod(function - FIRST_FUNCTION, 16)
        if rest or not 0 <= index < len(self._functions):
            raise BadCall(f"call of {self._heap.name(function)}, which is not a function")
        return self._functions[index]


def _place_of(check: Callable[[], object]) -> str:
    code = check.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"
