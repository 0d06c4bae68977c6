"""The facts about compiled functions that a run needs, as plain values without IR.

`signatures` reads the facts from a module. `tfrt-nb run` stores them with the machine code, so that
a program that ran before needs neither xDSL nor a parser (`cli.running.known_programs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tfrt_runtime.bef.locations import UNKNOWN, FilePlace, Place
from tfrt_runtime.diagnostics import Location


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A compiled function.

    `location` is its location in the source. `place` is its location in a BEF file, which may be
    just a name. `parameters` contains the names of its arguments in the source, or "" for an
    argument without a name.
    """

    name: str
    is_public: bool
    location: Location | None
    place: Place
    argument_types: tuple[str, ...]
    """The argument types in the spelling of the source."""
    result_types: tuple[str, ...]
    parameters: tuple[str, ...]
    uncrossable: str | None
    """The first argument or result that Python and host programs cannot have, or None.

    If it is not None, the fields that follow are empty.
    """
    given_types: tuple[str, ...] = ()
    """The types that Python passes: types of host programs, and types such as `memref<?x4xf32>`."""
    returned_types: tuple[str, ...] = ()
    argument_words: tuple[str, ...] = ()
    """The types of the kernel's arguments, in the spelling of the kernel registry."""
    result_words: tuple[str, ...] = ()
    awaited: tuple[int, ...] = ()
    """The positions of the arguments that the function itself awaits."""
    is_heavy: bool = False
    """Whether a call may take long, because the function has a loop, waits, or uses buffers."""
    is_plain: bool = False
    """Whether a call takes no longer than some arithmetic.

    Such a function never checks whether its run is cancelled.
    """


@dataclass(frozen=True, slots=True)
class Interface:
    """The functions of a module by name, including private functions.

    `counts_references` says whether the source itself counts references or resolves objects. Such a
    source may contain mistakes.
    """

    functions: Mapping[str, CompiledFunction]
    counts_references: bool

    def to_json(self) -> str | None:
        """Return the interface as one line of JSON, or None if a place is not in a file."""
        functions = self.functions.values()
        if not all(one.place == UNKNOWN or isinstance(one.place, FilePlace) for one in functions):
            return None
        import json  # imported here, because most programs do not need it

        return json.dumps([[asdict(one) for one in functions], self.counts_references])

    @staticmethod
    def from_json(text: str) -> Interface:
        """Return the interface that `to_json` converted to `text`."""
        import json

        rows, counts_references = json.loads(text)
        return Interface({one.name: one for one in map(_function, rows)}, counts_references)


def _function(row: dict[str, Any]) -> CompiledFunction:
    # JSON stores tuples as lists.
    fields: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in row.items()
    }
    location, place = fields.pop("location"), fields.pop("place")
    return CompiledFunction(
        location=Location(**location) if location else None,
        place=FilePlace(**place) if place else UNKNOWN,
        **fields,
    )
