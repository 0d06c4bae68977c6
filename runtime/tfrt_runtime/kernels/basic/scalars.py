"""The native kernels by name: the table of scalar operations, constants, chains, control flow, and what
tfrt_test has of the like.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tfrt_runtime.host.values.fitting import CHAIN_TYPE
from tfrt_runtime.kernels.registry import (
    ConstantKernel,
    ControlKernel,
    KernelRegistry,
    NativeKernel,
)
from tfrt_runtime.native.layouts import KERNEL_RAW
from tfrt_runtime.scalars import OPERATIONS

SCALAR_KERNELS = KernelRegistry("scalar")
CONTROL_KERNELS = KernelRegistry("control flow")
ASYNC_KERNELS = KernelRegistry("async")


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


def _add_chains() -> None:
    for name in ("tfrt.new.chain", "tfrt.merge.chains", "tfrt_test.as_chain"):
        symbol = "scalar_kernels.new_chain"
        more = name != "tfrt.new.chain"
        SCALAR_KERNELS.add(NativeKernel(name, symbol, more=more, gives=(CHAIN_TYPE,)))
    SCALAR_KERNELS.add(NativeKernel("tfrt.alias.value", "scalar_kernels.alias_value", arguments=2))
    sums = "scalar_kernels.sum_i32"
    SCALAR_KERNELS.add(
        NativeKernel("tfrt_test.sum", sums, more=True, types=("i32",), gives=("i32",))
    )
    for word in ("i32", "i64"):
        _add_scalar(f"tfrt_test.count3.{word}", f"count3_{word}", (word,), (word,) * 3)


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


def _async(name: str, function: str, types: str = "", **more: Any) -> NativeKernel:
    """A kernel of the test dialect; its numbers are of `types`, as `"i32 i32 -> i32"`."""
    takes, _, gives = types.partition("->")
    words = tuple(takes.split())
    known: dict[str, Any] = {"arguments": len(words), "types": words, "gives": tuple(gives.split())}
    return NativeKernel(f"tfrt_test.{name}", f"async_kernels.{function}", **known | more)


def _add_async() -> None:
    copy, error = ("async_kernels.copy_task",), ("async_kernels.error_task",)
    add = ("async_kernels.add_task_i32",)
    for kernel in (
        _async("async_add.i32", "async_add_i32", "i32 i32 -> i32", data=add),
        _async("async_copy.i32", "async_copy_i32", "i32 -> i32", data=copy),
        _async("async_copy_2.i32", "async_copy_i32", "i32 -> i32", data=copy),
        _async(
            "async_constant.i32", "async_constant_i32", "-> i32", attributes=("i32",), data=copy
        ),
        _async("async_constant.i1", "async_constant_i1", "-> i1", attributes=("i1",), data=copy),
        _async("fail", "fail_now"),
        _async("partial_fail", "partial_fail", results=2),
        _async("error_chain", "error_chain"),
        _async("report_error_async", "report_error_async", data=error),
        _async("report_error_concrete_async", "report_error_when_async", arguments=1, data=error),
        _async("report_error_indirect_async", "report_error_when_async", arguments=1, data=error),
        _async("cancel", "cancel", results=2),
        _async("atomic.create.i32", "atomic_create_i32"),
        _async("atomic.inc.i32", "atomic_increment_i32", arguments=1),
        _async("atomic.add.i32", "atomic_add_i32", arguments=2),
        _async("atomic.get.i32", "atomic_get_i32", arguments=1, results=2),
        _async("multi_arg_result", "share_arguments", results=None),
        _async("identity", "identity", arguments=1, results=None),
        _async("make_indirect", "make_indirect", results=None),
        _async("get_uniqueness", "get_uniqueness", results=None, flags=KERNEL_RAW),
    ):
        ASYNC_KERNELS.add(kernel)


def _add_sync() -> None:
    for kernel in list(SCALAR_KERNELS.values()):
        if isinstance(kernel, ConstantKernel) or kernel.name == "tfrt.new.chain":
            dialect, name, word = kernel.name.split(".")
            SCALAR_KERNELS.add(replace(kernel, name=f"{dialect}.{name}_s.{word}", sync=True))
    copy = "async_kernels.share_arguments"
    SCALAR_KERNELS.add(NativeKernel("tfrt.copy_s", copy, results=None, sync=True))
    for name in ("sync_sum", "sync_sum2"):
        sync_sum = replace(SCALAR_KERNELS["tfrt_test.sum"], name=f"tfrt_test.{name}", sync=True)
        SCALAR_KERNELS.add(sync_sum)
    for name in ("fail_s", "error_s"):
        symbol = "async_kernels.fail_quietly"  # a sync function returns its error, and reports none
        SCALAR_KERNELS.add(NativeKernel(f"tfrt_test.{name}", symbol, sync=True))
    SCALAR_KERNELS.add(
        NativeKernel(
            "tfrt_test.sync_sum_attributes",
            "scalar_kernels.sum_attributes_i32",
            attributes=("*i32",),
            sync=True,
        )
    )
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
_add_chains()
_add_control_flow()
_add_async()
_add_sync()
_add_native_functions()
