"""Determine the places that a step touches.

If two steps do not share a place, their order makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfrt_nb.passes.log_events import MEMORY as WHOLE
from tfrt_nb.passes.log_events import OUTPUT as OUTPUTS
from tfrt_nb.passes.log_events import READ, WRITE
from tfrt_nb.schedules.chosen import Step
from tfrt_runtime.host.structs import HALVES, WORDS, Record, Tensor, Value
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import USER_KERNELS
from tfrt_runtime.native import layouts as at

OUTPUT, PYTHON, RUN, MEMORY, STATE = "output", "python", "run", "memory", "state"
Place = str | int
"""A place that a step touches: one of the names above, or the number of a buffer in its run."""


@dataclass(frozen=True, slots=True)
class Uses:
    """The places that a step reads, and the places that it writes."""

    reads: frozenset[Place] = frozenset()
    writes: frozenset[Place] = frozenset()

    def __or__(self, other: Uses) -> Uses:
        return Uses(self.reads | other.reads, self.writes | other.writes)

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes)


PRINTS = Uses(writes=frozenset({OUTPUT}))


def shared(one: Uses, other: Uses) -> frozenset[Place]:
    """Return the shared places because of which the order of two steps matters."""
    either = (one.reads | one.writes) & other.writes | one.writes & other.reads
    # A step that writes RUN cancels the run, which every step with effects notices.
    if (RUN in one.writes and other) or (RUN in other.writes and one):
        either |= {RUN}
    return either


_CANCELS = "tfrt_test.cancel"
_IN_ORDER = ("print", "usleep", "with_delay", "quiesce", "benchmark")
_FIRST_WRITTEN = ("fill_tensor", "set_tensor", "atomic.inc", "atomic.add")
_LAST_WRITTEN = "_inplace"


_EFFECTS = {
    OUTPUTS: PRINTS | Uses(writes=frozenset({PYTHON})),
    WHOLE: PRINTS | Uses(writes=frozenset({MEMORY})),
}


class Judge:
    """Determines which places each step of a program touches, from its kernel and arguments."""

    def __init__(self, kernels: Iterable[str]) -> None:
        names = set(kernels)
        self._cancels = _CANCELS in names
        self._writes = any(_is_writer(name) for name in names)
        self.questions = False
        """Whether compiled code checks objects for errors, which may depend on any task's end.
        """
        self._standard = available_kernels()
        self._buffers: dict[int, int] = {}
        """Buffers, and elements of compiled code's buffers, by address."""
        self.noisy: set[str] = set()
        """Kernels that were found to print, although their names do not say so."""

    def begin(self) -> None:
        """Start another run, whose buffers are numbered from the beginning.

        A buffer has a different address in each run. Runs with equal choices touch their buffers in
        the same order, so the numbers can be compared between runs.
        """
        self._buffers.clear()

    def effect(self, address: int, kind: int) -> Uses:
        """Return the places of an effect; for the arguments, see `passes.log_events.TOUCH`."""
        if kind not in (READ, WRITE):
            return _EFFECTS.get(kind, Uses())
        place = frozenset({self._buffers.setdefault(address, len(self._buffers))})
        memory = frozenset({MEMORY})
        return Uses(memory | place) if kind == READ else Uses(memory, place)

    def uses(self, step: Step) -> Uses | None:
        """Return the places that a step will touch, or None if the step has no effects."""
        if step.program is None:
            return Uses(writes=frozenset({STATE} if self.questions else ()))
        name = step.program.kernel_name(step.kernel)
        reads: set[Place] = set()
        writes: set[Place] = set()
        if step.arrival is not None:
            found = Uses(
                frozenset({RUN} if self._cancels else ()),
                frozenset({PYTHON} if step.arrival.is_python else ()),
            )
            return found or None
        if name in self.noisy or any(part in name for part in _IN_ORDER):
            writes.add(OUTPUT)
        if name == _CANCELS:
            writes.add(RUN)
        if name in USER_KERNELS or name not in self._standard:
            writes.add(PYTHON)
        if self._writes:
            written = _written(name, Record.at(step.record).arguments)
            for position, address in _buffers(step):
                place = self._buffers.setdefault(address, len(self._buffers))
                (writes if position == written else reads).add(place)
        if self._cancels:  # a cancellation skips the kernel, which can be observed
            reads.add(RUN)
        return Uses(frozenset(reads), frozenset(writes)) if reads or writes else None


def _is_writer(name: str) -> bool:
    return _LAST_WRITTEN in name or any(part in name for part in _FIRST_WRITTEN)


def _written(name: str, arguments: int) -> int:
    """Return the position of the argument that a kernel writes, or -1 if there is none."""
    if _LAST_WRITTEN in name:
        # The tensor comes before the chain: `(a, b, into, chain)` or `(into, chain)`.
        return max(0, arguments - 2)
    return 0 if _is_writer(name) else -1


def _buffers(step: Step) -> Iterable[tuple[int, int]]:
    """Yield those of a kernel's arguments that are buffers, each with its position.

    The arguments are available, because the kernel is ready.
    """
    for position in range(Record.at(step.record).arguments):
        register = HALVES[(step.record + at.RECORD_REGISTERS + 4 * position) >> 2]
        value = WORDS[(step.activation + register) >> 3]
        while value and (found := Value.at(value)).is_indirect:
            value = found.target
        if not value:
            continue
        match found.payload_type:
            case at.TYPE_TENSOR:
                yield position, Tensor.at(found.payload).data
            case at.TYPE_ATOMIC_I32:
                yield position, value
            case at.TYPE_OBJECT:
                yield position, found.payload
