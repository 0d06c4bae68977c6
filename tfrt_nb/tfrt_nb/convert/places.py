"""MLIR's locations, and the places of a BEF file."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from tfrt_runtime.bef.locations import (
    UNKNOWN,
    CallPlace,
    FilePlace,
    FusedPlace,
    NamedPlace,
    Place,
    UnknownPlace,
)


def place_of(location: Attribute) -> Place:
    """What a file says about `location`."""
    match location:
        case FileLineColLoc():
            return FilePlace(location.filename.data, location.line.data, location.column.data)
        case NameLoc():
            return NamedPlace(location.desc.data, place_of(location.location))
        case CallSiteLoc():
            return CallPlace(place_of(location.callee), place_of(location.caller))
        case FusedLoc():
            return _fused_place(location)
    return UNKNOWN


def _fused_place(location: FusedLoc) -> Place:
    """As MLIR simplifies it where it is made: each part once, unknown ones left out, one alone."""
    parts = tuple(dict.fromkeys(place_of(part) for part in _parts(location)))
    known = tuple(part for part in parts if part != UNKNOWN)
    if isinstance(location.metadata, NoneAttr) and len(known) < 2:
        return known[0] if known else UNKNOWN
    return FusedPlace(known or (UNKNOWN,))


def _parts(location: FusedLoc) -> Iterator[Attribute]:
    """What is fused, in fused parts of the same kind, too."""
    assert isinstance(location.locations, ArrayAttr), "read by xDSL"
    for part in location.locations:
        if isinstance(part, FusedLoc) and part.metadata == location.metadata:
            yield from _parts(part)
        else:
            yield part


def location_of_place(place: Place) -> LocationAttr:
    """The location that `place` was made from."""
    match place:
        case UnknownPlace():
            return UNKNOWN_LOC
        case FilePlace(file, line, column):
            return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
        case NamedPlace(name, UnknownPlace()):
            return NameLoc(StringAttr(name), NoneAttr())
        case NamedPlace(name, child):
            return NameLoc(StringAttr(name), location_of_place(child))
        case CallPlace(callee, caller):
            return CallSiteLoc(location_of_place(callee), location_of_place(caller))
        case FusedPlace(children):
            return FusedLoc(ArrayAttr(map(location_of_place, children)), NoneAttr())
