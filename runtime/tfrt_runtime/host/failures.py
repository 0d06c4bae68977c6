"""What is raised for an error value, and the errors of values that there will not be."""

from __future__ import annotations

from tfrt_runtime.diagnostics import Diagnostic, Ending, Severity, TfrtError


def exception_of(diagnostic: Diagnostic) -> TfrtError:
    """The exception that says what became of a value."""
    if diagnostic.ending is Ending.FAILED:
        return TfrtError(diagnostic)
    from tfrt_runtime.host.exceptions import CancelledError, TimeoutError

    is_cancelled = diagnostic.ending is Ending.CANCELLED
    return CancelledError(diagnostic) if is_cancelled else TimeoutError(diagnostic)


def diagnostic_of(exception: BaseException) -> Diagnostic:
    """The error of a value that a user's code could not make: `exception` is its cause."""
    if isinstance(exception, TfrtError) and exception.diagnostics:
        return exception.diagnostics[0]
    text = f"{type(exception).__name__}: {exception}".removesuffix(": ")
    is_cancelled = type(exception).__name__ == "CancelledError"
    ending = Ending.CANCELLED if is_cancelled else Ending.FAILED
    return Diagnostic(Severity.ERROR, text, cause=exception, ending=ending)


def cancellation(message: str, ending: Ending = Ending.CANCELLED) -> Diagnostic:
    """Why there will be no value."""
    return Diagnostic(Severity.ERROR, message, ending=ending)
