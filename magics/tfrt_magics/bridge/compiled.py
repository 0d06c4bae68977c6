"""Leftover objects of compiled functions, for the notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfrt_nb.programs import Program
from tfrt_nb.report import word_at
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity
from tfrt_runtime.host.context import HostContext

MAX_WARNINGS = 5
"""The maximum number of a run's leftover objects that are shown below its cell."""


class CompiledObjects:
    """The tokens, values, and groups that the compiled functions of one cell make on a host."""

    def __init__(self, host: HostContext, program: Program, *, checked: bool) -> None:
        """
        Args:
            checked: register every object, so that existing and leftover objects can be shown.

        Raises:
            TfrtError: at an operation that cannot be compiled.
        """
        # Imported here because it loads LLVM, which host programs do not need.
        from tfrt_nb.compiled.kernels import HostCode

        assert program._compiled is not None
        self._program = program
        self._shared = host.shared_context(HostCode)
        self._shared.check(program._compiled)
        self._checked = checked
        program.compile(watched=True)

    def begin(self) -> None:
        """Note that a run starts."""
        self._shared.runtime.checked = self._checked

    def left_over(self, raised: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return warnings about the objects that the run left behind.

        If nothing could resolve some objects, return only the reason for that, and nothing if
        `raised` already has the reason.
        """
        left = [
            one
            for one in self._shared.runtime.live_objects()
            if isinstance(one.location, Location) and one.location.source == self._program.name
        ]
        found = [one for one in left if one.reason is None]
        reasons = [one.reason for one in left if one.reason is not None]
        if reasons and not any(reason in raised for reason in reasons):
            return (reasons[0],)
        shown = []
        for one in found[:MAX_WARNINGS]:
            operation = one.maker or word_at(self._program.text, one.location)
            maker = f" of '{operation}'" if operation else ""
            text = f"a {one.kind}{maker} is left over: {holders(one)}"
            shown.append(Diagnostic(Severity.WARNING, text, one.location))
        if len(found) > MAX_WARNINGS:
            more = f"{len(found) - MAX_WARNINGS} more objects are left over; see %tfrt_leaks"
            shown.append(Diagnostic(Severity.WARNING, more))
        return tuple(shown)


def holders(one: LiveObject) -> str:
    """Describe the holders of an object: its producer and users until it is resolved, then only
    users.
    """
    count = f"{one.references} reference{'s' * (one.references != 1)}"
    if one.state != "unavailable":
        return f"{one.state}; {count} {'was' if one.references == 1 else 'were'} never dropped"
    users = one.references - 1
    rest = f", and by {users} more" if users > 0 else ""
    return f"{count}: held by its producer, which must resolve it{rest}"


def live_objects(host: HostContext, texts: Mapping[str, str]) -> list[LiveObject]:
    """Describe a host's async objects that still have references; `texts` maps program names to
    sources.
    """
    from tfrt_nb.compiled.kernels import HostCode

    named = []
    for one in host.shared_context(HostCode).runtime.live_objects():
        text = "" if one.location is None else texts.get(one.location.source, "")
        named.append(replace(one, maker=one.maker or word_at(text, one.location) or None))
    return named
