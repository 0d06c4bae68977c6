"""What is raised for an error value, and the errors of values that there will not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, NoneType, TracebackType

from tfrt_runtime.callers import OWN_PACKAGES
from tfrt_runtime.diagnostics import Diagnostic, Ending, Severity, TfrtError
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded

PLAIN = {str, bytes, int, float, bool, NoneType}


def exception_of(diagnostic: Diagnostic) -> TfrtError:
    """The exception that says what became of a value."""
    if diagnostic.ending is Ending.FAILED:
        return TfrtError(diagnostic)
    from tfrt_runtime.host.exceptions import CancelledError, TimeoutError

    is_cancelled = diagnostic.ending is Ending.CANCELLED
    return CancelledError(diagnostic) if is_cancelled else TimeoutError(diagnostic)


def diagnostic_of(exception: BaseException) -> Diagnostic:
    """The error of a value that a user's code could not make: `exception`, detached, is its cause."""
    if isinstance(exception, TfrtError) and exception.diagnostics:
        return exception.diagnostics[0]
    detach(exception)
    text = f"{type(exception).__name__}: {printable(exception)}".removesuffix(": ")
    is_cancelled = type(exception).__name__ == "CancelledError"
    ending = Ending.CANCELLED if is_cancelled else Ending.FAILED
    return Diagnostic(Severity.ERROR, text, cause=exception, ending=ending)


def cancellation(message: str, ending: Ending = Ending.CANCELLED) -> Diagnostic:
    """Why there will be no value."""
    return Diagnostic(Severity.ERROR, message, ending=ending)


def printable(said: object) -> str:
    """The text of something that a user made: any text can be printed, and making it neither fails nor takes long."""
    try:
        text = str(said) if _is_plain(said) else bounded(lambda: str(said))
    except SlowTextError:
        return f"its text takes more than {MAX_SECONDS} s"
    except BaseException as problem:  # noqa: BLE001 - it is the user's __str__
        return f"its text raised {type(problem).__name__}"
    return text.encode(errors="backslashreplace").decode()


def _is_plain(said: object) -> bool:
    """Whether no code of a user makes its text, which for an exception is that of its arguments."""
    if isinstance(said, str):
        return True
    is_own_text = not isinstance(type(said).__str__, FunctionType)
    return is_own_text and all(type(each) in PLAIN for each in getattr(said, "args", ()))


def detach(exception: BaseException) -> None:
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
        if found or not is_own(frames):
            found.append(frames)
        frames = frames.tb_next
    places = None
    for entry in reversed(found):
        frame = entry.tb_frame
        places = _place(frame.f_code, frame.f_globals, entry.tb_lineno, places)
    return places


def is_own(frames: TracebackType) -> bool:
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
