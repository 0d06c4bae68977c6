"""The native kernels by name: scalar operations, constants, control flow, and other kernels."""

from __future__ import annotations

from dataclasses import replace

from tfrt_runtime.host.values.fitting import CHAIN_TYPE
from tfrt_runtime.kernels.registry import (
    ConstantKernel,
    ControlKernel,
    KernelRegistry,
    NativeKernel,
)
from tfrt_runtime.native.layouts import KERNEL_BLOCKING, KERNEL_HEAVY, KERNEL_RAW
from tfrt_runtime.native_table import NUMBERS, ROWS, NativeRow
from tfrt_runtime.scalars import OPERATIONS

SCALAR_KERNELS = KernelRegistry("scalar")
CONTROL_KERNELS = KernelRegistry("control flow")
_FLAGS = {"heavy": KERNEL_HEAVY, "blocking": KERNEL_BLOCKING, "raw": KERNEL_RAW}

CONSTANTS = ("i1", "i8", "i16", "i32", "i64", "ui32", "ui64", "f16", "bf16", "f32", "f64")


def _add_constants() -> None:
    for word in CONSTANTS:
        SCALAR_KERNELS.add(ConstantKernel(f"tfrt.constant.{word}", word, (word,)))
    SCALAR_KERNELS.add(ConstantKernel("tfrt.constant.complex64", "complex64", ("f32", "f32")))
    SCALAR_KERNELS.add(ConstantKernel("tfrt.constant.complex128", "complex128", ("f64", "f64")))


def _add_table() -> None:
    for operation in OPERATIONS.values():
        for name, sync in ((operation.name, False), (operation.sync_name, True)):
            _add_scalar(name, operation.symbol, operation.operands, operation.results, sync=sync)


def _add_scalar(
    name: str, function: str, types: tuple[str, ...], gives: tuple[str, ...], *, sync: bool = False
) -> None:
    symbol, counts = f"scalar_kernels.{function}", (len(types), len(gives))
    SCALAR_KERNELS.add(NativeKernel(name, symbol, *counts, sync=sync, types=types, gives=gives))


def _add_rows() -> None:
    for row in ROWS:
        SCALAR_KERNELS.add(_of_row(row))


def _of_row(row: NativeRow) -> NativeKernel:
    """Return the kernel of a row; its number operands are checked, and a final chain may be
    omitted.
    """
    has_rest = row.types.partition("->")[0].rstrip().endswith("*")
    words = tuple(word.removesuffix("*") for word in row.operands)
    fixed = words[:-1] if has_rest or words[-1:] == ("chain",) else words
    is_checked = not row.is_loose and NUMBERS.issuperset(words)
    are_given = not row.is_loose and NUMBERS.union(["chain"]).issuperset(row.results)
    return NativeKernel(
        row.name,
        row.function,
        0 if row.for_each and not has_rest else len(fixed),
        None if row.for_each else len(row.results),
        attributes=tuple(row.attributes.values()),
        data=row.functions,
        flags=sum(_FLAGS[flag] for flag in row.flags),
        sync=row.sync,
        more=has_rest and not row.for_each,
        types=words if is_checked else (),
        gives=tuple(CHAIN_TYPE if word == "chain" else word for word in row.results)
        if are_given
        else (),
    )


def _add_control_flow() -> None:
    parallel = ControlKernel(
        "tfrt.parallel_for.i32",
        "control_kernels.parallel_for",
        own=3,
        added=2,
        fixed_results=1,
        data=("control_kernels.parallel_task",),
        types=("i32", "i32", "i32"),
    )
    benchmark = ControlKernel(
        "tfrt_test.benchmark",
        "benchmark_kernel.benchmark",
        fixed_results=1,
        body_results=1,
        data=("benchmark_kernel.run_is_over", "benchmark_kernel.next_run"),
        attributes=("i32", "i32", "string", "i32"),
    )
    for kernel in (
        parallel,
        replace(parallel, name="tfrt.parallel_call.i32"),
        benchmark,
        replace(
            benchmark,
            name="tfrt_test.sync_benchmark",
            symbol="benchmark_kernel.sync_benchmark",
            attributes=("i32", "i32", "i32"),
            sync=True,
        ),
        ControlKernel("tfrt.call", "control_kernels.call"),
        ControlKernel("tfrt.if", "control_kernels.cond", own=1, functions=2, types=("i1",)),
        ControlKernel("tfrt.cond", "control_kernels.cond", own=1, functions=2, types=("i1",)),
        ControlKernel(
            "tfrt.case",
            "control_kernels.case",
            own=1,
            functions=None,
            data=("#functions",),
            types=("i32",),
        ),
        ControlKernel("tfrt.repeat.i32", "control_kernels.repeat", own=1, types=("i32",)),
        ControlKernel(
            "tfrt.while",
            "control_kernels.while_loop",
            own=1,
            extra=1,
            attributes=("i64",),
            types=("i1",),
        ),
        ControlKernel(
            "tfrt_test.do.async", "control_kernels.do_async", data=("control_kernels.call_task",)
        ),
    ):
        CONTROL_KERNELS.add(kernel)


def _add_sync() -> None:
    for kernel in list(SCALAR_KERNELS.values()):
        if isinstance(kernel, ConstantKernel):
            dialect, name, word = kernel.name.split(".")
            SCALAR_KERNELS.add(replace(kernel, name=f"{dialect}.{name}_s.{word}", sync=True))
    for suffix in ("i32_i32.i32", "i32_i32.i32_i32"):
        name = f"tfrt_test.invoke_sync_function.{suffix}"
        CONTROL_KERNELS.add(ControlKernel(name, "control_kernels.call", sync=True))


NATIVE_FUNCTIONS = KernelRegistry("native function")


def _add_native_functions() -> None:
    add = ("async_kernels.add_task_i32",)
    for name, symbol, arguments, results, data in (
        ("native_sink", "scalar_kernels.nothing", 0, 0, ()),
        ("native_async_sink", "scalar_kernels.new_chain", 0, 1, ()),
        ("native_add", "scalar_kernels.add_i32", 2, 1, ()),
        ("native_async_add", "async_kernels.async_add_i32", 2, 1, add),
        ("native_error", "async_kernels.fail_quietly", 0, 1, ()),
    ):
        types = ("i32",) * arguments
        kernel = NativeKernel(
            f"native function {name}",
            symbol,
            arguments,
            results,
            data=data,
            more=not arguments,
            types=types,
            gives=types[:1],
        )
        NATIVE_FUNCTIONS.add(kernel)


_add_constants()
_add_table()
_add_rows()
_add_control_flow()
_add_sync()
_add_native_functions()
