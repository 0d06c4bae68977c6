"""The frames of a run of a sync function: what their registers hold, calls, their memory, and how a run ends.

Registers hold scalars as words, everything else boxed.  Kernels that are no operations of the interpreter are called
with AsyncValues made of the registers.

The first frames are in the run's own block, those of deeper calls in segments of growing size.
Frames do not move.

    run      header, outermost frame, frames of calls ...  up to RUN_LIMIT
    segment  header, frames of deeper calls ...            each segment twice as large as the one before
    frame    RETURN, CALLER, CODE, arguments, boxed registers, scalar registers

The caller owns boxed arguments, the frame its boxed registers: a frame that ends early drops those only.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_optional,
    drop_reference,
    new_scalar,
    resolve,
    state_of,
)
from tfrt_runtime.native.calls.delivery import deliver
from tfrt_runtime.native.calls.kernel_calls import grow_frame, memory_error, report_error
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.memory import Address, call2, clear, inline, load, load_i32, native, store
from tfrt_runtime.native.queues.ready import finish
from tfrt_runtime.native.queues.sharing import offer_tasks, share_ready
from tfrt_runtime.native.sync import sync_layouts as ops


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
    return new_scalar(context, payload_type, word)


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
    value = new_scalar(context, at.TYPE_I32, number)
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


@inline
def enter_frame(frame: Address, code: Address, call: Address, caller: Address) -> None:
    """A frame whose arguments are in place."""
    store(frame + ops.FRAME_RETURN, call)
    store(frame + ops.FRAME_CALLER, caller)
    store(frame + ops.FRAME_CODE, code)
    # Cleared, so that `abandon` may drop what a frame holds at any instruction.
    boxes = load(code + ops.CODE_BOXES)
    if boxes != 0:
        clear(frame + ops.FRAME_REGISTERS + 8 * load(code + ops.CODE_ARGUMENTS), 8 * boxes)


@native
def new_frame(context: Address, state: Address, pc: Address, frame: Address) -> Address:
    """The frame for the call at `pc`, behind the caller's own, its arguments in place; 0: no room."""
    code = load(pc + ops.CALL_CODE)
    callee = frame + load_i32(pc + ops.CALL_FRAME)
    if callee + load(code + ops.CODE_FRAME) > load(state + ops.RUN_LIMIT):
        # What an error for lack of memory names.
        store(context + at.CONTEXT_RECORD, load(pc + ops.CALL_RECORD))
        callee = new_segment(context, state, load(code + ops.CODE_FRAME))
        if callee == 0:
            return 0
    for i in range(load_i32(pc + 4)):
        word = load(frame + load_i32(pc + ops.CALL_REGISTERS + 4 * i))
        store(callee + ops.FRAME_REGISTERS + 8 * i, word)
    enter_frame(callee, code, pc, frame)
    return callee


@native
def new_segment(context: Address, state: Address, needed: int) -> Address:
    """Room for frames behind those that there are, twice as much each time; 0: too deep, or no memory."""
    nested = load(state + ops.RUN_NESTED)
    if nested > at.MAX_NESTED:
        return 0
    before = load(state + ops.RUN_SEGMENT)
    size = ops.SMALLEST_SEGMENT
    if before != 0:
        size = min(2 * load(before + ops.SEGMENT_SIZE), at.MAX_NESTED // 8)
    size = max(size, needed + ops.SEGMENT_FRAMES)
    segment = take_block(context, size)
    if segment == 0:
        return 0
    store(segment + ops.SEGMENT_PREVIOUS, before)
    store(segment + ops.SEGMENT_BASE, load(state + ops.RUN_BASE))
    store(segment + ops.SEGMENT_LIMIT, load(state + ops.RUN_LIMIT))
    store(segment + ops.SEGMENT_SIZE, size)
    store(state + ops.RUN_SEGMENT, segment)
    store(state + ops.RUN_BASE, segment + ops.SEGMENT_FRAMES)
    store(state + ops.RUN_LIMIT, segment + size)
    store(state + ops.RUN_NESTED, nested + size)
    return segment + ops.SEGMENT_FRAMES


@native
def call_error(context: Address, state: Address, pc: Address) -> Address:
    """Why `new_segment` made no room for the call at `pc`, with one reference."""
    if load(state + ops.RUN_NESTED) > at.MAX_NESTED:
        return report_error(context, load(pc + ops.CALL_RECORD), at.MESSAGE_TOO_DEEP)
    request = load(load(state + ops.RUN_CALLER) + at.ACTIVATION_REQUEST)
    return memory_error(context, request, load(pc + ops.CALL_RECORD))


@native
def end_segment(context: Address, state: Address) -> None:
    """The first frame of the present segment is over: so is the segment."""
    segment = load(state + ops.RUN_SEGMENT)
    store(state + ops.RUN_SEGMENT, load(segment + ops.SEGMENT_PREVIOUS))
    store(state + ops.RUN_BASE, load(segment + ops.SEGMENT_BASE))
    store(state + ops.RUN_LIMIT, load(segment + ops.SEGMENT_LIMIT))
    store(state + ops.RUN_NESTED, load(state + ops.RUN_NESTED) - load(segment + ops.SEGMENT_SIZE))
    give_block(context, segment, load(segment + ops.SEGMENT_SIZE))


@native
def leave_frame(context: Address, state: Address, frame: Address) -> Address:
    """Empty a frame that has a caller, before it returns; the caller."""
    drop_boxes(context, frame)
    caller = load(frame + ops.FRAME_CALLER)
    if frame == load(state + ops.RUN_BASE):
        end_segment(context, state)
    return caller


@native
def drop_boxes(context: Address, frame: Address) -> None:
    """Drop what a frame owns."""
    code = load(frame + ops.FRAME_CODE)
    boxes = frame + ops.FRAME_REGISTERS + 8 * load(code + ops.CODE_ARGUMENTS)
    for i in range(load(code + ops.CODE_BOXES)):
        drop_optional(context, load(boxes + 8 * i))


@native
def succeed(context: Address, state: Address, pc: Address, frame: Address) -> None:
    """The outermost frame returns at `pc`: deliver the results, and end the run."""
    for i in range(load(load(frame + ops.FRAME_CODE) + ops.CODE_RESULTS)):
        deliver_result(context, state, frame, i, load(frame + load_i32(pc + 8 + 4 * i)))
    end_run(context, state, frame)


@native
def deliver_result(context: Address, state: Address, frame: Address, index: int, word: int) -> None:
    """The outermost frame has a result."""
    code = load(frame + ops.FRAME_CODE)
    types = code + ops.CODE_TYPES + 8 * load(code + ops.CODE_ARGUMENTS)
    slots = load(load(state + ops.RUN_RECORD) + at.RECORD_SLOTS)
    value = box(context, load(types + 8 * index), word)
    deliver(context, load(state + ops.RUN_CALLER), load(slots + 8 * index), value)


@native
def end_run(context: Address, state: Address, frame: Address) -> None:
    """Drop the arguments of the outermost frame, and the run's memory."""
    caller, code = load(state + ops.RUN_CALLER), load(frame + ops.FRAME_CODE)
    for i in range(load(code + ops.CODE_ARGUMENTS)):
        if load(code + ops.CODE_TYPES + 8 * i) == at.TYPE_OBJECT:
            drop_reference(context, load(frame + ops.FRAME_REGISTERS + 8 * i))
    give_block(context, state, load(state + ops.RUN_SIZE))
    finish(context, caller)


@native
def abandon(context: Address, state: Address, frame: Address, failed: Address) -> None:
    """Empty all frames and make `failed` each of the results.  Consumes a reference."""
    while load(frame + ops.FRAME_RETURN) != 0:
        frame = leave_frame(context, state, frame)
    drop_boxes(context, frame)
    caller, record = load(state + ops.RUN_CALLER), load(state + ops.RUN_RECORD)
    results = load(record + at.RECORD_RESULTS)
    slots = load(record + at.RECORD_SLOTS)
    add_references(failed, results)
    for i in range(results):
        deliver(context, caller, load(slots + 8 * i), failed)
    drop_reference(context, failed)
    end_run(context, state, frame)
