"""Test `loc(...)`, by which a program says where it comes from."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)

from tfrt_nb.source import parse_module
from tfrt_nb.source.spans import location_of, span_of
from tfrt_runtime.diagnostics import Location


def file(name: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(name), IntAttr(line), IntAttr(column))


def named(name: str, child: LocationAttr | None = None) -> NameLoc:
    return NameLoc(StringAttr(name), NoneAttr() if child is None else child)


def location(written: str, aliases: str = "") -> LocationAttr:
    """Return the location recorded for an operation followed by `written`."""
    text = f'func @f() {{\n  %a = "golden.op"() : () -> i32{written}\n  tfrt.return\n}}\n{aliases}'
    function = parse_module(text, "text.mlir").body.block.first_op
    assert function is not None
    operation = function.regions[0].block.first_op
    assert operation is not None
    assert span_of(operation) == Location("text.mlir", 2, 8, 2, 33 + len(written))
    return location_of(operation)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", file("text.mlir", 2, 8)),
        (" loc(unknown)", UnknownLoc()),
        (' loc("f.py":12:3)', file("f.py", 12, 3)),
        (' loc("f.py":12:3 to :9)', file("f.py", 12, 3)),
        (' loc("f.py":12:3 to 13:9)', file("f.py", 12, 3)),
        (' loc("a name")', named("a name")),
        (' loc("a name"("f.py":1:2))', named("a name", file("f.py", 1, 2))),
        (' loc(callsite("f" at "g.py":1:2))', CallSiteLoc(named("f"), file("g.py", 1, 2))),
        (
            ' loc(fused["a", "b.py":1:2])',
            FusedLoc(ArrayAttr([named("a"), file("b.py", 1, 2)]), NoneAttr()),
        ),
        (' loc(fused<"why">["a"])', FusedLoc(ArrayAttr([named("a")]), StringAttr("why"))),
    ],
)
def test_every_kind_of_location_is_kept(written: str, expected: LocationAttr) -> None:
    assert location(written) == expected


def test_an_alias_may_be_defined_after_its_use_and_use_others() -> None:
    aliases = '#outer = loc(callsite(#inner at "g.py":1:2))\n#inner = loc("deep")\n'

    assert location(" loc(#outer)", aliases) == CallSiteLoc(named("deep"), file("g.py", 1, 2))


def test_short_forms_take_locations_too() -> None:
    text = 'func @f() {\n  %a = tfrt.constant.i32 1 loc("here")\n  tfrt.return loc("there")\n}\n'
    function = parse_module(text, "text.mlir").body.block.first_op
    assert function is not None

    assert [location_of(operation) for operation in function.regions[0].block.ops] == [
        named("here"),
        named("there"),
    ]
