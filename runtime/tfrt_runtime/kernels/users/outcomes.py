"""What a Python kernel returned or raised, as its results or as their error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, CoroutineType, FunctionType, TracebackType
from typing import TYPE_CHECKING

from tfrt_runtime.callers import OWN_PACKAGES
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, Ending, Severity, error, note
from tfrt_runtime.host.payload import PayloadError
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.futures import from_future
from tfrt_runtime.host.waiting.kernel_waits import EndlessWaitError
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded

if TYPE_CHECKING:
    from tfrt_runtime.host.values.async_value import Future

FOREIGN = ("attached to a different loop", "bound to a different event loop")
"""What asyncio says of a future, or of a lock, that belongs to another loop."""


def items_of(returned: object, count: int) -> tuple[object, ...]:
    """What a kernel returned for each of its `count` results.

    Raises:
        KernelError: if it returned another number of values.
    """
    items: tuple[object, ...] = (returned,)
    if count != 1:
        items = returned if isinstance(returned, tuple) else () if returned is None else items
    if len(items) != count:
        values = f"{len(items)} value{'s' * (len(items) != 1)}"
        raise KernelError(f"the kernel returned {values} for {count} result{'s' * (count != 1)}")
    for item in items:
        if isinstance(item, CoroutineType):
            item.close()
            raise KernelError("the kernel returned a coroutine: await it in an 'async def' kernel")
    return items


def failed(request: Request, exception: BaseException, place: AnyLocation) -> Diagnostic:
    """The error for what a kernel raised, of which the run has heard."""
    diagnostic = diagnostic_of(exception, place)
    request.report(diagnostic)
    return diagnostic


def nth_result(name: str, index: int, count: int) -> str:
    """What messages call a result of a kernel; the index is from 0."""
    return f"the result of '{name}'" if count == 1 else f"result {index + 1} of '{name}'"


def refusing(request: Request, place: AnyLocation, what: str) -> Callable[[str], Diagnostic]:
    """What makes the error of a result that is of another type when it comes, of which the run hears."""

    def refuse(message: str) -> Diagnostic:
        diagnostic = error(f"{what}: {message}", place)
        request.report(diagnostic)
        return diagnostic

    return refuse


def of_future(
    request: Request, future: Future, type_text: str, place: AnyLocation, what: str
) -> AsyncValue:
    """What a kernel at `place` returned as a future, as a value of that type; `what` is the result's name."""
    return from_future(
        request.queue,
        future,
        type_text,
        refusing(request, place, what),
        lambda problem: failed(request, problem, place),
    )


def pass_on(request: Request, exception: BaseException, diagnostic: Diagnostic) -> None:
    """KeyboardInterrupt cancels the run, and the next thread that waits for it raises it."""
    if isinstance(exception, KeyboardInterrupt):
        request.interrupt = exception
        request.cancel(diagnostic)


def diagnostic_of(exception: BaseException, place: AnyLocation | None) -> Diagnostic:
    """The error at `place`, with what the user's code raised as its cause and the line as a note.

    The traceback of the exception begins at the kernel, and has places but no local variables.
    """
    _detach(exception)
    frames = exception.__traceback__
    line = None
    while frames is not None:  # the innermost line that is the user's
        line = line if _is_own(frames) else frames
        frames = frames.tb_next
    notes: tuple[Diagnostic, ...] = ()
    is_ours = isinstance(exception, KernelError | PayloadError)
    if is_ours:
        message = _printable(getattr(exception, "message", exception))
    elif isinstance(exception, KeyboardInterrupt):
        message = "interrupted"
    else:
        if isinstance(exception, EndlessWaitError):
            text, notes = "", exception.diagnostics[0].notes
            message = exception.diagnostics[0].message
        else:
            text = _printable(exception)
            message = f"{type(exception).__name__}: {text}" if text else type(exception).__name__
        if line is not None:
            code = line.tb_frame.f_code
            place_in_python = f"{code.co_filename}:{line.tb_lineno}"
            notes = (note(f"raised in {code.co_name}, {place_in_python}"), *notes)
        if isinstance(exception, RuntimeError) and any(said in text for said in FOREIGN):
            notes += (note(OTHER_LOOP),)
        added = getattr(exception, "__notes__", ())  # by `add_note`, or by what sets it
        notes += tuple(
            note(_printable(text)) for text in (added if isinstance(added, list) else ())
        )
    cause = None if is_ours and exception.__traceback__ is None else exception
    is_interrupt = isinstance(exception, KeyboardInterrupt)
    ending = Ending.CANCELLED if is_interrupt else Ending.FAILED
    return Diagnostic(Severity.ERROR, message, place, notes, cause, ending)


OTHER_LOOP = (
    "an 'async def' kernel runs on the event loop of its host, and what it awaits belongs to another one:"
    " make it within the kernel, or the host with HostContext(loop=asyncio.get_running_loop());"
    ' in a notebook, %config TFRT.loop = "notebook"'
)


def _printable(said: object) -> str:
    """The text of something that a user made: any text can be printed, and making it neither fails nor takes long."""
    is_plain = isinstance(said, str) or not isinstance(type(said).__str__, FunctionType)
    try:
        text = str(said) if is_plain else bounded(lambda: str(said))
    except SlowTextError:
        return f"its text takes more than {MAX_SECONDS} s"
    except BaseException as problem:  # noqa: BLE001 - it is the user's __str__
        return f"its text raised {type(problem).__name__}"
    return text.encode(errors="backslashreplace").decode()


def _detach(exception: BaseException) -> None:
    """Let the tracebacks of an exception, and of those that led to it, refer to places only.

    The frames refer to their callers, and these to what they were working on: values, runs and the
    notebook's cell.  An error value that held them would never die, as they may hold it.
    """
    seen: set[int] = set()
    left: list[BaseException | None] = [exception]
    while left:
        one = left.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = _places(one.__traceback__)
            left += (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))


def _places(frames: TracebackType | None) -> TracebackType | None:
    """The same traceback from the user's kernel on, over frames that never ran."""
    found: list[TracebackType] = []
    while frames is not None:
        if found or not _is_own(frames):
            found.append(frames)
        frames = frames.tb_next
    places = None
    for entry in reversed(found):
        frame = entry.tb_frame
        places = _place(frame.f_code, frame.f_globals, entry.tb_lineno, places)
    return places


def _is_own(frames: TracebackType) -> bool:
    """Whether the first of some frames is of these packages."""
    return str(frames.tb_frame.f_globals.get("__name__")).partition(".")[0] in OWN_PACKAGES


def place_of(function: Callable[..., object]) -> TracebackType:
    """A traceback that names a function, for an exception that says no line of it."""
    code = function.__code__
    return _place(code, function.__globals__, code.co_firstlineno, None)


def _place(
    code: CodeType, space: dict[str, object], line: int, inner: TracebackType | None
) -> TracebackType:
    same = _never.__code__.replace(co_name=code.co_name, co_filename=code.co_filename)
    return TracebackType(inner, FunctionType(same, space)().gi_frame, -1, line)


def _never() -> Iterator[None]:
    yield
