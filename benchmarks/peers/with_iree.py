"""IREE on the CPU, with tensors of linalg."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import iree.compiler
import iree.runtime
import numpy as np

from benchmarks import inputs
from benchmarks.work import Run, Work

SYNC, THREADS = "local-sync", "local-task"


def matmul(result: str, left: tuple[str, int, int], right: tuple[str, int, int]) -> str:
    """Return a product of two tensors, each given by its name, rows, and columns."""
    (a, rows, inner), (b, _, columns) = left, right
    shape = f"tensor<{rows}x{columns}xf32>"
    return (
        f"  {result}e = tensor.empty() : {shape}\n"
        f"  {result}z = linalg.fill ins(%zero : f32) outs({result}e : {shape}) -> {shape}\n"
        f"  {result} = linalg.matmul ins({a}, {b} : tensor<{rows}x{inner}xf32>,"
        f" tensor<{inner}x{columns}xf32>) outs({result}z : {shape}) -> {shape}\n"
    )


def products() -> str:
    """Return W7 with all values as results; otherwise, unneeded ones would be removed."""
    n = inputs.SIZE
    values = ", ".join(f"%v{i + 1}" for i in range(inputs.PRODUCTS))
    shape = f"tensor<{n}x{n}xf32>"
    shapes = ", ".join([shape] * inputs.PRODUCTS)
    lines = []
    for i, (left, right) in enumerate(inputs.factors(), 1):
        lines.append(matmul(f"%p{i}", (f"%v{left}", n, n), (f"%v{right}", n, n)))
        lines.append(f"  %v{i} = arith.mulf %p{i}, %scale : {shape}\n")
    return (
        f"func.func @main(%v0: {shape}) -> ({shapes}) {{\n  %zero = arith.constant 0.0 : f32\n"
        f"  %scale = arith.constant dense<{1 / n}> : {shape}\n{''.join(lines)}"
        f"  return {values} : {shapes}\n}}\n"
    )


def opened(
    text: str, driver: str, given: list[Any], expected: inputs.Matrix
) -> Callable[[], AbstractContextManager[Run]]:
    """Open a compiled module on a device, which holds the arguments before the clock starts."""

    @contextmanager
    def make() -> Iterator[Run]:
        code = iree.compiler.compile_str(
            text,
            target_backends=["llvm-cpu"],
            extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"],
        )
        config = iree.runtime.Config(driver)
        module = iree.runtime.load_vm_module(
            iree.runtime.VmModule.copy_buffer(config.vm_instance, code), config
        )
        on_device = [iree.runtime.asdevicearray(config.device, array) for array in given]

        def run() -> Any:
            return np.asarray(module.main(*on_device)[-1].to_host())

        inputs.check(run(), expected)
        yield run

    return make


def _works() -> Iterator[Work]:
    start = inputs.first_factor()
    for cores, driver in ((1, SYNC), (2, THREADS)):
        make = opened(products(), driver, [start], inputs.products(start))
        yield Work("products", driver, make, cores=cores)


WORKS = tuple(_works())
