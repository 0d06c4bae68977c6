"""The frames of a run of a sync function: calls, their memory, and how a run ends.

The first frames are in the run's own block, those of deeper calls in segments of growing size.
Frames do not move.

    run      header, outermost frame, frames of calls ...  up to RUN_LIMIT
    segment  header, frames of deeper calls ...            each segment twice as large as the one before
    frame    RETURN, CALLER, CODE, arguments, boxed registers, scalar registers

The caller owns boxed arguments, the frame its boxed registers: a frame that ends early drops those only.
"""

from __future__ import annotations

from tfrt_runtime.native.async_value import add_references, drop_optional, drop_reference
from tfrt_runtime.native.calls.delivery import deliver
from tfrt_runtime.native.calls.kernel_calls import memory_error, report_error
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.layouts import (
    ACTIVATION_REQUEST,
    CONTEXT_RECORD,
    MAX_NESTED,
    MESSAGE_TOO_DEEP,
    RECORD_RESULTS,
    RECORD_SLOTS,
    TYPE_OBJECT,
)
from tfrt_runtime.native.memory import Address, clear, inline, load, load_i32, native, store
from tfrt_runtime.native.queues.ready import finish
from tfrt_runtime.native.sync.sync_layouts import (
    CALL_CODE,
    CALL_FRAME,
    CALL_RECORD,
    CALL_REGISTERS,
    CODE_ARGUMENTS,
    CODE_BOXES,
    CODE_FRAME,
    CODE_RESULTS,
    CODE_TYPES,
    FRAME_CALLER,
    FRAME_CODE,
    FRAME_REGISTERS,
    FRAME_RETURN,
    RUN_BASE,
    RUN_CALLER,
    RUN_LIMIT,
    RUN_NESTED,
    RUN_RECORD,
    RUN_SEGMENT,
    RUN_SIZE,
    SEGMENT_BASE,
    SEGMENT_FRAMES,
    SEGMENT_LIMIT,
    SEGMENT_PREVIOUS,
    SEGMENT_SIZE,
    SMALLEST_SEGMENT,
)
from tfrt_runtime.native.sync.sync_values import box


@inline
def enter_frame(frame: Address, code: Address, call: Address, caller: Address) -> None:
    """A frame whose arguments are in place."""
    store(frame + FRAME_RETURN, call)
    store(frame + FRAME_CALLER, caller)
    store(frame + FRAME_CODE, code)
    # Cleared, so that `abandon` may drop what a frame holds at any instruction.
    boxes = load(code + CODE_BOXES)
    if boxes != 0:
        clear(frame + FRAME_REGISTERS + 8 * load(code + CODE_ARGUMENTS), 8 * boxes)


@native
def new_frame(context: Address, state: Address, pc: Address, frame: Address) -> Address:
    """The frame for the call at `pc`, behind the caller's own, its arguments in place; 0: no room."""
    code = load(pc + CALL_CODE)
    callee = frame + load_i32(pc + CALL_FRAME)
    if callee + load(code + CODE_FRAME) > load(state + RUN_LIMIT):
        store(
            context + CONTEXT_RECORD, load(pc + CALL_RECORD)
        )  # what an error for lack of memory names
        callee = new_segment(context, state, load(code + CODE_FRAME))
        if callee == 0:
            return 0
    for i in range(load_i32(pc + 4)):
        word = load(frame + load_i32(pc + CALL_REGISTERS + 4 * i))
        store(callee + FRAME_REGISTERS + 8 * i, word)
    enter_frame(callee, code, pc, frame)
    return callee


@native
def new_segment(context: Address, state: Address, needed: int) -> Address:
    """Room for frames behind those that there are, twice as much each time; 0: too deep, or no memory."""
    nested = load(state + RUN_NESTED)
    if nested > MAX_NESTED:
        return 0
    before = load(state + RUN_SEGMENT)
    size = SMALLEST_SEGMENT
    if before != 0:
        size = min(2 * load(before + SEGMENT_SIZE), MAX_NESTED // 8)
    size = max(size, needed + SEGMENT_FRAMES)
    segment = take_block(context, size)
    if segment == 0:
        return 0
    store(segment + SEGMENT_PREVIOUS, before)
    store(segment + SEGMENT_BASE, load(state + RUN_BASE))
    store(segment + SEGMENT_LIMIT, load(state + RUN_LIMIT))
    store(segment + SEGMENT_SIZE, size)
    store(state + RUN_SEGMENT, segment)
    store(state + RUN_BASE, segment + SEGMENT_FRAMES)
    store(state + RUN_LIMIT, segment + size)
    store(state + RUN_NESTED, nested + size)
    return segment + SEGMENT_FRAMES


@native
def call_error(context: Address, state: Address, pc: Address) -> Address:
    """Why `new_segment` made no room for the call at `pc`, with one reference."""
    if load(state + RUN_NESTED) > MAX_NESTED:
        return report_error(context, load(pc + CALL_RECORD), MESSAGE_TOO_DEEP)
    request = load(load(state + RUN_CALLER) + ACTIVATION_REQUEST)
    return memory_error(context, request, load(pc + CALL_RECORD))


@native
def end_segment(context: Address, state: Address) -> None:
    """The first frame of the present segment is over: so is the segment."""
    segment = load(state + RUN_SEGMENT)
    store(state + RUN_SEGMENT, load(segment + SEGMENT_PREVIOUS))
    store(state + RUN_BASE, load(segment + SEGMENT_BASE))
    store(state + RUN_LIMIT, load(segment + SEGMENT_LIMIT))
    store(state + RUN_NESTED, load(state + RUN_NESTED) - load(segment + SEGMENT_SIZE))
    give_block(context, segment, load(segment + SEGMENT_SIZE))


@native
def leave_frame(context: Address, state: Address, frame: Address) -> Address:
    """Empty a frame that has a caller, before it returns; the caller."""
    drop_boxes(context, frame)
    caller = load(frame + FRAME_CALLER)
    if frame == load(state + RUN_BASE):
        end_segment(context, state)
    return caller


@native
def drop_boxes(context: Address, frame: Address) -> None:
    """Drop what a frame owns."""
    code = load(frame + FRAME_CODE)
    boxes = frame + FRAME_REGISTERS + 8 * load(code + CODE_ARGUMENTS)
    for i in range(load(code + CODE_BOXES)):
        drop_optional(context, load(boxes + 8 * i))


@native
def succeed(context: Address, state: Address, pc: Address, frame: Address) -> None:
    """The outermost frame returns at `pc`: deliver the results, and end the run."""
    for i in range(load(load(frame + FRAME_CODE) + CODE_RESULTS)):
        deliver_result(context, state, frame, i, load(frame + load_i32(pc + 8 + 4 * i)))
    end_run(context, state, frame)


@native
def deliver_result(context: Address, state: Address, frame: Address, index: int, word: int) -> None:
    """The outermost frame has a result."""
    code = load(frame + FRAME_CODE)
    types = code + CODE_TYPES + 8 * load(code + CODE_ARGUMENTS)
    slots = load(load(state + RUN_RECORD) + RECORD_SLOTS)
    value = box(context, load(types + 8 * index), word)
    deliver(context, load(state + RUN_CALLER), load(slots + 8 * index), value)


@native
def end_run(context: Address, state: Address, frame: Address) -> None:
    """Drop the arguments of the outermost frame, and the run's memory."""
    caller, code = load(state + RUN_CALLER), load(frame + FRAME_CODE)
    for i in range(load(code + CODE_ARGUMENTS)):
        if load(code + CODE_TYPES + 8 * i) == TYPE_OBJECT:
            drop_reference(context, load(frame + FRAME_REGISTERS + 8 * i))
    give_block(context, state, load(state + RUN_SIZE))
    finish(context, caller)


@native
def abandon(context: Address, state: Address, frame: Address, failed: Address) -> None:
    """Empty all frames and make `failed` each of the results.  Consumes a reference."""
    while load(frame + FRAME_RETURN) != 0:
        frame = leave_frame(context, state, frame)
    drop_boxes(context, frame)
    caller, record = load(state + RUN_CALLER), load(state + RUN_RECORD)
    results = load(record + RECORD_RESULTS)
    slots = load(record + RECORD_SLOTS)
    add_references(failed, results)
    for i in range(results):
        deliver(context, caller, load(slots + 8 * i), failed)
    drop_reference(context, failed)
    end_run(context, state, frame)
