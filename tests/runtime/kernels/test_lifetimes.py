"""Values that tell when they are made and when they go."""

from __future__ import annotations

from tfrt_runtime.kernels.registry import CHAIN


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
