"""Test converting files to modules, and back."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.tfrt_nb.convert.test_mlir_to_bef import GOLDEN, PROGRAMS, REFERENCE_STREAMS

from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.convert.collect import ConversionError
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.dialects.printer import print_module
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, FunctionKind
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError


def disassemble(data: bytes) -> str:
    return print_module(bef_to_mlir(BefFile.load(data)))


def assemble(text: str) -> bytes:
    return mlir_to_bef(parse_module(text, "again.mlir"))


# A file does not store the cost of operations, so streams come out differently.
@pytest.mark.parametrize("name", sorted({*PROGRAMS} - {"streams"}))
def test_a_file_comes_back_from_its_module_with_its_locations(name: str) -> None:
    data = (GOLDEN / f"{name}.bef").read_bytes()

    assert mlir_to_bef(bef_to_mlir(BefFile.load(data)), streams=REFERENCE_STREAMS) == data


def test_functions_have_the_attribute_names_that_their_operation_gives_them() -> None:
    text = """module {
  func @f(%arg0: !tfrt.chain, %arg1: i32) -> (!tfrt.chain, i32) {
    tfrt.return %arg0, %arg1 : !tfrt.chain, i32
  }
  func @body(%arg0: i32) -> (i32, i1) {
    %0 = tfrt.constant.i1 false
    tfrt.return %arg0, %0 : i32, i1
  }
  func @main(%arg0: i1, %arg1: i32, %arg2: !tfrt.chain) {
    %0:2 = tfrt.call @f(%arg2, %arg1) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
    %1:2 = tfrt.cond %arg0 @f @f (%arg2, %arg1) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
    %2:2 = tfrt.case %arg1 [@f] (%arg2, %arg1) : (i32) -> (i32)
    %3 = tfrt.while %arg0 @body(%arg1) parallel_iterations(1) : (i32) -> (i32)
    %4:2 = tfrt.once @f(%arg2, %arg1) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
    "my.op"() {callee = @f} : () -> ()
    "my.op"() {callee_0 = @f, callee_1 = @body} : () -> ()
    tfrt.return
  }
}
"""

    assert disassemble(assemble(text)) == text


def test_without_optional_sections_signatures_fill_in_and_the_rest_is_none() -> None:
    text = """func @main(%c: !tfrt.chain) -> i32 {
  %a = tfrt.constant.i32 5
  %b:2 = "my.op"(%a) {size = 7 : i64} : (i32) -> (i32, f32)
  %d = tfrt.print.i32 %b#0, %c
  tfrt.return %a : i32
}"""
    data = mlir_to_bef(parse_module(text, "f.mlir"), optional_sections=False)

    assert (
        disassemble(data)
        == """module {
  func @main(%arg0: !tfrt.chain) -> i32 {
    %0 = tfrt.constant.i32 5
    %1:2 = "my.op"(%0) {attr0 = none} : (i32) -> (none, none)
    %2 = "tfrt.print.i32"(%1#0, %arg0) : (none, !tfrt.chain) -> !tfrt.chain
    tfrt.return %0 : i32
  }
}
"""
    )


def test_without_optional_sections_a_kernel_that_takes_chains_alone_gives_one() -> None:
    text = """module {
  func @main(%arg0: !tfrt.chain) -> i32 {
    %0 = tfrt_test.test_cost %arg0 {id = 1 : i64}
    %1 = tfrt_test.test_cost %0, %arg0 {id = 2 : i64}
    %2 = tfrt.constant.i32 5
    %3 = tfrt_test.test_cost %2, %1 {id = 3 : i64} : i32, !tfrt.chain
    tfrt.return %3 : i32
  }
}
"""

    assert disassemble(mlir_to_bef(parse_module(text, "f.mlir"), optional_sections=False)) == text


def test_nonstrict_kernels_keep_their_attribute() -> None:
    text = """module {
  func @f(%arg0: i32, %arg1: i32) {
    "my.op"(%arg0, %arg1) {bef.nonstrict} : (i32, i32) -> ()
    tfrt.return
  }
}
"""

    assert disassemble(assemble(text)) == text


# --- refused ---

NOTHING = BefFunction(FunctionKind.ASYNC, "", (), ())


def module_of(*functions: BefFunction) -> BefFile:
    names = tuple({kernel.name for function in functions for kernel in function.kernels})
    types = tuple({spelling for function in functions for spelling in function.argument_types})
    return BefFile.load(write_bef(BefModule(functions, names, types, b"")), "odd.bef")


def calling(*functions: int) -> BefFunction:
    kernel = BefKernel("my.region", 0, (), (), functions, (), (), 0)
    return replace(NOTHING, name="f", kernels=(kernel,), entry_users=(1,))


@pytest.mark.parametrize(
    "file",
    [
        module_of(NOTHING, calling(0, 0)),
        module_of(calling(1), NOTHING),
    ],
    ids=["twice", "after its kernel"],
)
def test_a_region_that_is_not_in_one_place_is_refused(file: BefFile) -> None:
    with pytest.raises(ConversionError, match='"odd.bef": error: region . does not belong'):
        bef_to_mlir(file)


def test_a_type_that_is_none_is_refused() -> None:
    function = replace(
        NOTHING,
        name="f",
        argument_types=("tensor<",),
        register_count=1,
        use_counts=(0,),
        argument_users=((),),
    )

    with pytest.raises(ConversionError, match="'tensor<' is not a type"):
        bef_to_mlir(module_of(function))


def test_files_with_wrong_bytes_become_text_or_are_refused() -> None:
    small = [path.read_bytes() for path in sorted(GOLDEN.glob("*.bef*"))]
    small = [data for data in small if 3 < len(data) < 2000 and data.startswith(b"\x0b\xef")]
    generator = random.Random(2022)
    for _ in range(1500):
        data = bytearray(generator.choice(small))
        for _ in range(generator.randint(1, 2)):
            data[generator.randrange(len(data))] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        with suppress(TfrtError):
            disassemble(bytes(data))
