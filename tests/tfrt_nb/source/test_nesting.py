"""Test nested regions: as deep as the limit, and an error at the first one beyond it."""

from __future__ import annotations

import sys

import pytest

from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.dialects.printer import print_module
from tfrt_nb.nesting import MAX_NESTING, TOO_DEEP
from tfrt_nb.programs import Program
from tfrt_nb.source import SourceError, parse_module
from tfrt_nb.source.attributes import MAX_ALIASES
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import Location


def nested(depth: int) -> str:
    """Return a function in which regions nest to `depth`, including its own body."""
    inner = depth - 1
    opening, closing = '"a.b"() ({\n', "tfrt.return\n}) : () -> ()\n"
    return f"func @f() {{\n{opening * inner}{closing * inner}tfrt.return\n}}\n"


def test_regions_nest_a_thousand_deep_there_and_back() -> None:
    limit = sys.getrecursionlimit()
    text = print_module(bef_to_mlir(BefFile.load(mlir_to_bef(parse_module(nested(1000), "f")))))

    assert text.count('"a.b"') == 999
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 100_000])
def test_a_region_that_is_too_deep_is_an_error_at_its_brace(depth: int) -> None:
    with pytest.raises(SourceError) as caught:
        parse_module(nested(depth), "f.mlir")

    (diagnostic,) = caught.value.diagnostics
    assert str(diagnostic) == f"f.mlir:{MAX_NESTING + 1}:10: error: {TOO_DEEP}"


def test_tasks_that_nest_deep_are_looked_at_from_outside_the_compiler() -> None:
    opening, closing = "%t = async.execute {\n", "async.yield\n}\n"
    text = f"func.func @main() {{\n{opening * 600}{closing * 600}return\n}}\n"
    compiled = Program.from_source(text, "f.mlir")._compiled

    assert compiled is not None
    assert not compiled.interface.counts_references


def test_types_that_nest_deep_are_named() -> None:
    type_ = "!async.value<" * 2000 + "i32" + ">" * 2000
    text = f"func.func @f(%x: {type_}) -> {type_} {{\n  return %x : {type_}\n}}\n"
    [function] = Program.from_source(text, "f.mlir").functions

    assert (function.argument_types, function.result_types) == ((type_,), (type_,))


@pytest.mark.parametrize(("opening", "closing"), [("tuple<", ">"), ("!async.value<", ">")])
def test_types_nested_too_deep_are_an_error_at_their_line(opening: str, closing: str) -> None:
    text = f"\nfunc @f(%c: {opening * 50_000}i32{closing * 50_000}) {{\ntfrt.return\n}}\n"

    with pytest.raises(SourceError) as caught:
        parse_module(text, "text")

    [found] = caught.value.diagnostics
    assert found.message == "types or attributes nest more than 1024 deep"
    assert isinstance(found.location, Location) and found.location.line == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "#a0 = [1]\n{more}func @f() attributes {x = #a9} {\n  tfrt.return\n}",
            "6:1: error: '#a5'",
        ),
        (
            "func @f() attributes {x = #a9} {\n  tfrt.return\n}\n#a0 = [1]\n{more}",
            "9:7: error: '#a5'",
        ),
    ],
    ids=["before their use", "after it"],
)
def test_aliases_of_aliases_do_not_grow_without_a_limit(text: str, place: str) -> None:
    more = "".join(f"#a{i + 1} = [{', '.join([f'#a{i}'] * 10)}]\n" for i in range(9))
    with pytest.raises(SourceError) as caught:
        parse_module(text.replace("{more}", more), "f.mlir")

    shown = str(caught.value.diagnostics[0])
    assert shown == f"f.mlir:{place} is made of more than {MAX_ALIASES} aliases"


def test_types_of_types_have_aliases() -> None:
    more = "".join(f"!a{i + 1} = tuple<!a{i}, !a{i}>\n" for i in range(10))
    parse_module(f"!a0 = i64\n{more}func.func private @f(!a10)\n", "f.mlir")
