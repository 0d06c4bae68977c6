"""Test the tables of kernels, and the operations that are generated from them."""

from __future__ import annotations

import pytest

from tfrt_nb.dialects.catalog import (
    SIGNATURES,
    host_operation,
    new_context,
    similar_operations,
    unknown_operation,
)
from tfrt_nb.dialects.tables.signatures import Form, Signature, family, kernel, table
from tfrt_nb.dialects.types import WORDS


def test_a_row_reads_like_the_kernel() -> None:
    (signature,) = kernel("my.kernel", "tensor i32* -> tensor chain", Form.OPERANDS, size="i64")

    assert signature == Signature(
        "my.kernel",
        operands=("tensor",),
        results=("tensor", "chain"),
        attributes={"size": "i64"},
        rest="i32",
        form=Form.OPERANDS,
    )


def test_a_family_has_a_row_for_each_variant() -> None:
    rows = table(
        family("i32 f32", "my.add.{}", "{0} {0} -> {0}"),
        family([("i64", "f32")], "my.cast.{0}_to_{1}", "{0} -> {1}"),
    )

    assert {name: (row.operands, row.results) for name, row in rows.items()} == {
        "my.add.i32": (("i32", "i32"), ("i32",)),
        "my.add.f32": (("f32", "f32"), ("f32",)),
        "my.cast.i64_to_f32": (("i64",), ("f32",)),
    }


def test_every_word_has_a_meaning() -> None:
    other = {"any", "string", "dense", "aggregate", "typed"}
    words = {
        word.removeprefix("array.").removesuffix("?")
        for signature in SIGNATURES.values()
        for word in (
            *signature.operands,
            *signature.results,
            *signature.attributes.values(),
            *filter(None, [signature.rest]),
        )
    }

    assert words - other <= WORDS.keys()


@pytest.mark.parametrize(
    "name",
    [
        "tfrt.constant.bf16",
        "tfrt.div.f64",
        "tfrt.cast.f64_to_i64",
        "tfrt_test.atomic.get.i32",
        "tfrt_dht.create_uninitialized_tensor.bool.5",
        "tfrt_dht.tensor_allclose.100000ulp.f64",
        "coo.convert_dht_to_coo.f32.2",
        "ts.as_fixed_rank_shape.3",
        "btf.read_dense_tensor.ui8.4",
        "vt.add",
        "tfrt_tutorial.create_coordinate",
    ],
)
def test_the_tables_know_the_kernels_of_every_dialect(name: str) -> None:
    assert name in SIGNATURES


def test_an_operation_has_one_class_however_often_it_is_asked_for() -> None:
    context = new_context()

    assert host_operation("tfrt.add.i32") is context.get_op("tfrt.add.i32")
    assert unknown_operation("their.op") is context.get_op("their.op")
    assert host_operation("their.op") is None


@pytest.mark.parametrize(
    ("meant", "found"),
    [
        ("tfrt.adds.i32", "tfrt.add.i32"),
        ("tfrt.retrun", "tfrt.return"),
        ("tfrt_dht.print_tensors", "tfrt_dht.print_tensor"),
        ("tfrt.new_chain", "tfrt.new.chain"),
        ("tfrt.multipy.i32", "tfrt.mul.i32"),
        ("tfrt.multiply.i64", "tfrt.mul.i64"),
        ("tfrt.substract.f32", "tfrt.minus.f32"),
        ("tfrt.neg.i32", "tfrt.minus.i32"),
        ("tfrt.not.i1", "tfrt.xor.i1"),
        ("tfrt.add.int", "tfrt.add.i32"),
        ("tftr.print.i64", "tfrt.print.i64"),
        ("add.i32", "tfrt.add.i32"),
    ],
)
def test_a_misspelt_name_is_recognised(meant: str, found: str) -> None:
    assert similar_operations(meant)[0] == found


def test_a_name_like_no_other_resembles_nothing() -> None:
    assert similar_operations("unheard.of") == []
    assert similar_operations("tfrt.sqrt.f64") == []
