"""What registers of sync functions hold: scalars as words, everything else boxed.

Kernels that are no operations of the interpreter are called from here, with AsyncValues made of the
registers.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_optional,
    drop_reference,
    resolve,
    state_of,
)
from tfrt_runtime.native.calls.kernel_calls import grow_frame, report_error
from tfrt_runtime.native.calls.machine_calls import scalar
from tfrt_runtime.native.kernels.control_kernels import new_i32
from tfrt_runtime.native.memory import Address, call2, load, load_i32, native, store
from tfrt_runtime.native.queues.sharing import offer_tasks, share_ready


@native
def take_argument(context: Address, value: Address, payload_type: int) -> int:
    """What a register holds for `value`.  Consumes a reference."""
    target = resolve(value)
    if payload_type != at.TYPE_OBJECT:
        word = load(target + at.VALUE_PAYLOAD)
        drop_reference(context, value)
        return word
    if target != value:
        add_references(target, 1)
        drop_reference(context, value)
    return target


@native
def box(context: Address, payload_type: int, word: int) -> Address:
    """A scalar as an AsyncValue with one reference; what is boxed goes over as it is."""
    if payload_type == at.TYPE_OBJECT:
        return word
    return scalar(context, payload_type, word)


@native
def unbox(context: Address, pc: Address, frame: Address) -> Address:
    """Read a scalar out of a boxed register; an error if it is of another type, or 0."""
    value = load(frame + load_i32(pc + 8))
    if load(value + at.VALUE_KIND) >> 8 != load_i32(pc + 12):
        return report_error(context, load(pc + 16), at.MESSAGE_WRONG_TYPE)
    store(frame + load_i32(pc + 4), load(value + at.VALUE_PAYLOAD))
    return 0


@native
def fail_number(context: Address, record: Address, message: int, number: int) -> Address:
    """An error whose text says the number, which is what the kernel's frame begins with."""
    value = new_i32(context, number)
    store(load(context + at.CONTEXT_ARGUMENTS), value)
    failed = report_error(context, record, message)
    drop_reference(context, value)
    return failed


@native
def call_kernel(context: Address, record: Address, frame: Address) -> Address:
    """Call a kernel with values made of the registers; its error, with one reference, or 0."""
    arguments = load(record + at.RECORD_ARGUMENTS)
    results = load(record + at.RECORD_RESULTS)
    flags = load(record + at.RECORD_FLAGS)
    if arguments + results > load(context + at.CONTEXT_FRAME_LIMIT):
        grow_frame(context, arguments + results)
    pairs = record + at.RECORD_REGISTERS
    staged = load(context + at.CONTEXT_ARGUMENTS)
    for i in range(arguments):
        word = load(frame + load_i32(pairs + 8 * i))
        store(staged + 8 * i, box(context, load_i32(pairs + 8 * i + 4), word))
    made = load(context + at.CONTEXT_RESULTS)
    for i in range(results):
        store(made + 8 * i, 0)
    if flags & at.KERNEL_HEAVY != 0:
        share_ready(context)
        offer_tasks(context)
    call2(load(record + at.RECORD_KERNEL), context, record)
    for i in range(arguments):
        if load_i32(pairs + 8 * i + 4) != at.TYPE_OBJECT:
            drop_reference(context, load(staged + 8 * i))
    return take_results(context, record, frame)


@native
def call_scalar(context: Address, record: Address, frame: Address) -> Address:
    """As `call_kernel`, for a kernel that reads payloads only: registers stand for its arguments."""
    arguments = load(record + at.RECORD_ARGUMENTS)
    pairs = record + at.RECORD_REGISTERS
    staged = load(context + at.CONTEXT_ARGUMENTS)
    for i in range(arguments):
        store(staged + 8 * i, frame + load_i32(pairs + 8 * i) - at.VALUE_PAYLOAD)
    made = load(context + at.CONTEXT_RESULTS)
    for i in range(load(record + at.RECORD_RESULTS)):
        store(made + 8 * i, 0)
    call2(load(record + at.RECORD_KERNEL), context, record)
    return take_results(context, record, frame)


@native
def take_results(context: Address, record: Address, frame: Address) -> Address:
    """Put a kernel's results into registers; the first error among them, or 0."""
    results = load(record + at.RECORD_RESULTS)
    made = load(context + at.CONTEXT_RESULTS)
    failed = 0
    for i in range(results):
        value = load(made + 8 * i)
        if failed == 0:
            failed = result_error(context, record, value)
    pairs = record + at.RECORD_REGISTERS + 8 * load(record + at.RECORD_ARGUMENTS)
    for i in range(results):
        value = load(made + 8 * i)
        if failed != 0:
            drop_optional(context, value)
        else:
            place = frame + load_i32(pairs + 8 * i)
            store(place, take_argument(context, value, load_i32(pairs + 8 * i + 4)))
    return failed


@native
def result_error(context: Address, record: Address, value: Address) -> Address:
    """What is wrong with a result, as an error with one reference, or 0."""
    if value == 0:
        return report_error(context, record, at.MESSAGE_NO_RESULT)
    state = state_of(value)
    if state == at.ERROR:
        failed = resolve(value)
        add_references(failed, 1)
        return failed
    if state != at.CONCRETE:
        return report_error(context, record, at.MESSAGE_NOT_READY)
    return 0
