"""Turn unexpected exceptions in the compiler into diagnostics that name the operation.

`internal_errors_caught` protects the entry points (source to module, module to BEF, module to
machine code, passes of `opt`), so that a user never sees a traceback because of a defect in the
compiler. The class of the error, `InternalError`, distinguishes a defect from an error in the
program. Tests and fuzzers use that distinction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from tfrt_runtime.diagnostics import InternalError, Location, TfrtError, error

if TYPE_CHECKING:
    # xDSL is imported where it is needed, because programs without source text run without it.
    from xdsl.ir import Operation

_PACKAGE = "tfrt_nb."
_MAX_REASON = 300
"""The maximum length of the reason in characters, because LLVM's messages quote whole lines."""


@contextmanager
def internal_errors_caught() -> Iterator[None]:
    """Turn unexpected exceptions in the block into `InternalError`.

    The context manager can also be used as a decorator.
    """
    try:
        yield
    except TfrtError:
        raise
    except MemoryError:
        raise TfrtError(error("the compiler ran out of memory for this program")) from None
    except Exception as problem:
        raise internal_error(problem) from problem


def internal_error(problem: Exception, place: Location | None = None) -> InternalError:
    """Return the error for a defect in the compiler.

    The error names the module that failed. It is located at `place` or, by default, at the
    operation that the innermost call was processing.
    """
    import traceback  # imported here, because only defects need it

    frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__)][::-1]
    names = (str(frame.f_globals.get("__name__", "")) for frame in frames)
    where = next((name for name in names if name.startswith(_PACKAGE)), _PACKAGE)
    reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:_MAX_REASON].rstrip(": ")
    message = (
        f"internal error in {where.removeprefix(_PACKAGE)}: {reason} (please report this program)"
    )
    return InternalError(error(message, place or _place_in(frames)))


def location_of(op: Operation) -> Location | None:
    """Return the operation's source location, or None if it is unknown."""
    return place_of(op.location)


def _place_in(frames: list[FrameType]) -> Location | None:
    """Return the location of the first operation among the variables of the frames, or None.

    The result is the location of a function only if no operation inside a function is found.
    """
    from xdsl.dialects.builtin import ModuleOp

    around: Location | None = None
    for frame in frames:
        for value in list(frame.f_locals.values()):
            op = _operation_of(value)
            if op is None or isinstance(op, ModuleOp) or (place := location_of(op)) is None:
                continue
            if not isinstance(op.parent_op(), ModuleOp):
                return place
            around = around or place
    return around


def _operation_of(value: object) -> Operation | None:
    from xdsl.ir import Block, Operation, SSAValue

    match value:
        case Operation():
            return value
        case Block():
            return value.parent_op()
        case SSAValue():
            return _operation_of(value.owner)
        case _:
            return None


def place_of(location: object) -> Location | None:
    """Return the source location in an operation's location attribute, or None."""
    from xdsl.dialects.builtin import FileLineColLoc

    match location:
        case Location():
            return location
        case FileLineColLoc():
            return Location(location.filename.data, location.line.data, location.column.data)
    # A named location, and a `SourceSpan` from the parser, have their location in `location`.
    inner = getattr(location, "location", None)
    return None if inner is None else place_of(inner)
