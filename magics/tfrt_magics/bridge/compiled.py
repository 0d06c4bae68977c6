"""The objects that compiled functions left behind, described for the notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfrt_nb.programs import Program
from tfrt_nb.report import word_at
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity
from tfrt_runtime.host.context import HostContext

# The maximum number of leftover objects of a run that are shown below its cell.
MAX_WARNINGS = 5


class CompiledObjects:
    """The tokens, values, and groups that the compiled functions of one cell create on a host."""

    def __init__(self, host: HostContext, program: Program, *, checked: bool) -> None:
        """Args:
            checked: whether to register every object, so that existing and leftover objects can be
                shown.

        Raises:
            TfrtError: if an operation cannot be compiled.
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
        """Record that a run starts."""
        # All programs on the host share this runtime, so each run sets its own program's choice.
        self._shared.runtime.checked = self._checked
        # An earlier run of the same source may have left objects behind.
        self._earlier = {one.address for one in self._shared.runtime.live_objects()}

    def left_over(self, raised: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return warnings about the objects that the run left behind.

        If some objects could never be resolved, return only the diagnostic that explains why. If
        `raised` already contains that diagnostic, return nothing.
        """
        left = [
            one
            for one in self._shared.runtime.live_objects()
            if isinstance(one.location, Location)
            and one.location.source == self._program.name
            and one.address not in self._earlier
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
    """Describe which code still holds references to an object.

    The holders of an unresolved object are its producer and its users. The holders of a resolved
    object are only its users.
    """
    count = f"{one.references} reference{'s' * (one.references != 1)}"
    if one.state != "unavailable":
        return f"{one.state}; {count} {'was' if one.references == 1 else 'were'} never dropped"
    users = one.references - 1
    rest = f", and by {users} more" if users > 0 else ""
    return f"{count}: held by its producer, which must resolve it{rest}"


def live_objects(host: HostContext, texts: Mapping[str, str]) -> list[LiveObject]:
    """Describe the async objects of a host that still have references.

    `texts` maps program names to sources.
    """
    from tfrt_nb.compiled.kernels import HostCode

    named = []
    for one in host.shared_context(HostCode).runtime.live_objects():
        text = "" if one.location is None else texts.get(one.location.source, "")
        named.append(replace(one, maker=one.maker or word_at(text, one.location) or None))
    return named
