"""`ts.*`: shapes as values."""

from __future__ import annotations

import pytest

from tfrt_runtime.host.tensor.shapes import PartialTensorShape, TensorShape
from tfrt_runtime.kernels.registry import CHAIN, KernelError


def shape(*sizes: int) -> TensorShape:
    return TensorShape(sizes)


def test_a_shape_is_built_and_printed(kernels) -> None:
    built = kernels("ts.build_shape", attributes=((1, 57, 92),))
    kernels("ts.print_shape", built, CHAIN)
    kernels("ts.print_shape", kernels("ts.build_shape", attributes=((),)), CHAIN)
    assert built == shape(1, 57, 92)
    assert kernels.printed == "shape = [1, 57, 92]\nshape = []\n"


@pytest.mark.parametrize(
    ("sizes", "count"),
    [((12, 1, 70000), 840000), ((), 1), ((0, 5), 0), ((2**33, 2), 2**34), ((0, 2**62, 8), 0)],
)
def test_elements_are_counted(kernels, sizes, count) -> None:
    assert kernels("ts.get_num_elements", shape(*sizes)) == count


def test_an_impossible_shape_is_refused(kernels) -> None:
    with pytest.raises(KernelError, match=r"negative size in shape \[-1\]"):
        kernels("ts.build_shape", attributes=((-1,),))


@pytest.mark.parametrize("sizes", [(2**62, 2), (2**32, 2**32, 2**32)])
def test_a_shape_beyond_any_memory_is_a_value_of_which_only_the_elements_cannot_be_counted(
    kernels, sizes
) -> None:
    made = kernels("ts.build_shape", attributes=(sizes,))

    assert str(made) == str(list(sizes))
    assert kernels("ts.equal_shape", made, shape(*sizes)) is True
    with pytest.raises(KernelError, match="does not fit into i64"):
        kernels("ts.get_num_elements", made)


def test_one_size_is_looked_up(kernels) -> None:
    assert kernels("ts.get_dimension", shape(3, 4), 1) == 4


@pytest.mark.parametrize("index", [-1, 2])
def test_a_size_that_is_not_there_is_an_error(kernels, index) -> None:
    with pytest.raises(KernelError, match=rf"no dimension {index} in shape \[3, 4\]"):
        kernels("ts.get_dimension", shape(3, 4), index)


@pytest.mark.parametrize(
    ("other", "same"), [(shape(6, 7), True), (shape(7, 6), False), (shape(6, 7, 1), False)]
)
def test_shapes_are_compared(kernels, other, same) -> None:
    assert kernels("ts.equal_shape", shape(6, 7), other) is same


@pytest.mark.parametrize("rank", range(6))
def test_a_shape_of_fixed_rank_is_the_shape_itself(kernels, rank) -> None:
    known = shape(*range(1, rank + 1))
    fixed = kernels(f"ts.as_fixed_rank_shape.{rank}", known)
    kernels(f"ts.print_fixed_rank_shape.{rank}", fixed, CHAIN)
    assert fixed is known
    assert kernels.printed == f"fixed_rank_shape = {known}\n"


def test_a_shape_of_another_rank_is_refused(kernels) -> None:
    with pytest.raises(KernelError, match=r"expected a shape of rank 3, not \[9, 8\]"):
        kernels("ts.as_fixed_rank_shape.3", shape(9, 8))


def test_partial_shapes_are_built_printed_and_converted(kernels) -> None:
    partly = kernels("ts.build_partial_shape", attributes=((-1, 28),))
    unknown = kernels("ts.build_unranked_partial_shape")
    known = kernels("ts.build_partial_shape", attributes=((2, 2),))
    for value in (partly, unknown, known):
        kernels("ts.print_partial_shape", value, CHAIN)

    assert (partly, unknown) == (PartialTensorShape((-1, 28)), PartialTensorShape(None))
    assert kernels("ts.to_shape", known) == shape(2, 2)
    assert kernels("ts.to_partial_shape", shape(2, 2)) == known
    assert kernels.printed == (
        "partial_tensor_shape = [-1, 28]\n"
        "partial_tensor_shape = Unknown rank\n"
        "partial_tensor_shape = [2, 2]\n"
    )


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (None, "^Unknown rank$"),
        ((5, -1, -1, 3), r"^Unknown dimensions at following indices = \[1, 2\]$"),
    ],
)
def test_what_is_not_known_has_no_shape(kernels, sizes, message) -> None:
    with pytest.raises(KernelError, match=message):
        kernels("ts.to_shape", PartialTensorShape(sizes))


def test_a_partial_size_is_minus_one_or_more(kernels) -> None:
    with pytest.raises(KernelError, match=r"negative size in shape \[-2\]"):
        kernels("ts.build_partial_shape", attributes=((-2,),))


@pytest.mark.parametrize("name", ["print_shape", "get_num_elements", "to_partial_shape"])
def test_only_a_shape_is_a_shape(kernels, name) -> None:
    with pytest.raises(KernelError, match="expected a TensorShape, found str"):
        kernels(f"ts.{name}", "[1, 2]")
