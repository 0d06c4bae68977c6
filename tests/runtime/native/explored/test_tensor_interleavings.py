"""Test small scenes with tensors: their memory, their references, and shared products.

Every interleaving is tried.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.exploring.explorer import World, explore, explore_at_random, explored
from tests.exploring.simulated_host import SimulatedHost

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import tensors
from tfrt_runtime.native.async_value import drop_reference, new_available, state_of
from tfrt_runtime.native.calls import executor
from tfrt_runtime.native.kernels import tensor_products
from tfrt_runtime.native.memory import load, load_f32, store, store_f32, store_f64
from tfrt_runtime.native.queues import tasks

SIZE = 200
BLOCK = 256


class Store:
    """A store that may hold `blocks` blocks of `SIZE` bytes; it is empty at the end."""

    def __init__(self, host: SimulatedHost, blocks: int) -> None:
        self.address = host.block(at.STORE_SIZE, "store", "STORE_")
        store(self.address + at.STORE_PROCESS, host.process)
        self._held = load(host.process + at.PROCESS_HELD)
        store(host.process + at.PROCESS_MEMORY_LIMIT, self._held + blocks * BLOCK)
        self._process = host.process
        store(host.process + at.PROCESS_RELEASE_TENSOR, host.function(tensors.drop_tensor))
        host.world.finally_assert(self.close)

    def close(self) -> None:
        tensors.trim_store(self.address)
        assert load(self._process + at.PROCESS_HELD) == self._held
        assert load(self.address + at.STORE_TENSORS) == 0


@pytest.fixture(autouse=True)
def small_store(monkeypatch: pytest.MonkeyPatch) -> None:
    # At its full size, the store would be most of what the simulator has to check.
    monkeypatch.setattr(at, "SLOTS_PER_CLASS", 2)
    monkeypatch.setattr(at, "LARGEST_KEPT_BITS", 9)


def matrix(host: SimulatedHost, memory: Store, rows: int, columns: int) -> int:
    """Create a matrix of f32 with the elements 1, 2, 3, and so on."""
    like = tensors.new_shape(host.main, memory.address, 2, rows * columns)
    store(like + at.TENSOR_SIZES, rows)
    store(like + at.TENSOR_SIZES + 8, columns)
    made = tensors.new_tensor(host.main, memory.address, at.TYPE_F32, 4, like)
    tensors.drop_tensor(host.main, like)
    for i in range(rows * columns):
        store_f32(load(made + at.TENSOR_DATA) + 4 * i, 1.0 + i)
    return made


def test_sizes_are_rounded_up_by_less_than_a_quarter() -> None:
    for size in [*range(1, 5000), (1 << 24) + 1, (1 << 25) - 1, 1 << 25, 10**9]:
        block = tensors.block_size(size)
        assert size <= block <= max(64, size + size // 4 + 64)
        assert block % 64 == 0


def test_each_class_of_sizes_has_slots_of_its_own() -> None:
    rows: dict[int, int] = {}
    for bits in range(26):
        for eighth in range(8):
            size = min((1 << bits) + (eighth << bits >> 3), (1 << 25) - 1)
            row = tensors.first_slot(0, size)
            assert rows.setdefault(row, tensors.block_size(size)) == tensors.block_size(size)
            assert at.STORE_SLOTS <= row <= at.STORE_SIZE - 8 * at.SLOTS_PER_CLASS
    assert len(rows) <= at.STORE_CLASSES


@pytest.mark.parametrize("kept", [0, 1, 2])
@explored
def test_no_block_has_two_owners(world: World, kept: int) -> None:
    host = SimulatedHost(world, outside=2)
    memory = Store(host, 4).address
    first = [tensors.take_memory(host.main, memory, SIZE) for _ in range(kept)]
    for block in first:
        tensors.give_memory(memory, block, SIZE)
    held: set[int] = set()

    def use() -> None:
        block = tensors.take_memory(host.main, memory, SIZE)
        assert block not in held
        held.add(block)
        store(block, 1)  # the simulator reports a race if another thread has it, too
        held.remove(block)
        tensors.give_memory(memory, block, SIZE)

    world.thread(use, "one")
    world.thread(use, "other")


@explored
def test_who_finds_no_memory_gets_what_nobody_uses(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    memory = Store(host, 1).address
    # The store may hold only one block, which only one of the two could use as it is.
    tensors.give_memory(memory, tensors.take_memory(host.main, memory, SIZE), SIZE)
    found: dict[int, int] = {}

    def take(size: int) -> None:
        found[size] = tensors.take_memory(host.main, memory, size)

    world.thread(lambda: take(60), "small")
    world.thread(lambda: take(SIZE), "large")

    def check() -> None:
        assert any(found.values())
        for size, block in found.items():
            if block:
                tensors.give_memory(memory, block, size)

    world.finally_assert(check)


@explored
def test_the_last_reference_gives_the_memory_back_once(world: World) -> None:
    host = SimulatedHost(world, outside=3)
    memory = Store(host, 2)
    tensor = matrix(host, memory, 2, 2)
    for _ in host.outside[1:]:
        tensors.add_tensor_reference(tensor)
    for context in host.outside:
        world.thread(lambda context=context: tensors.drop_tensor(context, tensor), "owner")


@explored
def test_a_tensor_over_memory_of_python_releases_its_owner_once(world: World) -> None:
    host = SimulatedHost(world, outside=2)
    memory = Store(host, 1)
    tensor = tensors.tensor_over(host.main, memory.address, at.TYPE_F32, 1, 3, 4096, 7)
    value = new_available(host.main, at.TYPE_TENSOR)
    store(value + at.VALUE_PAYLOAD, tensor)
    tensors.add_tensor_reference(tensor)
    world.thread(lambda: tensors.drop_tensor(host.outside[0], tensor), "python")
    world.thread(lambda: drop_reference(host.outside[1], value), "value")
    world.finally_assert(lambda: host.released == [7])


def shared_product(parts: int, workers: int, seeks: bool = False) -> Callable[[World], None]:
    """Return a scenario of a product that the kernel's thread and workers share.

    A row of two numbers is multiplied in parts of two columns, because the simulator finds only
    races between whole words. With `seeks`, the workers seek work meanwhile.
    """
    columns = 2 * parts

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=workers + 1)
        memory = Store(host, 8)
        a, b, c = (
            matrix(host, memory, rows, columns)
            for rows, columns in ((1, 2), (2, columns), (1, columns))
        )
        context = host.contexts[0]
        store(context + at.CONTEXT_RESULTS, load(context + at.CONTEXT_ARGUMENTS))
        activation = host.block(256, "activation", "ACTIVATION_")
        # One of the pending things is the kernel: the scene ends before the activation does.
        store(activation + at.ACTIVATION_REMAINING, 2)
        store(activation + at.ACTIVATION_SHARED, at.SHARED_WITH_CALLERS)
        store(context + at.CONTEXT_ACTIVATION, activation)
        product = tensor_products.new_product(context, a, b, c, parts)
        store_f64(product + at.PRODUCT_ALPHA, 1.0)
        store_f64(product + at.PRODUCT_BETA, 0.0)
        store(product + at.PRODUCT_FUNCTION, 0)
        chain = load(load(context + at.CONTEXT_RESULTS))
        function = host.function(tensor_products.multiply_parts)

        def work(context: int) -> None:
            if seeks:
                executor.seek(context, host.queue)
            task = tasks.find_task(context)
            if task != 0:
                tensor_products.multiply_parts(context, task)

        def start() -> None:
            tensor_products.share_product(context, product, workers, function)

        world.thread(start, "kernel")
        for other in host.contexts[1:]:
            world.thread(lambda other=other: work(other), "worker")

        def check() -> None:
            while (task := tasks.find_task(host.main)) != 0:
                tensor_products.multiply_parts(host.main, task)
            assert state_of(chain) == at.CONCRETE
            assert load(activation + at.ACTIVATION_REMAINING) == 2
            data = load(c + at.TENSOR_DATA)
            found = [load_f32(data + 4 * i) for i in range(columns)]
            assert found == [1.0 * (1 + i) + 2.0 * (1 + columns + i) for i in range(columns)]
            drop_reference(host.main, chain)
            for tensor in (a, b, c):
                tensors.drop_tensor(host.main, tensor)

        world.finally_assert(check)

    return scenario


@pytest.fixture
def parts_of_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_products, "PART_COLUMNS", 2)


@pytest.mark.usefixtures("parts_of_two_columns")
@pytest.mark.parametrize("parts", [2, 3])
def test_a_shared_product_is_whole_before_its_chain_is_there(parts: int) -> None:
    assert explore(shared_product(parts, 1)).complete


@pytest.mark.usefixtures("parts_of_two_columns")
def test_a_product_is_shared_with_a_worker_that_seeks_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "SPIN_ROUNDS", 1)
    explore_at_random(shared_product(2, 1, seeks=True), interleavings=300)


@pytest.mark.usefixtures("parts_of_two_columns")
def test_a_worker_on_the_processor_of_the_kernels_thread_takes_no_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tensor_products, "processor", lambda: 0)
    at_work: set[int] = set()
    whole = tensor_products.work_on_product

    def noted(context: int, product: int) -> None:
        at_work.add(context)
        whole(context, product)

    monkeypatch.setattr(tensor_products, "work_on_product", noted)
    explore(shared_product(2, 1), interleavings=100)
    assert len(at_work) == 1


@pytest.mark.usefixtures("parts_of_two_columns")
def test_several_workers_share_a_product() -> None:
    explore_at_random(shared_product(4, 2), interleavings=300)
