"""Test which functions are compiled, and what is compiled with them."""

from __future__ import annotations

import pytest

from tfrt_nb.compiled.division import split
from tfrt_nb.source import parse_module

HOST = """func.func @host() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}"""
PLAIN = """func.func @plain(%x: i32) -> i32 {
  func.call @printI64() : () -> ()
  return %x : i32
}"""
BRANCHES = """func.func @branches() {
  cf.br ^end
^end:
  cf.br ^end
}"""
LATER = """async.func @later() -> !async.token {
  return
}"""
TABLE = 'memref.global "private" @table : memref<1xi32> = dense<7>'
PRINT = "func.func private @printI64()"
UNUSED = "func.func private @unused()"
KERNEL = "func.func private @kernel(i32) -> i32 attributes {tfrt.native}"
RETURNS_BADLY = """func.func @badly() -> i32 {
  %x = tfrt.constant.i32 1
  return %x : i32
}"""
UNKNOWN = """func.func @unknown() {
  "some.kernel"() : () -> ()
}"""


def names(*definitions: str) -> tuple[list[str], list[str]]:
    """Return the symbols of the host half and of the compiled half of a program."""
    halves = split(parse_module("\n".join(definitions), "f.mlir"))
    host, compiled = (
        [str(op.properties["sym_name"]).strip('"') for op in half.ops]
        for half in (halves.host, halves.compiled)
    )
    return host, compiled


@pytest.mark.parametrize(
    ("definitions", "host", "compiled"),
    [
        ([HOST], ["host"], []),
        ([LATER], [], ["later"]),
        ([BRANCHES], [], ["branches"]),
        ([PLAIN, PRINT], [], ["plain", "printI64"]),
        ([PLAIN, PRINT, UNUSED, TABLE], [], ["plain", "printI64", "unused", "table"]),
        ([HOST, PLAIN, PRINT, LATER], ["host"], ["plain", "printI64", "later"]),
        ([HOST, KERNEL, LATER, UNUSED], ["host", "kernel"], ["later", "unused"]),
        ([HOST, UNUSED], ["host", "unused"], []),
        ([RETURNS_BADLY], ["badly"], []),
        ([UNKNOWN], ["unknown"], []),
        ([], [], []),
    ],
)
def test_each_function_is_of_one_kind(
    definitions: list[str], host: list[str], compiled: list[str]
) -> None:
    assert names(*definitions) == (host, compiled)


def test_a_module_of_one_kind_is_its_half() -> None:
    module = parse_module(LATER, "f.mlir")

    assert split(module).compiled is module
