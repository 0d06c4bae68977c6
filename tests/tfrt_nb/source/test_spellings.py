"""Test that old and new spellings of programs become the same operations."""

from __future__ import annotations

import pytest

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.source import parse_module
from tfrt_nb.source.spellings import operation_name, type_name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hex.add.i32", "tfrt.add.i32"),
        ("hex.constant.bool", "tfrt.constant.i1"),
        ("hex.return", "tfrt.return"),
        ("hex.repeat.i32", "tfrt.repeat.i32"),
        ("hex.async_add.i32", "tfrt_test.async_add.i32"),
        ("hex.do.async", "tfrt_test.do.async"),
        ("hex.of.somebody", "tfrt.of.somebody"),
        ("dht.create_uninit_tensor.i32.2", "tfrt_dht.create_uninitialized_tensor.i32.2"),
        ("dht.create_uninitialized_tensor.f32.1", "tfrt_dht.create_uninitialized_tensor.f32.1"),
        ("dht.fill_tensor.i32", "tfrt_dht.fill_tensor_with_constant.i32"),
        ("dht.fill_tensor_with_constant.i32", "tfrt_dht.fill_tensor_with_constant.i32"),
        ("dht.print_tensor.i32", "tfrt_dht.print_tensor"),
        ("dht.print_tensor", "tfrt_dht.print_tensor"),
        ("sht.create_tensor", "tfrt_sht.create_tensor"),
        ("tfrt.add.i32", "tfrt.add.i32"),
        ("golden.hex.add", "golden.hex.add"),
    ],
)
def test_old_names_of_operations(old: str, new: str) -> None:
    assert operation_name(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hex.chain", "tfrt.chain"),
        ("hex.string", "tfrt.string"),
        ("dht.dense_host_tensor.f32.2", "t.tensor"),
        ("tfrt_tensor.tensor", "t.tensor"),
        ("t.tensor", "t.tensor"),
    ],
)
def test_old_and_new_names_of_types(old: str, new: str) -> None:
    assert type_name(old) == new


def canonical(text: str) -> str:
    return print_module(parse_module(text, "text"))


def test_calls_of_2020_are_non_strict_and_later_ones_only_if_they_say_so() -> None:
    body = """
func @f(%x: i32) -> i32 {{
  %y = {0}.call @f(%x) : (i32) -> i32
  %t = {0}.constant.i1 1
  %z = {0}.if %t, %y : (i32) -> i32 {{ {0}.return %y : i32 }} else {{ {0}.return %y : i32 }}
  {0}.repeat.i32 %z {{ {0}.return }}
  {0}.return %z : i32
}}
"""
    assert canonical(body.format("hex")).count("bef.nonstrict") == 3
    assert "bef.nonstrict" not in canonical(body.format("tfrt"))


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            "%r = tfrt.call @f(%x) {bef.nonstrict} : (i32) -> i32",
            "%0 = tfrt.call @f(%arg0) {bef.nonstrict} : (i32) -> i32",
        ),
        (
            "%r = tfrt.repeat.i32 %x, %x attributes {bef.nonstrict} : i32 { tfrt.return %x : i32 }",
            "%0 = tfrt.repeat.i32 %arg0, %arg0 attributes {bef.nonstrict} : i32 {",
        ),
        (
            '%r = "golden.op"(%x) {bef.nonstrict} : (i32) -> i32',
            '%0 = "golden.op"(%arg0) {bef.nonstrict} : (i32) -> i32',
        ),
    ],
)
def test_the_attribute_of_non_strict_operations_is_kept(written: str, printed: str) -> None:
    text = f"func @f(%x: i32) -> i32 {{\n  {written}\n  tfrt.return %r : i32\n}}\n"

    assert printed in canonical(text)


def test_a_declaration_is_private_whether_it_says_so_or_not() -> None:
    old = "func @add(%a: i32, %b: i32) -> i32 attributes {hex.native}"
    new = "func.func private @add(i32, i32) -> i32 attributes {tfrt.native}"

    assert canonical(old) == canonical(new)
    assert "func private @add(i32, i32) -> i32 attributes {tfrt.native}" in canonical(old)


def test_the_types_of_a_case_may_leave_the_chain_out() -> None:
    text = """
func @b(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {{
  tfrt.return %c, %x : !tfrt.chain, i32
}}
func @f(%i: i32, %c: !tfrt.chain) -> i32 {{
  %d, %r = tfrt.case %i [@b, @b] (%c, %i) : {}
  tfrt.return %r : i32
}}
"""
    short = text.format("(i32) -> (i32)")
    full = text.format("(!tfrt.chain, i32) -> (!tfrt.chain, i32)")

    assert canonical(short) == canonical(full)
    assert print_module(parse_module(short, "text"), head=True).count(
        "(!tfrt.chain, i32) -> (!tfrt.chain, i32)"
    )
