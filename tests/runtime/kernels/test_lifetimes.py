"""Values that tell when they are made and when they go."""

from __future__ import annotations

import pytest

from tfrt_runtime.kernels.registry import CHAIN, KernelError


def test_a_value_prints_its_life(kernels) -> None:
    value = kernels("vt.constant", attributes=(6,))
    total = kernels("vt.add", value, value)
    del value
    kernels("vt.print", total, CHAIN)
    del total
    assert kernels.printed.splitlines() == [
        "constructed vt.value(6)",
        "move constructed vt.value(6)",
        "constructed vt.value(12)",
        "move constructed vt.value(12)",
        "destroyed vt.value(6)",
        "print vt_value(12)",
        "destroyed vt.value(12)",
    ]


def test_a_sum_wraps_in_32_bits(kernels) -> None:
    largest = kernels("vt.constant", attributes=(2**31 - 1,))
    assert kernels("vt.add", largest, largest).number == -2


def test_a_shared_value_is_not_copied_and_dies_once(kernels) -> None:
    value = kernels("vt.constant", attributes=(1,))
    first, second = kernels("tfrt_test.share_to_two", value)
    assert first is second is value
    del value, first
    before = kernels.printed
    del second
    assert kernels.printed.removeprefix(before) == "destroyed vt.value(1)\n"


@pytest.mark.parametrize("operands", [(3,), (CHAIN,)])
def test_only_a_value_is_a_value(kernels, operands) -> None:
    with pytest.raises(KernelError, match="expected a TracedValue"):
        kernels("vt.print", *operands)


def test_a_resource_goes_when_it_is_released(kernels) -> None:
    resource, _ = kernels("tfrt_test.allocate_resource", CHAIN)
    kernels("tfrt_test.deallocate_resource", resource, CHAIN)
    with pytest.raises(KernelError, match="the resource was deallocated before"):
        kernels("tfrt_test.deallocate_resource", resource, CHAIN)
    del resource
    assert kernels.printed.splitlines() == [
        "Allocated TestResource",
        "Destroyed TestResource",
        "tfrt_test.deallocate_resource done",
    ]


def test_a_resource_that_nobody_releases_goes_with_its_last_reference(kernels) -> None:
    resource, _ = kernels("tfrt_test.allocate_resource", CHAIN)
    del resource
    assert kernels.printed == "Allocated TestResource\nDestroyed TestResource\n"


def test_a_host_has_one_sample_context(kernels) -> None:
    found = [kernels("tfrt_test.use_sample_shared_context", CHAIN) for _ in range(2)]
    assert found == [("sample_shared_context0", CHAIN)] * 2


def test_the_leak_is_a_leak(kernels) -> None:
    kernels("tfrt_test.memory_leak_one_int32")
    assert kernels.host.allocator.report().splitlines()[-1] == (
        "Memory leak detected: 1 alive allocations, 4 alive bytes"
    )
