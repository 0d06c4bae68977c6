"""`ts.*`: shapes as values."""

from __future__ import annotations

import pytest

from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.kernels.registry import KernelError


def shape(*sizes: int) -> TensorShape:
    return TensorShape(sizes)


@pytest.mark.parametrize(
    ("sizes", "count"),
    [((12, 1, 70000), 840000), ((), 1), ((0, 5), 0), ((2**33, 2), 2**34), ((0, 2**62, 8), 0)],
)
def test_elements_are_counted(kernels, sizes, count) -> None:
    assert kernels("ts.get_num_elements", shape(*sizes)) == count


@pytest.mark.parametrize("sizes", [(2**62, 2), (2**32, 2**32, 2**32)])
def test_a_shape_beyond_any_memory_is_a_value_of_which_only_the_elements_cannot_be_counted(
    kernels, sizes
) -> None:
    made = kernels("ts.build_shape", attributes=(sizes,))

    assert str(made) == str(list(sizes))
    assert kernels("ts.equal_shape", made, shape(*sizes)) is True
    with pytest.raises(KernelError, match="does not fit into i64"):
        kernels("ts.get_num_elements", made)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_size_that_is_not_there_is_an_error(kernels, index) -> None:
    with pytest.raises(KernelError, match=rf"no dimension {index} in shape \[3, 4\]"):
        kernels("ts.get_dimension", shape(3, 4), index)


def test_a_shape_of_another_rank_is_refused(kernels) -> None:
    with pytest.raises(KernelError, match=r"expected a shape of rank 3, not \[9, 8\]"):
        kernels("ts.as_fixed_rank_shape.3", shape(9, 8))


@pytest.mark.parametrize("name", ["print_shape", "get_num_elements", "to_partial_shape"])
def test_only_a_shape_is_a_shape(kernels, name) -> None:
    with pytest.raises(KernelError, match="expected a TensorShape, found str"):
        kernels(f"ts.{name}", "[1, 2]")
