"""Test programs that exceed their memory: an operation gets an error, and the process continues."""

from __future__ import annotations

import ctypes
import platform
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

GROWING = """func.func @grow(%x: i32) -> i32 {
  %a = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %y = tfrt.call @grow(%a) : (i32) -> i32
  %z = tfrt.call @grow(%a) : (i32) -> i32
  %s = tfrt.add.i32 %y, %z
  tfrt.return %s : i32
}
func.func @main() -> i32 {
  %c = tfrt.constant.i32 5
  %r = tfrt.call @grow(%c) : (i32) -> i32
  tfrt.return %r : i32
}
func.func @small() -> i32 {
  %c = tfrt.constant.i32 5
  %r = tfrt.add.i32 %c, %c
  tfrt.return %r : i32
}
"""
WAITING = """async.func @f(%n: i64) -> !async.value<i64> {
  %v = async.call @f(%n) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  return %x : i64
}
func.func @main() -> i64 {
  %c = arith.constant 1 : i64
  %v = async.call @f(%c) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  return %x : i64
}
"""
LEFT = (
    WAITING[: WAITING.index("func.func")]
    + """func.func @main() -> i64 {
  %c = arith.constant 1 : i64
  %t = async.execute {
    %v = async.call @f(%c) : (i64) -> !async.value<i64>
    async.yield
  }
  return %c : i64
}
"""
)
IN_TASKS = """func.func @f(%x: i32) -> i32 {
  %y = "tfrt_test.do.async"(%x) ({
  ^bb0(%a: i32):
    %z = tfrt.call @f(%a) : (i32) -> i32
    tfrt.return %z : i32
  }) : (i32) -> i32
  %w = "tfrt_test.do.async"(%x) ({
  ^bb0(%a: i32):
    %z = tfrt.call @f(%a) : (i32) -> i32
    tfrt.return %z : i32
  }) : (i32) -> i32
  tfrt.return %w : i32
}
func.func @main() -> i32 {
  %c = tfrt.constant.i32 5
  %r = tfrt.call @f(%c) : (i32) -> i32
  tfrt.return %r : i32
}
"""
WAITING_TASKS = """func.func @main() {
  %first = "async.runtime.create"() : () -> !async.token
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000 : index
  scf.for %i = %c0 to %many step %c1 {
    %t = async.execute [%first] { async.yield }
  }
  return
}
"""
LARGE = """func.func @main() {
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [100000 : i64, 20000 : i64]
  tfrt.return
}
"""
PROGRAMS = {"calls": GROWING, "coroutines": WAITING, "tasks": IN_TASKS, "a tensor": LARGE}


def extra(size: int) -> int:
    """Return a budget of `size` bytes beyond the memory that the process cannot release now."""
    process = native_process()
    process.quick.reclaim_all(process.address, 0)
    return process.memory_held + size


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_compiled_code_beyond_the_budget_ends_at_the_operation_that_grew(queue: str) -> None:
    program = Program.from_source(WAITING_TASKS, "tasks.mlir")
    with HostContext(queue, memory=extra(20 << 20), on_diagnostic=lambda _: None) as host:
        run = program.run(host)
        assert run.wait(60)
        found = run.diagnostics[0]
        assert found.message.startswith("out of memory: 'async.execute' needs")
        assert str(found.location).startswith("tasks.mlir:7")


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_tasks_that_a_run_has_left_behind_end_at_the_budget(queue: str) -> None:
    program = Program.from_source(LEFT, "left.mlir")
    size = extra(20 << 20)
    with HostContext(queue, memory=size, on_diagnostic=lambda _: None) as host:
        run = program.run(host)
        assert run.results[0].result(60) == 1
        assert run.wait(60)
        [found] = run.diagnostics
        assert found.message.startswith("out of memory: 'async.func' needs")
        assert str(found.location).startswith("left.mlir:1")
        # Operations that had started needed some memory to finish.
        assert native_process().memory_held < size + (200 << 20)


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_run_beyond_the_budget_ends_at_the_operation_that_grew(queue: str) -> None:
    program = Program.from_source(GROWING, "grow.mlir").load()
    with HostContext(queue, memory=extra(20 << 20), on_diagnostic=lambda _: None) as host:
        run = Execution(host, program, "main")
        assert run.wait(60)
        with pytest.raises(TfrtError, match="out of memory: 'tf.* of the budget of") as caught:
            run.results[0].result(0)
        [found] = run.diagnostics
        assert found == caught.value.diagnostics[0]
        assert found.location is not None
        assert str(found.location).startswith("grow.mlir:")

        # The process has recovered: the next run gets its memory.
        assert Execution(host, program, "small").results[0].result(10) == 10
        del run, caught
        assert host.quiesce(10)  # a worker may drop its last values after the result is available
        assert host.live_values() == 0


def test_another_budget_lets_the_same_host_go_on() -> None:
    # 128 MB is more than the rest of the process may release meanwhile.
    text = """func.func @main() -> i32 {
  %c = tfrt.constant.i32 1
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [4096 : i64, 8192 : i64]
  %s = tfrt.add.i32 %c, %c
  tfrt.return %s : i32
}
"""
    program = Program.from_source(text, "wide.mlir").load()
    with HostContext("s", memory=extra(1 << 18)) as host:
        first = Execution(host, program, "main")
        first.wait(60)
        host.set_memory("1G")
        second = Execution(host, program, "main")
        second.wait(60)
        assert first.diagnostics
        assert second.results[0].result(0) == 2


def run_limited(text: str, tmp_path: Path, limit: int, *options: str) -> tuple[int, str]:
    """Run `tfrt-nb run` with that much address space; return its exit status and its output."""
    path = tmp_path / "program.mlir"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tfrt_nb.cli.main", "run", *options, str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_command_ends_with_an_error_under_a_budget(
    name: str, queue: str, tmp_path: Path
) -> None:
    options = ("--work-queue", queue, "--memory", "100M")
    status, printed = run_limited(PROGRAMS[name], tmp_path, 4 << 30, *options)
    assert status == 1
    assert "program.mlir:" in printed
    assert "error" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_budget_beyond_the_address_space_is_an_error_all_the_same(
    name: str, tmp_path: Path
) -> None:
    status, printed = run_limited(PROGRAMS[name], tmp_path, 1_500_000_000, "--memory", "8G")
    assert status == 1
    assert "program.mlir:" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("count", [3, 1 << 12, 1 << 17, 3 << 20])
def test_buffers_that_were_never_written_are_full_of_zeros(count: int) -> None:
    # Large blocks are returned to the system, and small ones are reused. To see this, each block is
    # first filled and freed.
    text = f"""func.func @use(%sum: i64, %i: index) -> i64 {{
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %m = memref.alloc(%i) : memref<?xi64>
  %n = memref.alloca() : memref<8xi64>
  %seven = arith.constant 7 : i64
  %six = arith.constant 6 : index
  %a = memref.load %n[%six] : memref<8xi64>
  %all = scf.for %j = %0 to %i step %1 iter_args(%s = %sum) -> (i64) {{
    %x = memref.load %m[%j] : memref<?xi64>
    %t = arith.ori %s, %x : i64
    memref.store %seven, %m[%j] : memref<?xi64>
    scf.yield %t : i64
  }}
  memref.store %seven, %n[%six] : memref<8xi64>
  memref.dealloc %m : memref<?xi64>
  %r = arith.ori %all, %a : i64
  return %r : i64
}}
func.func @main() -> i64 {{
  %zero = arith.constant 0 : i64
  %count = arith.constant {count} : index
  %a = call @use(%zero, %count) : (i64, index) -> i64
  %b = call @use(%a, %count) : (i64, index) -> i64
  return %b : i64
}}
"""
    with HostContext("s") as host:
        assert Program.from_source(text).run(host).result() == 0


BUFFER = """%size = tfrt.constant.i64 {size}
  %alignment = tfrt.constant.i64 64
  %b = tfrt_dht.allocate_buffer %size, %alignment
  %c = tfrt.new.chain
  %shape = ts.build_shape [{count} : i64]
  %t, %d = tfrt_dht.make_tensor.i64 %b, %shape, %c"""
CREATED = "{name}.create_uninitialized_tensor.i64.1 [{count} : i64]"


@pytest.mark.parametrize("count", [1, 1 << 9, 1 << 15, 5 << 20])
@pytest.mark.parametrize("allocator", ["malloc", "profiled"])
@pytest.mark.parametrize("name", ["tfrt_dht", "tfrt_dht_sync", BUFFER])
def test_tensors_that_were_never_written_are_full_of_zeros(
    count: int, allocator: str, name: str
) -> None:
    # A tensor is filled and dropped, so that the next one may get its memory. Native kernels use
    # the first allocator's memory.
    attributes = " attributes {tfrt.sync}" if name.endswith("sync") else ""
    made = name if name is BUFFER else f"%t = {CREATED}"
    text = f"""func @main() -> !tfrt_tensor.tensor{attributes} {{
  {made.format(name=name, count=count, size=8 * count)}
  tfrt.return %t : !tfrt_tensor.tensor
}}
"""
    program = Program.from_source(text)
    with HostContext("s", allocator=allocator) as host:
        for _ in range(3):
            array = program.run(host).result()
            assert not array.any()
            ctypes.memset(array.ctypes.data, 7, array.nbytes)
            del array


PAGES = """
import resource
import numpy as np
import tfrt_nb as tfrt

@tfrt.kernel
def halves(number: int) -> np.ndarray:
    return np.full(1 << 20, float(number)) / 2

@tfrt.kernel
def total(array: np.ndarray) -> float:
    return float(np.abs(array + 1).sum())

@tfrt.program
def step(number: tfrt.i64):
    return total(halves(number))

with tfrt.HostContext("s") as host:
    step.map(range(3), host=host).result(60)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    step.map(range(20), host=host).result(60)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other rules")
def test_calls_use_the_memory_of_earlier_arrays_again() -> None:
    printed = subprocess.check_output([sys.executable, "-c", PAGES], text=True, timeout=120)
    assert int(printed) < 2000  # one array has 2,048 pages
