"""The body of a function: its registers, its kernels, and the users of each register.

A body is, from a multiple of 4 in the functions section on:

* VBR location; VBR register count, a VBR use count for each; VBR kernel count (the pseudo kernel is
  one), and for each kernel VBR byte offset in the list of kernels, VBR operands to wait for,
  VBR stream; a VBR register for each result of the function; padding to a multiple of 4;
* the kernels, each 32-bit words: code (index of the name), location, count of arguments, of
  attributes, of functions, of results; a count of users for each result; the argument registers,
  attribute offsets, function indexes, result registers, and for each result its users.

The pseudo kernel comes first.  Its results are the trigger of the kernels without operands, under
the number of registers, and the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from tfrt_runtime.bef.encoding import (
    KERNEL_ALIGNMENT,
    PSEUDO_KERNEL_CODE,
    PSEUDO_KERNEL_LOCATION,
)
from tfrt_runtime.bef.records import BefFunction, BefKernel
from tfrt_runtime.bef.wire import ByteBuilder


def write_body(out: ByteBuilder, function: BefFunction, codes: Mapping[str, int]) -> int:
    """Append the body of `function`; its offset.  `codes` are the indexes of kernel names."""
    out.align(KERNEL_ALIGNMENT)
    offset = len(out)
    words = _pseudo_kernel(function)
    streams = function.streams or (0,) * (1 + len(function.kernels))
    table = [0, 0, streams[0]]
    for kernel, stream in zip(function.kernels, streams[1:], strict=True):
        # A reader that does not know non-strict kernels waits for all operands.
        table += 4 * len(words), len(kernel.arguments), stream
        _add_kernel(words, kernel, codes[kernel.name])
    out.varints((function.location, function.register_count))
    out.varints(function.use_counts)
    out.varint(1 + len(function.kernels))
    out.varints(table)
    out.varints(function.result_registers)
    out.align(KERNEL_ALIGNMENT)
    out.u32s(words)
    return offset


def _pseudo_kernel(function: BefFunction) -> list[int]:
    used_by = (function.entry_users, *function.argument_users)
    words = [PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, 0, 0, 0, len(used_by)]
    words += map(len, used_by)
    words += (function.register_count, *range(len(function.argument_users)))
    words += chain.from_iterable(used_by)
    return words


def _add_kernel(words: list[int], kernel: BefKernel, code: int) -> None:
    _, location, arguments, attributes, functions, results, used_by, *_ = kernel
    words += (
        code,
        location,
        len(arguments),
        len(attributes),
        len(functions),
        len(results),
        *map(len, used_by),
        *arguments,
        *attributes,
        *functions,
        *results,
    )
    for numbers in used_by:
        words += numbers
