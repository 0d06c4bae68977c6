"""What the user's own names hold: AsyncValues, and the objects that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfrt_runtime.host.async_value import AsyncValue


def held_by_names(namespace: Mapping[str, object]) -> dict[int, list[str]]:
    """By the address of an object: the names, as one would write them, that refer to it.

    `-o` binds one value, a tuple of them, or a dictionary of either.  Names with an underscore in
    front are IPython's.
    """
    found: dict[int, list[str]] = {}
    for name, bound in list(namespace.items()):
        if not name.startswith("_"):
            for path, value in _values(name, bound):
                for address in value.addresses():
                    found.setdefault(address, []).append(path)
    return found


def _values(path: str, bound: object) -> Iterator[tuple[str, AsyncValue]]:
    match bound:
        case AsyncValue():
            yield path, bound
        case tuple() | list():
            for place, part in enumerate(bound):
                yield from _values(f"{path}[{place}]", part)
        case dict():
            for key, part in list(bound.items()):
                yield from _values(f"{path}[{key!r}]", part)
        case _:
            pass
