"""Kernels that users have written in Numba's subset of Python, called without the GIL.

The record's data has these words:

- The address of the compiled function.
- The number of arguments, the number of results, and the number of attributes.
- The type of each argument.  For a scalar, this is its payload type.  For a tensor, it is the type
  of its elements, plus TYPE_TENSOR_OF times (rank + 1), plus TYPE_OUT if the kernel writes it.
- The payload type of each result.
- The attributes.

The compiled function is `int64 f(int64 *given, int64 *results)`.  `given` holds the payload of each
argument, followed by the attributes.  The payload of a tensor is its address.  `results` has room
for one word per result.  The function returns 0, or 1 if it has raised an exception.  In that case,
the original Python function is called, and its exception describes the problem.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls.frame import (
    argument,
    attribute,
    fail,
    run_in_python,
    set_chain,
    set_word,
)
from tfrt_runtime.native.calls.kernel_calls import share_rest
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.memory import Address, call2, entry, load, load_i32, native, store

FUNCTION, ARGUMENTS, RESULTS, ATTRIBUTES = range(4)
FIRST_TYPE = 4


@native
def has_type(value: Address, expected: int) -> bool:
    """Return whether a concrete value has the type `expected`, a word of the record's data."""
    kind = load(value + at.VALUE_KIND) >> 8
    # The type of a tensor contains rank + 1, so this is not True even for a tensor of rank 0.
    if expected < at.TYPE_TENSOR_OF:
        return kind == expected
    if kind != at.TYPE_TENSOR:
        return False
    tensor = load(value + at.VALUE_PAYLOAD)
    if expected >= at.TYPE_OUT and load(tensor + at.TENSOR_BYTES) == at.READ_ONLY:
        return False
    return load(tensor + at.TENSOR_ELEMENT) + at.TYPE_TENSOR_OF * (
        load(tensor + at.TENSOR_RANK) + 1
    ) == expected & (at.TYPE_OUT - 1)


@native
def give_arguments(context: Address, record: Address, given: Address) -> bool:
    """Store the payloads of the arguments at `given`.

    Return False if an argument does not have the type that the kernel takes.
    """
    for i in range(attribute(record, ARGUMENTS)):
        value = argument(context, i)
        if not has_type(value, attribute(record, FIRST_TYPE + i)):
            return False
        store(given + 8 * i, load(value + at.VALUE_PAYLOAD))
    return True


@native
def takes_tensors(record: Address) -> bool:
    """Return whether the kernel takes tensors and may therefore run for a long time.

    A kernel that takes only numbers counts as short.
    """
    for i in range(attribute(record, ARGUMENTS)):
        if attribute(record, FIRST_TYPE + i) >= at.TYPE_TENSOR_OF:
            return True
    return False


@native
def take_results(context: Address, record: Address, results: Address) -> None:
    """Set the kernel's results; if its function returns nothing, the result is a chain."""
    count = attribute(record, RESULTS)
    first = FIRST_TYPE + attribute(record, ARGUMENTS)
    for i in range(count):
        set_word(context, i, attribute(record, first + i), load(results + 8 * i))
    for i in range(count, load_i32(record + at.RECORD_RESULTS)):
        set_chain(context, i)


@entry
def run(context: Address, record: Address) -> None:
    """Kernel: run a user's compiled function."""
    arguments = attribute(record, ARGUMENTS)
    attributes = attribute(record, ATTRIBUTES)
    results = attribute(record, RESULTS)
    # One word more than needed, because `take_block` has no size class for 0 bytes.
    size = 8 * (arguments + attributes + results) + 8
    given = take_block(context, size)
    if given == 0:
        fail(context, record, at.MESSAGE_NO_MEMORY)
        return
    if not give_arguments(context, record, given):
        give_block(context, given, size)
        if takes_tensors(record):
            run_in_python(context, record)  # an argument is a numpy array that is not a tensor yet
        else:
            fail(context, record, at.MESSAGE_WRONG_TYPE)
        return
    for i in range(attributes):
        word = attribute(record, FIRST_TYPE + arguments + results + i)
        store(given + 8 * (arguments + i), word)
    if takes_tensors(record):
        # The run loop leaves this to kernels with the flag KERNEL_MEASURED.
        share_rest(context)
    made = given + 8 * (arguments + attributes)
    failed = call2(attribute(record, FUNCTION), given, made)
    if failed == 0:
        take_results(context, record, made)
    give_block(context, given, size)
    if failed != 0:
        run_in_python(context, record)
