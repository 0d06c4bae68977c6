"""Python kernels that take and return plain values: native code calls their functions by itself.

See `native.python.python_functions`.  What is not ordinary goes to `python_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable

from tfrt_runtime.executor.loading.python_kernels import failure, result_values
from tfrt_runtime.executor.loading.resolve import PythonCall
from tfrt_runtime.host.payload import INTEGER_BITS, SCALAR_TYPES
from tfrt_runtime.host.structs import WORDS, Context
from tfrt_runtime.host.values.fitting import BUFFER, CHAIN_TYPE, STRING_TYPE, TENSOR
from tfrt_runtime.native import layouts as at

Finish = Callable[[int, object, BaseException | None], None]
"""Sets the result of the kernel whose frame is in a context: what it returned, what it has raised.
Never raises."""


def plain_words(
    call: PythonCall, argument_types: tuple[str, ...], finish: Finish
) -> tuple[int, ...] | None:
    """The data of a kernel that native code calls by itself; None for one that wants more than its arguments.

    `finish` must live as long as the kernel.
    """
    kernel = call.kernel
    is_plain = kernel.arrays and not (kernel.frame or kernel.raw or call.order)
    takes_all = kernel.takes is None or len(argument_types) <= kernel.takes
    if not is_plain or not takes_all or len(call.record.results) != 1:
        return None
    return (
        id(kernel.function),
        id(finish),
        len(argument_types),
        len(call.attributes),
        *_result(call.result_types[0]),
        *(SCALAR_TYPES.get(one, 0) for one in argument_types),
        *map(id, call.attributes),
    )


def _result(type_text: str) -> tuple[int, int]:
    """How native code takes a result of that type: the type of its payload, and bits or class."""
    if type_text in INTEGER_BITS or type_text in ("f32", "f64"):
        return SCALAR_TYPES[type_text], INTEGER_BITS.get(type_text, 0)
    if type_text == CHAIN_TYPE:
        return at.TYPE_CHAIN, 0
    is_checked = type_text.endswith(TENSOR) or type_text.startswith(BUFFER)
    if type_text == "" or type_text in SCALAR_TYPES or is_checked:
        return at.TYPE_UNKNOWN, 0
    return at.TYPE_OBJECT, id(str) if type_text == STRING_TYPE else 0


def finisher(call: PythonCall) -> Finish:
    """What sets the result of a kernel that native code has called, where it cannot do so by itself."""

    def finish(context: int, returned: object, raised: BaseException | None) -> None:
        value = 0
        if raised is None:
            try:
                [value] = result_values(context, call, returned)
            except BaseException as problem:  # noqa: BLE001 - it becomes the result's error
                raised = problem
        if raised is not None:
            [value] = failure(context, call, raised)
        WORDS[Context.at(context).results >> 3] = value

    return finish
