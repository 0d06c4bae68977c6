"""The `%%tfrt` cell magic: parse the line, compile the cell, run it, show it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, kwds, magic_arguments

from tfrt_magics.bridge.job import STOP_SECONDS, Job, Results, unwrapped
from tfrt_magics.bridge.live import LiveRun, LiveRuns
from tfrt_magics.bridge.snapshot import STOPPED, Status
from tfrt_magics.inputs import (
    Call,
    bound_in_order,
    chosen,
    evaluated,
    file_name,
    host_of,
    nothing_to_run,
    programs_of,
)
from tfrt_magics.lessons import LessonMagics
from tfrt_magics.live.audience import Where, where_to
from tfrt_magics.options import (
    ARGUMENTS,
    EXAMPLES,
    OptionError,
    RunOptions,
    help_text,
    parse_options,
)
from tfrt_magics.session import Session
from tfrt_magics.views.diagnostics import CellText, in_one_line
from tfrt_magics.views.outlet import Outlet, Page, Terminal
from tfrt_nb.documents.escapes import clean
from tfrt_runtime.diagnostics import Diagnostic, Severity, TfrtError, counted, error

# A run that finishes within this many seconds is shown in its final state, without a live board.
INPUT_SECONDS = 0.015
# The maximum number of seconds until an interrupt is noticed.
INTERRUPT_SECONDS = 0.05

if TYPE_CHECKING:
    from tfrt_magics.bridge.cell_run import CellRun
    from tfrt_nb.programs import FunctionSignature, Program
    from tfrt_runtime.host.context import HostContext


class RunInterrupted(KeyboardInterrupt):
    """The user interrupted the kernel, so the run was cancelled. It is shown as one line."""

    def _render_traceback_(self) -> list[str]:
        return [f"%%tfrt: {self}"]


class CellFailed(TfrtError):
    """The error that a cell raises after it has shown its diagnostics. It is shown as one line.

    Front ends identify an error by the name of its class, so this class has the same name as
    `TfrtError`, which users catch.
    """

    def __str__(self) -> str:
        return in_one_line(self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


CellFailed.__name__ = TfrtError.__name__


def _documented(magic: Callable[..., CellRun | None]) -> Callable[..., CellRun | None]:
    """Add the options to `magic`, so that `%%tfrt?` shows the options and the examples."""
    for flags, settings in reversed(ARGUMENTS.items()):
        magic = argument(*flags, **settings)(magic)  # type: ignore[no-untyped-call]
    with_examples = kwds(epilog=EXAMPLES)(magic)  # type: ignore[no-untyped-call]
    documented: Callable[..., CellRun | None] = magic_arguments("%tfrt")(with_examples)  # type: ignore[no-untyped-call]
    return documented


def _parsed(line: str, *, of_file: bool) -> RunOptions:
    try:
        return parse_options(line, of_file=of_file)
    except OptionError as problem:
        raise UsageError(clean(str(problem))) from None


def read_source(path: str) -> tuple[CellText, bytes | None]:
    """Return the text of a file and None; for a BEF file, return "" and its bytes.

    Raises:
        TfrtError: if the file cannot be read or decoded. The message is one line with the file's
            name.
    """
    # Imported here because %load_ext must not load the compiler.
    from tfrt_nb.cli.files import decode, is_bef, read_input

    name = file_name(path)
    data = read_input(name)
    if is_bef(name, data):
        return CellText(name, ""), data
    return CellText(name, decode(data, name)), None


def check_names(names: Sequence[str], functions: Sequence[FunctionSignature]) -> None:
    """Reject several `-o` names unless they match the results of a single function.

    Raises:
        TfrtError: if the names do not match. The message says what to write instead.
    """
    results = [len(one.result_types) for one in functions]
    if len(names) > 1 and results and results != [len(names)]:
        said = f"{len(results)} functions run: give one name, which receives a dictionary,"
        said += " or choose one function with --function"
        if len(results) == 1:
            found = counted(results[0], "result")
            said = f"@{functions[0].name} has {found}: name each, or give one name for all"
        raise TfrtError(error(f"-o {','.join(names)}: {said}"))


def lines_above(program: str, cell: str) -> int:
    """Return the number of lines above a cell's program, or 1 if it is not the cell's end."""
    program, cell = program.rstrip(), cell.rstrip()
    is_end = program != "" and cell.endswith(f"\n{program}")
    return cell.count("\n") - program.count("\n") if is_end else 1


@magics_class
class CellMagics(Magics):
    """`%%tfrt`, and the state that its cells share."""

    def __init__(
        self,
        shell: InteractiveShell,
        session: Session,
        lessons: LessonMagics,
        runs: LiveRuns | None = None,
    ) -> None:
        """`runs` are the runs that pages see, or None in a terminal."""
        super().__init__(shell)
        self._shell, self._session, self._lessons = shell, session, lessons
        self._runs, self._raw_cell = runs, ""

    def before_cell(self, info: ExecutionInfo) -> None:
        """Remember the cell as the user wrote it, because other lines may precede `%%tfrt`."""
        self._raw_cell = info.raw_cell or ""

    @no_var_expand
    @cell_magic
    @_documented
    def tfrt(self, line: str, cell: str) -> CellRun | None:
        """Run a program in MLIR, and show its values live; the value of the cell is the run."""
        options = _parsed(line, of_file=False)
        # `%%tfrt` is line 1 of most cells. These newlines make line numbers match the cell.
        above = "\n" * lines_above(cell, self._raw_cell)
        # Replace a byte order mark with a space, so that columns stay the same.
        cell = " " + cell[1:] if cell.startswith("\ufeff") else cell
        text = CellText(f"cell {self._shell.displayhook.prompt_count}", above + cell)
        return self._execute(options, text)

    @no_var_expand
    @line_magic("tfrt")  # type: ignore[arg-type]
    def tfrt_file(self, line: str) -> CellRun | None:
        """Run `%tfrt FILE.mlir` or `%tfrt FILE.bef` with `%%tfrt`'s options; return the run."""
        options = _parsed(line, of_file=True)
        if options.help:
            print(help_text())
            return None
        try:
            text, data = read_source(options.file or "")
        except TfrtError as problem:
            raise UsageError(clean(f"%tfrt: {problem.diagnostics[0].message}")) from None
        return self._execute(options, text, data)

    def _execute(
        self, options: RunOptions, text: CellText, bef: bytes | None = None
    ) -> CellRun | None:
        """Process the program in `text` or in a BEF file, and return the run, or None.

        Raises:
            CellFailed: after everything is shown, if the program cannot be read or its run failed.
                `--expect-error` and the setting `errors` change this.
        """
        if options.help:
            print(help_text())
            return None
        before = self._session.last_run
        # By now, the frames that hold the program and its values have returned, so the error's
        # traceback does not keep them alive.
        problems = self._run(options, text, bef)
        if options.expect_error and not problems:
            raise CellFailed(error("--expect-error: there was no error; remove the option"))
        if problems and self._raises(options):
            raise CellFailed(*problems)
        run = self._session.last_run
        if run is None or run is before:
            return None
        if self._runs is None:
            # A terminal would print the run below the table, which already shows the run.
            self._shell.displayhook.update_user_ns(run)  # type: ignore[no-untyped-call]
            return None
        return run

    def _raises(self, options: RunOptions) -> bool:
        """Return whether an error makes the cell fail."""
        return not options.expect_error and self._session.settings.errors == "raise"

    def _diagnose(
        self,
        diagnostics: Sequence[Diagnostic],
        outlet: Outlet,
        text: CellText,
        options: RunOptions,
    ) -> None:
        """Show diagnostics, unless the one-line error of the failed cell says the same."""
        first = diagnostics[0]
        is_all = in_one_line(diagnostics) == first.message and not first.notes
        if not (is_all and first.severity is Severity.ERROR and self._raises(options)):
            outlet.diagnose(diagnostics, text)

    def _run(self, options: RunOptions, text: CellText, bef: bytes | None) -> Sequence[Diagnostic]:
        """Run the program, show its run and diagnostics, and return the errors."""
        outlet = self._outlet()
        self._session.wait_until_warm()
        try:
            libraries = programs_of(options.libraries, self._shell.user_ns)
            if bef is not None and libraries:
                raise TfrtError(error("--with: a BEF file cannot call functions of other programs"))
            if bef is not None:
                program = self._session.load_bef(bef, text.name)
            else:
                program = self._session.compile(
                    text.text, text.name, options.parallel_for, libraries, options.level
                )
            self._session.last_program = program
            if options.name:
                self._shell.user_ns[options.name] = program
            if options.emit is not None:
                outlet.show_stage(program.emit(options.emit), options.emit)
                return ()
            values = evaluated(options.inputs, self._shell.user_ns)
            calls = chosen(program, options.function, values)
            check_names(options.output or (), [call.function for call in calls])
            if options.slow != 1 and (options.explore or options.step):
                print(
                    "--slow applies only to runs that proceed on their own, not to --explore or "
                    "--step"
                )
            if calls and options.explore:
                # Imported here because %load_ext must not load the compiler.
                from tfrt_magics.bridge.explored import explored

                for call in calls:
                    outlet.show_explored(explored(program, call.function.name, call.values))
                self._lessons.show_prediction()
                return ()
            if calls and options.step:
                problems = self._step(program, calls, outlet, text, options)
                self._lessons.show_prediction()
                return problems
            settings = self._session.settings
            job = self._session.job(
                program,
                [call.function for call in calls],
                options.work_queue or settings.work_queue,
                options.timeout or settings.timeout or None,
                options.memory,
                {call.function.name: call.values for call in calls},
                options.slow,
                waits=options.wait,
                users_host=self._users_host(options),
            )
        except TfrtError as problem:
            self._diagnose(problem.diagnostics, outlet, text, options)
            return problem.diagnostics
        except RunInterrupted:  # of a stepped run; its message says what was missing
            raise
        except KeyboardInterrupt:
            is_begun = options.explore or options.step
            raise RunInterrupted(
                f"interrupted{'' if is_begun else ' before the program ran'}"
            ) from None
        if not calls:
            if not options.name:
                outlet.diagnose([nothing_to_run(program)], text)
            return ()
        if said := bound_in_order(program, calls, values):
            print(said)
        if options.slow != 1 and (fast := [c.function for c in calls if c.function.is_compiled]):
            names = ", ".join(f"@{function.name}" for function in fast)
            print(
                f"--slow applies to the operations of host functions, not of compiled ones: {names}"
            )
        return self._show(job, outlet, text, options)

    def _users_host(self, options: RunOptions) -> HostContext | None:
        """Return the user's host for a cell, or None for one of the notebook's hosts.

        Raises:
            TfrtError: if `--host` names no open host, or `--memory` is given for the default host.
        """
        # Imported here because %load_ext must not load the runtime.
        from tfrt_runtime.host.default_host import users_default_host

        if options.host:
            return host_of(options.host, self._shell.user_ns)
        host = None if options.work_queue else users_default_host()
        if host is not None and options.memory:
            hint = (
                "tfrt.default_host().set_memory(...) sets it, and -q QUEUE runs the cell elsewhere"
            )
            raise TfrtError(error(f"--memory: the default host has its own budget; {hint}"))
        return host

    def _step(
        self,
        program: Program,
        calls: Sequence[Call],
        outlet: Outlet,
        text: CellText,
        options: RunOptions,
    ) -> Sequence[Diagnostic]:
        """Run calls as a page directs, or one operation after another; return their errors.

        Raises:
            TfrtError: if the program cannot be loaded or, without a page, exceeds its time limit.
        """
        from tfrt_nb.schedules.step import stepped_through
        from tfrt_runtime.host.one_thread import ONE_THREAD

        self._session.divert_errors()
        timeout = options.timeout or self._session.settings.timeout or None
        bound: dict[str, Results] = {}
        failed: list[Diagnostic] = []
        try:
            for call in calls:
                name = call.function.name
                if outlet.is_live and ONE_THREAD.hears_page:
                    failed += self._step_on_page(program, call, text, options, bound)
                    continue
                said, results, problems = stepped_through(program, name, call.values, timeout)
                bound[name] = unwrapped(results)
                print(said, end="")
                if problems:
                    self._diagnose(problems, outlet, text, options)
                failed += problems
        finally:
            if options.output and bound:
                only = bound.get(calls[0].function.name)
                self._bind(options.output, bound if len(calls) > 1 else only)
        return failed

    def _bind(self, names: tuple[str, ...], results: Results) -> None:
        """Bind the `-o` names: a single name gets all results; several names get one each."""
        each = results if len(names) > 1 and isinstance(results, tuple) else (results,)
        self._shell.user_ns.update(zip(names, each, strict=False))

    def _step_on_page(
        self,
        program: Program,
        call: Call,
        text: CellText,
        options: RunOptions,
        bound: dict[str, Results],
    ) -> Sequence[Diagnostic]:
        """Run one call on its own board; return its errors. `bound` always gets its results."""
        from tfrt_magics.bridge.runtime import SteppedProgram

        loaded, function = SteppedProgram(program), call.function
        values = {function.name: call.values}
        job = Job(loaded, [function], values, timeout=options.timeout, work_queue="by hand")
        job.is_simple = self._session.settings.board == "simple"
        try:
            # The caller assigns -o, because `bound` collects the results of all calls.
            return self._show(job, self._outlet(), text, replace(options, output=None))
        finally:
            bound |= job.results
            loaded.close()

    def _show(
        self, job: Job, outlet: Outlet, text: CellText, options: RunOptions
    ) -> Sequence[Diagnostic]:
        """Run the job with a board, and bind its results; return errors unless `--no-wait`."""
        # Imported here because %load_ext must not load the runtime.
        from tfrt_magics.bridge.cell_run import CellRun

        run = self._session.last_run = CellRun(job, self._shell.execution_count)
        interruption = None
        if options.wait:
            interruption = follow(job, outlet)
        else:
            job.start(waits=False)
            outlet.leave(job, text)
            job.wait_for_results()
        run.board = outlet.board
        if options.output and job.results:
            self._bind(options.output, job.output)
        is_known = options.wait or job.was_refused  # whether the outcome is known
        if is_known and job.diagnostics:
            self._diagnose(job.diagnostics, outlet, text, options)
        if self._lessons.prediction is not None and options.wait:
            self._lessons.compare_with(job.snapshot().log, job.all_results())
        self._lessons.show_prediction()  # only if it is still kept: the cell does not wait
        if job.failure is not None:
            raise job.failure
        if interruption is not None:
            raise interruption
        return failures(job) if is_known else ()

    def _outlet(self) -> Outlet:
        if self._runs is None:
            return Terminal()
        where = where_to(self._shell, self._session, self._runs)
        return Page(
            self._shell,
            self._session.pump,
            self._runs,
            live=where is Where.PAGE,
            tables=self._session.settings.live == "tables",
            in_widget=_show_board_in_widget if where is Where.WIDGET else None,
        )


def _show_board_in_widget(board: LiveRun) -> None:
    from tfrt_magics.live.display import show_board_in_widget

    show_board_in_widget(board)


def failures(job: Job) -> tuple[Diagnostic, ...]:
    """Return why a finished job failed or was stopped, or an empty tuple if it succeeded."""
    shown = job.snapshot()
    # A warning, such as one about leftover objects, does not fail the cell.
    found = tuple(one for one in job.diagnostics if one.severity is Severity.ERROR)
    if shown.status is Status.DONE or (found and shown.status not in STOPPED):
        return found
    reason = shown.note or ", ".join(f"@{one.name}: {one.status}" for one in shown.sections)
    return (error(reason, found[0].location if found else None),)


@contextmanager
def interrupts_noticed() -> Iterator[list[int]]:
    """Within the block, add an item to the list for each interrupt instead of raising it.

    Only the main thread is ever interrupted. On any other thread, the list stays empty.
    """
    arrived: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield arrived
        return
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append(number))
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGINT, before)


def follow(job: Job, outlet: Outlet) -> RunInterrupted | None:
    """Start `job` and show it until it finishes.

    An interrupt cancels the job, and is returned rather than raised. If it were raised after the
    job has started but before the wait, or in a callback, no thread would end the job.
    """
    interruption = None
    with interrupts_noticed() as interrupts:
        seconds, until = INPUT_SECONDS, time.monotonic() + INPUT_SECONDS

        # Where no thread can be started, `start` returns after the run, and calls this meanwhile.
        def meanwhile() -> None:
            if time.monotonic() >= until:
                outlet.watch(job)

        job.meanwhile = meanwhile
        job.start()
        while not job.finished.wait(seconds) and not interrupts:
            outlet.watch(job)
            seconds = INTERRUPT_SECONDS
        if interrupts and not job.finished.is_set():
            job.cancel("")
            job.finished.wait(STOP_SECONDS)
            job.end()
            interruption = RunInterrupted(f"interrupted; {job.missing()}")
        # A function that never ran has no values to show.
        if not job.was_refused:
            outlet.finish(job)
    if interrupts and interruption is None:
        interruption = RunInterrupted("interrupted as the run finished")
    return interruption
