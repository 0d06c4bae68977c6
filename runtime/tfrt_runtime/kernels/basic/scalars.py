"""The native kernels: scalar operations, constants, control flow, and others."""

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


def _of_row(row: NativeRow) -> NativeKernel:
    """Return the kernel that a row of the table describes.

    The loader checks the types of operands that are numbers.  A chain at the end may be omitted.
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


for _word in CONSTANTS:
    SCALAR_KERNELS.add(ConstantKernel(f"tfrt.constant.{_word}", _word, (_word,)))
for _word, _part in (("complex64", "f32"), ("complex128", "f64")):
    SCALAR_KERNELS.add(ConstantKernel(f"tfrt.constant.{_word}", _word, (_part, _part)))
for _constant in list(SCALAR_KERNELS):
    _name = _constant.replace("constant.", "constant_s.")
    SCALAR_KERNELS.add(replace(SCALAR_KERNELS[_constant], name=_name, sync=True))
for _one in OPERATIONS.values():
    _counts = len(_one.operands), len(_one.results)
    for _name, _sync in ((_one.name, False), (_one.sync_name, True)):
        SCALAR_KERNELS.add(
            NativeKernel(
                _name,
                f"scalar_kernels.{_one.symbol}",
                *_counts,
                sync=_sync,
                types=_one.operands,
                gives=_one.results,
            )
        )
for _row in ROWS:
    SCALAR_KERNELS.add(_of_row(_row))

_parallel = ControlKernel(
    "tfrt.parallel_for.i32",
    "control_kernels.parallel_for",
    own=3,
    added=2,
    fixed_results=1,
    data=("control_kernels.parallel_task",),
    types=("i32", "i32", "i32"),
)
_benchmark = ControlKernel(
    "tfrt_test.benchmark",
    "benchmark_kernel.benchmark",
    fixed_results=1,
    body_results=1,
    data=("benchmark_kernel.run_is_over", "benchmark_kernel.next_run"),
    attributes=("i32", "i32", "string", "i32"),
)
for _kernel in (
    _parallel,
    replace(_parallel, name="tfrt.parallel_call.i32"),
    _benchmark,
    replace(
        _benchmark,
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
    CONTROL_KERNELS.add(_kernel)
for _suffix in ("i32_i32.i32", "i32_i32.i32_i32"):
    _name = f"tfrt_test.invoke_sync_function.{_suffix}"
    CONTROL_KERNELS.add(ControlKernel(_name, "control_kernels.call", sync=True))

NATIVE_FUNCTIONS = KernelRegistry("native function")
for _name, _symbol, _arguments, _results, _data in (
    ("native_sink", "scalar_kernels.nothing", 0, 0, ()),
    ("native_async_sink", "scalar_kernels.new_chain", 0, 1, ()),
    ("native_add", "scalar_kernels.add_i32", 2, 1, ()),
    (
        "native_async_add",
        "async_kernels.async_add_i32",
        2,
        1,
        ("async_kernels.add_task_i32",),
    ),
    ("native_error", "async_kernels.fail_quietly", 0, 1, ()),
):
    _types = ("i32",) * _arguments
    NATIVE_FUNCTIONS.add(
        NativeKernel(
            f"native function {_name}",
            _symbol,
            _arguments,
            _results,
            data=_data,
            more=not _arguments,
            types=_types,
            gives=_types[:1],
        )
    )
