"""One run of a function."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from tfrt_runtime.diagnostics import (
    Diagnostic,
    TfrtError,
    counted,
    deadline_in,
    require,
    seconds_until,
)
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.machine import AUTO, Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.executor.run_waits import AsCompleted, Progress, RunWaits
from tfrt_runtime.executor.starting import enqueue, launched
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.default_host import gather
from tfrt_runtime.host.failures import exception_of, for_users, with_others
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import MISSING
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Context, Function
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.held_value import State

if TYPE_CHECKING:
    from tfrt_runtime.executor.tracing import RunTracing
    from tfrt_runtime.host.tracing.events import Watch


HOOKS.enqueue = enqueue


class Execution(RunWaits):
    """A started run of one function.  Its results exist, but may be unavailable."""

    instead_of_argument = "pass its results, as in run(*other)"
    """Advice for the error message if a run is passed where a value is expected."""
    _tracing: RunTracing | None = None
    tier_note: Diagnostic | None = None
    """Why a function that was to be compiled is interpreted, or None."""
    late: Sequence[object] = ()
    """The arguments that were unavailable when a displayed run started; None for the others."""
    started_at = 0
    """When a watched run started, in nanoseconds of the monotonic clock."""

    def __init__(
        self,
        host: HostContext,
        program: Executable,
        function: str | int | Entry,
        arguments: Sequence[object] = (),
        output: Sink | None = None,
        wake: bool = True,
        watch: Watch | None = None,
        tier: Tier = AUTO,
    ) -> None:
        """Start the run.

        Args:
            arguments: Python values, futures, or AsyncValues of this host, one per argument.
            output: receives the program's output instead of the host's sink.
            wake: whether to start the queue's workers, if they have not started, and to hand this
                thread's ready kernels to them.  If False, this thread's next wait does so.
            watch: receives the events of the run.
            tier: which functions may run as machine code; in a watched run, none do.

        Raises:
            TfrtError: if the function does not exist or takes different arguments.
        """
        entry = function if isinstance(function, Entry) else program.entry(function)
        queue = host.work_queue
        self.program, self._entry = program, entry
        arguments = tuple(arguments)  # keeps borrowed tensors alive until the call has started
        # Only a task may run machine code, which may take long.
        is_task = queue.takes_calls
        # `results_of` repeats a part of this: calling a function would slow down each start.
        is_plain = (
            is_task
            and watch is None
            and tier is AUTO
            and host.tracing is None
            and host.cancel_message is None
            and (not program.prepares or program.prepared_for is host.identity)
        )
        given: Sequence[tuple[int, AsyncValue]] = ()
        kept: Sequence[object] = ()
        request = Request(host, output, program, entry)
        if not launched(request, arguments, is_plain):
            words, given, kept = entry.words(queue, arguments)
            request.open(words)
            request.become_known()
            is_plain = False
        self.request = request
        if is_plain:
            request.held = None
        else:
            self._start(given, watch, tier, is_task)
        del kept  # the native arguments now have their own references
        if wake and not is_task:
            queue.begin()
        elif wake and not queue.has_started:
            queue.start()  # nothing became ready on this thread

    def _start(
        self,
        given: Sequence[tuple[int, AsyncValue]],
        watch: Watch | None,
        tier: Tier,
        is_task: bool,
    ) -> None:
        """Prepare the run, and start the call."""
        request, process = self.request, self.request.queue.process
        with self._withdrawn_on_error():
            self._prepare(watch)
            if tier is not AUTO:
                self._choose(tier)
        open_for = self._expect(given)
        # From now on, the call owns one of the request's active counts.
        begin = process.start_as_task if is_task else process.start_here
        context = request.queue.context()
        own = Context.at(context)
        kept = own.request, own.record  # of the kernel that starts this run, if any; restored below
        begin(context, self._entry.address, request.address, is_task)
        own.request, own.record = kept
        request.held = None
        # Reading `results` creates AsyncValues, so read it only if necessary.
        for value in self.results[:open_for] if open_for else ():
            value.and_then(request.leave_call)

    @staticmethod
    def results_of(
        host: HostContext, program: Executable, entry: Entry, arguments: tuple[object, ...]
    ) -> Sequence[AsyncValue]:
        """Start a run without an Execution; return its results.

        Raises:
            TfrtError: if the function takes different arguments.
        """
        queue = host.work_queue
        if (
            queue.takes_calls
            and host.tracing is None
            and host.cancel_message is None
            and (not program.prepares or program.prepared_for is host.identity)
        ):
            # The fast path: no Execution is created and destroyed.
            request = Request(host, None, program, entry)
            if launched(request, arguments, 2):
                results = entry.results(request)
                if not queue.has_started:
                    queue.start()
                # A thread may have cancelled the run in the meantime, without finding its results.
                if request.cancellation is not None:
                    request.decide_results()
                return results
        return Execution(host, program, entry, arguments).results

    def __del__(self) -> None:
        try:
            request, entry = self.request, self._entry
        except AttributeError:  # no run was created
            return
        queue = request.queue
        # This line is atomic, because it has no call.  A thread that cancels the run may have
        # created the results, which take over the references.
        held, request.held = request.held, ()
        template = entry.template if held is None else 0
        queue.process.leave(queue.address, request.address, template)

    @contextmanager
    def _withdrawn_on_error(self) -> Iterator[None]:
        """End the run if the `with` block, which prepares the run, fails or is interrupted."""
        try:
            yield
        except BaseException:
            request = self.request
            self._entry.release(request.words)
            for _ in range(request.native.active):
                request.leave_call()
            raise

    def _prepare(self, watch: Watch | None) -> None:
        """Prepare a run that has been registered."""
        request, host, program = self.request, self.request.host, self.program
        if watch is not None:
            self._log_events(watch)
        if program.prepares:
            program.prepare(request)
        if host.tracing is not None and host.is_traced:
            # Imported here because it loads numpy.
            from tfrt_runtime.executor.tracing import RunTracing

            self._tracing = RunTracing(host.tracing, request, program)

    def _log_events(self, watch: Watch) -> None:
        """Let `watch` log the run's events from now on."""
        self.started_at = time.monotonic_ns()
        self.program.watch(self.request, watch)

    def _choose(self, tier: Tier) -> None:
        """Set the run's tier; if the tier is COMPILED, compile the function now."""
        self.request.native.tier = tier.number
        if tier is Tier.COMPILED:
            self.tier_note = self.program.machine.why_interpreted(
                self._entry.index, self.program.file, is_watched=self.request.watched is not None
            )

    def _expect(self, given: Sequence[tuple[int, AsyncValue]]) -> int:
        """If an argument is unavailable, keep the run open until all results are resolved.

        For this, add an active call for each result; return how many calls were added.  The caller
        removes one of them each time a result is resolved.
        """
        open_for = 0
        for index, value in given:
            self.request.queue.adopt(self.request, value)
            if not value.done():
                text = f"argument {index + 1} of @{self.function.name} is unavailable"
                promises = self.request.promises
                (promises.expect if value.is_indirect else promises.watch)(value, text)
                # An argument may also be a result, and all kernels may finish before the argument
                # is available.
                open_for = len(self._entry.result_types)
        for _ in range(open_for):
            self.request.enter_call()
        return open_for

    def forget_results(self) -> None:
        """Drop the references to the results.  Each result is freed after its last use."""
        self.request.held = ()

    def __iter__(self) -> Iterator[AsyncValue]:
        return iter(self.results)

    def __await__(self) -> Generator[object, None, object]:
        """Wait as `result()` does, in a coroutine."""
        for value in self.results:
            if not value.done():
                yield from value.resolved().__await__()
        if not self.results:
            yield from self._ended().__await__()
        return self.result(0)

    async def _ended(self) -> None:
        """Return when the run has finished, or has been cancelled and its results are resolved."""
        ended = make_unavailable(self.request.queue)

        def end() -> None:
            with suppress(RuntimeError):  # it was cancelled and has now finished
                ended.emplace()

        self.on_done(end)
        if self._entry.result_types:
            self.request.call_when_cancelled(ended, end)
        with self.request.queue.worked_for():
            await ended.resolved()

    def result(self, timeout: float | None = None) -> object:
        """Wait for the results; return the only result, or a tuple if there are none or several.

        If the function has no results, wait until the run has finished.

        Raises:
            TimeoutError: if the results are not available in time.
            TfrtError: the first error among the results or, if the function has no results, the
                first error in any kernel.
        """
        try:
            request = self.request
            if request.held is None and timeout is None:
                # The fast path: no AsyncValue is created for an ordinary number.
                queue = request.queue
                found = queue.process.first(queue.address, self._entry.template, request.address)
                if found is not MISSING:
                    return found
            return self._result(timeout)
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(with_others(problem, self.diagnostics))

    def exception(self, timeout: float | None = None) -> TfrtError | None:
        """Return the error that `result` would raise, or None, after waiting as `result` does.

        Raises:
            TimeoutError: if the results are not available in time.
        """
        try:
            self.result(timeout)
        except TfrtError as problem:
            return problem.with_traceback(None)
        return None

    def as_completed(self, timeout: float | None = None) -> AsCompleted:
        """Iterate over the results as they are resolved, with `for` or `async for`.

        The iterator yields the same objects as iterating over the run, even if they are errors.
        After `timeout` seconds, it raises TimeoutError.
        """
        return AsCompleted(self.results, timeout)

    def first(self, count: int = 1, timeout: float | None = None) -> list[object]:
        """Return the values of the first `count` results that become available, and cancel the run.

        Errors do not count.

        Raises:
            TimeoutError: if too few results are available in time.  In that case, the run is not
                cancelled.
            TfrtError: the first error, if too many results are errors.
        """
        total = len(self.results)
        is_count = isinstance(count, int) and 1 <= count <= total
        some = f"a number from 1 to {total}" if total else "some of its results: it has none"
        require(is_count, "the count of first results", some, count)
        found: list[object] = []
        failed: TfrtError | None = None
        for value in self.as_completed(timeout):
            problem = value.exception(0)
            if problem is None:
                found.append(value.result(0))
            failed = failed or problem
            if len(found) == count:
                self.cancel(f"the first {counted(count, 'result')} became available")
                return found
        assert failed is not None
        only = counted(len(found), "result")
        failed.add_note(f"only {only} of {total} became available, but {count} were requested")
        raise failed

    def _result(self, timeout: float | None) -> object:
        INTERRUPTS.raise_if_noted()
        if len(self.results) == 1:
            return self.results[0].result(timeout)
        if self.results:
            deadline = deadline_in(timeout)
            try:
                return tuple([value.result(seconds_until(deadline)) for value in self.results])
            except TimeoutError as late:
                if timeout is None or isinstance(late, TfrtError):  # the run failed
                    raise
                text = f"the results are still unavailable after {float(timeout):.4g} s"
                raise TimeoutError(text) from None
        self._wait_for_end(timeout)
        if failed := self.diagnostics:
            raise exception_of(failed[0])
        return ()

    def _wait_for_end(self, timeout: float | None) -> None:
        """Wait until the run has finished, or until it is cancelled and its results are resolved.

        Raises:
            TimeoutError: if the run does not finish in time.
            TfrtError: if the run was cancelled.
        """
        request, decides = self.request, bool(self._entry.result_types)
        is_over = self.wait(timeout, lambda: decides and request.is_cancelled)
        if not is_over and not (self.is_stuck or self.request.is_cancelled):
            raise TimeoutError(f"the run has not finished after {timeout} s")
        if self.request.cancellation is not None:
            raise exception_of(self.request.cancellation)

    def as_value(self) -> AsyncValue:
        """Return one AsyncValue that becomes what `result` returns.

        Without results, it is resolved when the run has finished.
        """
        results = self.results
        if not results:
            return self._at_end(self.result)
        return results[0] if len(results) == 1 else gather(*results)

    def _at_end(self, outcome: Callable[[float], object]) -> AsyncValue:
        """Return a value that becomes `outcome(0)` when the run has finished."""
        value = make_unavailable(self.request.queue)

        def end() -> None:
            with suppress(RuntimeError):  # it was cancelled in the meantime
                try:
                    value.emplace(outcome(0))
                except TfrtError as problem:
                    value.set_error(problem.diagnostics[0])

        self.on_done(end)
        return value

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a run cannot be copied or pickled: use its result()")

    def __repr__(self) -> str:
        count, decided = len(self.results), sum(value.done() for value in self.results)
        if self.request.is_cancelled:
            state = "cancelled"
        elif not self.done():
            state = "running"
        else:
            failed = any(value.state is State.ERROR for value in self.results)
            state = "failed" if failed or self.diagnostics else "done"
        how = ", compiled" if self.request.native.compiled else ""
        return f"<Execution @{self.function.name} {state}, {decided} of {counted(count, 'result')}{how}>"  # noqa: E501

    def _repr_html_(self) -> str:
        """Return what a notebook displays for the run: a static board, with the current state."""
        return HOOKS.run_html(self)

    def _display_(self) -> object:
        """Return what marimo displays for the run."""
        return HOOKS.marimo(self)

    def widget(self) -> Any:
        """Return an ipywidgets widget for this run, for boxes, links, and observers.

        `AsyncValue.widget` describes the traits.  For a run, they combine the states of all
        results.  If there are several results, `value` is the tuple of their values.
        """
        return HOOKS.widget(self)

    @property
    def tier(self) -> Tier:
        """COMPILED if the run has executed machine code, and INTERPRETER otherwise."""
        has_run = self.request.native.compiled != 0
        has_run = has_run or self.program.machine.is_machine_code(self._entry.index)
        return Tier.COMPILED if has_run else Tier.INTERPRETER

    @property
    def watch(self) -> Watch | None:
        """The run's watch, if its events are logged."""
        return self.request.watched

    @property
    def output(self) -> str:
        """The program's output so far."""
        return "".join(self.request.printed)

    def cancel(self, message: str = "Cancelled") -> bool:
        """Cancel the run; return False if there was nothing to cancel.

        Kernels that have not started are skipped.  Unavailable results become errors, even if they
        depend on values that code outside the runtime resolves.  If the run has finished, stop the
        tasks that compiled code has left running.
        """
        require(isinstance(message, str), "the reason to cancel", "a string", message)
        code = self.request.code
        return self.request.cancel(message) or (code is not None and code.end_tasks(message))

    def cancel_at(self, deadline: float, seconds: float | None = None) -> None:
        """Cancel the run when `time.monotonic()` reaches `deadline`.

        The run's results then raise `TimeoutError`.  If `seconds` is given, the error names it as
        the time limit.
        """
        self.request.cancel_at(deadline, seconds)

    @property
    def progress(self) -> tuple[int, int]:
        """The number of decided kernels, and the number of known kernels.

        A kernel is decided if it has run or was skipped.  The known kernels are the kernels of the
        run's function, and of the calls and loops that have started since this property was first
        read.
        """
        decided, known = self.request.progress
        if known == 0:  # the run has not started
            known = Function.at(self._entry.address).kernels
            return (known if self.request.is_done else 0), known
        return decided, known

    def on_progress(self, callback: Callable[[int, int], None]) -> None:
        """Call `callback(decided, known)` whenever the progress has changed, and once at the end.

        The host's timer thread calls it, at most 30 times a second.  An exception that the callback
        raises is reported.
        """
        require(callable(callback), "callback", "a function of (decided, known)", callback)
        _ = self.progress  # the first read starts the counting
        Progress(self.request, lambda: self.progress, callback)

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call `callback`, on any thread, when the run has finished.

        The callback runs in a copy of the caller's contextvars context.
        """
        self.request.on_done(functools.partial(copy_context().run, callback))
