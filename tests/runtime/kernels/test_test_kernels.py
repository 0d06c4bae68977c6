"""The small kernels of the reference's tests and of the seed's examples."""

from __future__ import annotations

import threading

import pytest

from tfrt_runtime.kernels.basic import test_kernels
from tfrt_runtime.kernels.basic.test_kernels import Coordinate, Device
from tfrt_runtime.kernels.registry import CHAIN, KernelError


def test_greeting_and_flags_are_printed(kernels) -> None:
    kernels("tfrt_test.print_hello", CHAIN)
    kernels("tfrt_test.print_bool", CHAIN, True)
    kernels("tfrt_test.print_bool", CHAIN, False)
    assert kernels.printed == "hello host executor!\ntrue\nfalse\n"


@pytest.mark.parametrize(
    ("info", "line"),
    [("layer7/Relu", "layer7/Relu\n"), ("", "\n"), (None, "Kernel has no debug info\n")],
)
def test_debug_info_is_printed_even_if_empty(kernels, info, line) -> None:
    kernels.frame.debug_info = info
    kernels("tfrt_test.print_debug_info", CHAIN)
    assert kernels.printed == line


@pytest.mark.parametrize("operands", [(), (1,), (1, 2, 3)])
def test_a_kernel_with_a_cost_prints_its_id(kernels, operands) -> None:
    assert kernels("tfrt_test.test_cost", *operands, attributes=(11,)) == 0
    assert kernels.printed == "id: 11\n"


def test_six_lines_are_logged(kernels, capsys) -> None:
    kernels("tfrt_test.logging", "from a test", CHAIN)
    lines = ["INFO: from a test", "WARNING: from a test", "ERROR: from a test"]
    assert capsys.readouterr().err.splitlines() == lines * 2


def test_a_nested_attribute_is_flattened(kernels) -> None:
    attribute = (("seven of nine", (7, 9)), (-0.125,))
    assert kernels("tfrt_test.flat", attributes=(attribute,)) == ("seven of nine", 7, 9, -0.125)


@pytest.mark.parametrize(
    "attribute", [(), ((1, (7, 9)), (1.0,)), (("a", (7,)), (1.0,)), (("a", (7, 9)), ())]
)
def test_another_nested_attribute_is_refused(kernels, attribute) -> None:
    with pytest.raises(KernelError, match="expected an attribute"):
        kernels("tfrt_test.flat", attributes=(attribute,))


@pytest.mark.parametrize(
    ("bits", "values", "total"),
    [
        (32, (1, 2, 3), 6),
        (32, (2**31 - 1, 1), -(2**31)),
        (32, (), 0),
        (64, (2**40, 1), 2**40 + 1),
        (64, (2**63 - 1, 2), -(2**63) + 1),
    ],
)
def test_arrays_are_summed_and_wrap(kernels, bits, values, total) -> None:
    assert kernels(f"tfrt_test.sum_array_attr.i{bits}", attributes=(values,)) == total


def test_some_kernels_have_fixed_answers(kernels) -> None:
    assert kernels("tfrt_test.async_value_get") == "base1:base2:final_class:3"
    assert kernels("tfrt_test.async_value_ref") == (
        "available:2;unavailable;(3);available:3;unavailable;available:4"
    )


def test_mars_answers_after_a_while(kernels, monkeypatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(test_kernels.time, "sleep", waits.append)
    assert kernels("tfrt.async.read.from.mars") == 42
    assert waits == [0.1]
    assert kernels.registry["tfrt.async.read.from.mars"].blocking


def test_the_host_is_the_only_device(kernels) -> None:
    assert kernels("tfrt.get_device", CHAIN, attributes=("CPU:0",)) == Device("CPU:0")
    with pytest.raises(KernelError, match="^cannot find device TPU:3$"):
        kernels("tfrt.get_device", CHAIN, attributes=("TPU:3",))


def test_threads_are_numbered_as_they_ask(kernels) -> None:
    def ask() -> None:
        numbers.append(kernels("tfrt_test.get_thread_id", CHAIN))

    numbers: list[int] = []
    ask()
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    ask()
    assert numbers == [0, 1, 0]


def test_a_location_has_one_name(kernels) -> None:
    for location, name in ((4, "one"), (8, "two"), (4, "one")):
        kernels.frame.location_id = location
        kernels("tfrt_test.unique_loc", CHAIN, attributes=(name,))
    with pytest.raises(KernelError, match="^duplicate locations 4$"):
        kernels("tfrt_test.unique_loc", CHAIN, attributes=("two",))


def test_a_request_carries_data(kernels) -> None:
    with pytest.raises(KernelError, match="the request has no data of type i32"):
        kernels("tfrt_test.get_request_context_data.i32")
    kernels.frame.request.data[int] = 1234
    assert kernels("tfrt_test.get_request_context_data.i32") == 1234


def test_kinds_of_tensors_are_printed(kernels, tensor) -> None:
    kind = kernels("tfrt_test.get_static_tensor_type", attributes=("StringHost",))
    kernels("tfrt_test.print_tensor_type", kind, CHAIN)
    kernels("tfrt_test.print_tensor_type", tensor([1.0]), CHAIN)
    assert kernels.printed == "StringHost\nDenseHost\n"
    for wrong in (int, 5):
        with pytest.raises(KernelError, match="expected a tensor"):
            kernels("tfrt_test.print_tensor_type", wrong, CHAIN)
    with pytest.raises(KernelError, match="cannot find tensor type GpuDense"):
        kernels("tfrt.get_static_tensor_type", attributes=("GpuDense",))


def test_a_coordinate_is_printed(kernels) -> None:
    point = kernels("tfrt_tutorial.create_coordinate", -4, 11)
    kernels("tfrt_tutorial.print_coordinate", point, CHAIN)
    assert (point, kernels.printed) == (Coordinate(-4, 11), "(-4, 11)\n")
