"""Test converting modules to files: the corpus byte for byte, and what a file cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fuzz.random_programs import random_program
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region

from tfrt_nb.convert.collect import ConversionError
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef, to_records
from tfrt_nb.dialects.catalog import unknown_operation
from tfrt_nb.dialects.control_flow import ReturnOp
from tfrt_nb.passes.streams import StreamOptions
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.attributes import Attribute
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import FunctionKind
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import Diagnostic, Location

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
PROGRAMS = sorted(path.stem for path in GOLDEN.glob("*.mlir") if path.with_suffix(".bef").exists())

REFERENCE_STREAMS = StreamOptions(cost_threshold=1, prefers_return=False)


def golden(name: str) -> ModuleOp:
    return parse_module((GOLDEN / f"{name}.mlir").read_text(), f"{name}.mlir")


@pytest.mark.parametrize(("is_whole", "ending"), [(True, "bef"), (False, "bef_min")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bytes_are_those_of_the_reference(name: str, is_whole: bool, ending: str) -> None:
    data = mlir_to_bef(golden(name), optional_sections=is_whole, streams=REFERENCE_STREAMS)

    assert data == (GOLDEN / f"{name}.{ending}").read_bytes()


def contents(file: BefFile) -> tuple[object, ...]:
    """Return the contents of a file."""
    return (
        file.functions,
        file.kernel_names,
        file.type_names,
        bytes(file.attributes),
        file.location_strings,
        file.locations,
        file.attribute_types,
    )


def attributes(file: BefFile) -> Iterator[Attribute]:
    for offset, kind in (file.attribute_types or {}).items():
        yield file.attribute_reader.read(offset, kind)


@pytest.mark.parametrize("optional_sections", [True, False])
def test_records_say_what_a_reader_finds_in_the_bytes(optional_sections: bool) -> None:
    modules = [golden(name) for name in PROGRAMS]
    modules += [parse_module(random_program(seed), "random") for seed in range(20)]
    for module in modules:
        records = to_records(module, optional_sections=optional_sections)

        made, read = BefFile.of(records, "text"), BefFile.load(write_bef(records), "text")

        assert contents(made) == contents(read)
        for one, other in zip(attributes(made), attributes(read), strict=True):
            assert one == other or repr(one) == repr(other)  # a NaN is not equal to itself


# --- refused ---


def refusals(text: str) -> list[tuple[str, str]]:
    """Yield the errors of converting a source: the source at the place, and the message."""
    with pytest.raises(ConversionError) as refusal:
        mlir_to_bef(parse_module(text, "f.mlir"))
    return [
        (_quoted(text, diagnostic), diagnostic.message) for diagnostic in refusal.value.diagnostics
    ]


def _quoted(text: str, diagnostic: Diagnostic) -> str:
    place = diagnostic.location
    assert isinstance(place, Location)
    return text.splitlines()[place.line - 1][place.column - 1 :]


def test_regions_nested_beyond_reason_are_refused() -> None:
    block = Block([ReturnOp.create()])
    for _ in range(2000):
        operation = unknown_operation("my.region").create(regions=[Region(block)])
        block = Block([operation, ReturnOp.create()])
    module = ModuleOp([FuncOp("f", ((), ()), Region(block))])

    with pytest.raises(ConversionError, match="regions nest more than 1024 deep"):
        mlir_to_bef(module)


def test_arrays_nested_deeper_than_a_reader_follows_are_refused() -> None:
    deepest, deeper = "[" * 64 + "1 : i32" + "]" * 64, "[" * 66 + "1 : i32" + "]" * 66

    def text(value: str) -> str:
        return f'func @f() {{\n  "my.op"() {{a = {value}}} : () -> ()\n  tfrt.return\n}}'

    BefFile.load(mlir_to_bef(parse_module(text(deepest), "deep.mlir")))
    [(where, message)] = refusals(text(deeper))

    assert where.startswith('"my.op"')
    assert message == "attribute 'a' nests more than 64 deep"


# --- cases that the corpus lacks ---


def test_a_nonstrict_kernel_waits_for_one_operand() -> None:
    module = parse_module(
        """func @f(%a: i32, %b: i32) -> i32 {
  %c = "my.op"(%a, %b) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %c : i32
}""",
        "f.mlir",
    )
    (function,) = BefFile.load(mlir_to_bef(module)).functions
    (kernel,) = function.kernels

    assert (kernel.is_nonstrict, kernel.operands_to_wait, kernel.attributes) == (True, 1, ())


def test_attributes_that_differ_in_a_bit_are_two_and_equal_ones_are_one() -> None:
    module = parse_module(
        """func @f() {
  "my.op"() {a = 0.0 : f32, b = -0.0 : f32, c = 0.0 : f32, d = -1 : i8, e = 255 : i8} : () -> ()
  tfrt.return
}""",
        "f.mlir",
    )
    (function,) = to_records(module).functions

    assert function.kernels[0].attributes == (0, 4, 0, 8, 8)


def test_functions_come_before_those_that_use_them_as_regions() -> None:
    module = parse_module(
        """func private @native(i32) attributes {tfrt.native}
func @f(%c: i1) attributes {tfrt.sync} {
  tfrt.if %c : () -> () {
    tfrt.return
  } else {
    tfrt.return
  }
  tfrt.return
}""",
        "f.mlir",
    )
    functions = to_records(module).functions

    assert [(function.kind, function.name) for function in functions] == [
        (FunctionKind.NATIVE, "native"),
        (FunctionKind.ASYNC, ""),
        (FunctionKind.ASYNC, ""),
        (FunctionKind.SYNC, "f"),
    ]
    assert functions[3].kernels[0].functions == (1, 2)
