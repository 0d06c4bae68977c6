"""The `%%tfrt` cell magic: parse the line, compile the cell, run it, show it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, kwds, magic_arguments

from tfrt_magics.bridge.interrupts import interrupts_deferred
from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.run import Program, Signature
from tfrt_magics.lessons import compare_with
from tfrt_magics.options import (
    ARGUMENTS,
    EXAMPLES,
    OptionError,
    RunOptions,
    parallel_for_of,
    parse_options,
)
from tfrt_magics.session import Session
from tfrt_magics.views.diagnostics import CellText
from tfrt_magics.views.outlet import Outlet, Page, Terminal, is_watched
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note

# A run that is over by then is shown at once as it ended, without a live board.
PATIENCE_SECONDS = 0.1
# A stopped job ends by itself before that, unless the runtime does not even answer.
STOP_SECONDS = 0.4


class RunInterrupted(KeyboardInterrupt):
    """The user interrupted the kernel; the run was cancelled.  Shown as one line."""

    def _render_traceback_(self) -> list[str]:
        return [f"%%tfrt: {self}"]


def _documented(magic: Callable[..., None]) -> Callable[..., None]:
    """`magic` with the options, so that `%%tfrt?` shows them and the examples."""
    for each in reversed(ARGUMENTS):
        magic = argument(*each.flags, **each.settings)(magic)  # type: ignore[no-untyped-call]
    with_examples = kwds(epilog=EXAMPLES)(magic)  # type: ignore[no-untyped-call]
    documented: Callable[..., None] = magic_arguments("%tfrt")(with_examples)  # type: ignore[no-untyped-call]
    return documented


@magics_class
class CellMagics(Magics):
    """`%%tfrt`, with what its cells share."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._shell, self._session = shell, session

    @no_var_expand
    @cell_magic
    @_documented
    def tfrt(self, line: str, cell: str) -> None:
        """Run a program, written in MLIR, and show its values while they come."""
        try:
            options = parse_options(line)
        except OptionError as problem:
            raise UsageError(str(problem)) from None
        # `%%tfrt` is line 1 of the cell: with this newline, the program's lines count from 2.
        text = CellText(f"cell {self._shell.displayhook.prompt_count}", "\n" + cell)
        outlet = self._outlet()
        try:
            parallel_for = parallel_for_of(options, cell)
            program = self._session.compile(text.text, text.name, parallel_for)
            if options.emit is not None:
                outlet.show_stage(emitted(program, options.emit), options.emit)
                return
            functions = chosen_functions(program, options.function)
            job = self._job(program, functions, options)
        except TfrtError as problem:
            outlet.diagnose(problem.diagnostics, text)
            return
        except KeyboardInterrupt:
            raise RunInterrupted("interrupted before the program ran") from None
        if not functions:
            print(nothing_to_run(program))
            return
        job.start()
        self._show(job, outlet, text, options)

    def _job(self, program: Program, functions: list[Signature], options: RunOptions) -> Job:
        settings = self._session.settings
        return self._session.job(
            program,
            functions,
            options.work_queue or settings.work_queue,
            options.timeout or settings.timeout or None,
            options.memory,
        )

    def _show(self, job: Job, outlet: Outlet, text: CellText, options: RunOptions) -> None:
        interruption = None
        if options.wait:
            interruption = follow(job, outlet)
        else:
            outlet.leave(job, text)
            job.wait_for_results()
        if options.output and job.results:
            self._shell.user_ns[options.output] = job.output
        if options.wait and job.diagnostics:
            outlet.diagnose(job.diagnostics, text)
        if options.wait:
            compare_with(self._session, job.snapshot().log, job.all_results())
        if job.failure is not None:
            raise job.failure
        if interruption is not None:
            raise interruption

    def _outlet(self) -> Outlet:
        if not hasattr(self._shell, "kernel"):
            return Terminal()
        live = self._session.settings.live
        return Page(
            self._shell,
            self._session.pump,
            self._session.keep,
            live=live == "always" or (live == "auto" and is_watched(self._shell)),
        )


def follow(job: Job, outlet: Outlet) -> RunInterrupted | None:
    """Show `job` until it is over; an interrupt cancels it, and is returned."""
    interruption = None
    try:
        if not job.finished.wait(PATIENCE_SECONDS):
            # A board that is half displayed could not be replaced by its end.
            with interrupts_deferred():
                outlet.watch(job)
            job.finished.wait()
    except KeyboardInterrupt:
        interruption = RunInterrupted(f"interrupted; {job.missing()}")
        job.cancel("")
        job.finished.wait(STOP_SECONDS)
        job.end()
    with interrupts_deferred():
        outlet.finish(job)
    return interruption


def chosen_functions(program: Program, name: str | None) -> list[Signature]:
    """The functions to run: `name`, or every one that takes no arguments, in the file's order.

    Raises:
        TfrtError: when `name` is not there, or cannot be called without arguments.
    """
    if name is None:
        return [function for function in program.functions if runs_by_itself(function)]
    for function in program.functions:
        if function.name == name:
            return [_callable(function)]
    raise TfrtError(error(f"there is no function @{name}", notes=_nearest(name, program)))


def runs_by_itself(function: Signature) -> bool:
    """Whether a cell without --function runs it: host functions without arguments, a compiled @main."""
    return not function.argument_types and (not function.is_compiled or function.name == "main")


def nothing_to_run(program: Program) -> str:
    """What to say about a program none of whose functions runs by itself."""
    if any(function.is_compiled for function in program.functions):
        return "the program compiles; it has no @main to run, and --function chooses another"
    return "the program compiles; it has no function without arguments"


def emitted(program: Program, stage: str) -> str:
    """The compiled functions of a program at a stage.

    Raises:
        TfrtError: if it has none, or they cannot be compiled.
    """
    if program.compiled is None:
        raise TfrtError(error("--emit shows compiled functions, and the program has none"))
    return program.compiled.emit(stage)


def _callable(function: Signature) -> Signature:
    if not function.argument_types:
        return function
    types = ", ".join(function.argument_types)
    raise TfrtError(
        error(f"@{function.name} takes arguments ({types}); a cell runs functions without")
    )


def _nearest(name: str, program: Program) -> Sequence[Diagnostic]:
    names = [function.name for function in program.functions]
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return [note(f"did you mean @{near[0]}?")]
    return [note("the program has " + ", ".join(f"@{each}" for each in names))] if names else []
