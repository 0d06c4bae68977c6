"""Sync functions: from top to bottom, on plain words, by one loop.

To the executor a sync function is a function with one kernel, `run`, which owns its arguments and
delivers the results itself, as control kernels do.  Within it no value is an AsyncValue unless it is
no scalar, and calls of sync functions push a frame: the native stack does not grow with the program.

Every `SLICE` kernels the loop checks whether the request is cancelled, whether another worker could
take what else is ready here, whether the thread has to go back to Python - then the run leaves its state
behind and goes on as a task - and whether a function that it is in has become machine code.

The first error ends the whole run and becomes each of its results.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references, drop_optional
from tfrt_runtime.native.calls.kernel_calls import fail_without_memory, report_error
from tfrt_runtime.native.cells import take_block
from tfrt_runtime.native.events import log_register, nested_of
from tfrt_runtime.native.kernels.control_kernels import register_value
from tfrt_runtime.native.memory import (
    Address,
    copy,
    entry,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    store,
    wrapping_add,
    wrapping_multiply,
    wrapping_subtract,
)
from tfrt_runtime.native.queues.ready import mark_shared
from tfrt_runtime.native.queues.sharing import give_way, share_when_idle
from tfrt_runtime.native.queues.tasks import add_task, free_task, new_task
from tfrt_runtime.native.sync import sync_layouts as ops
from tfrt_runtime.native.sync.sync_frames import (
    abandon,
    box,
    call_error,
    call_kernel,
    call_scalar,
    end_segment,
    enter_frame,
    fail_number,
    new_frame,
    succeed,
    take_argument,
    unbox,
)
from tfrt_runtime.native.sync.sync_machine import (
    MOVED,
    OVER,
    call_from_frame,
    count_interpreted,
    is_machine,
    replace_on_stack,
)


@entry
def run(context: Address, record: Address) -> None:
    """The kernel that a sync function is; data: its code.  Owns its arguments."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    code = load(record + at.RECORD_DATA)
    size = max(ops.RUN_FRAMES + load(code + ops.CODE_FRAME), ops.SMALLEST_RUN)
    state = take_block(context, size)
    if state == 0:
        fail_without_memory(context, caller, record)
        return
    frame = state + ops.RUN_FRAMES
    store(state + ops.RUN_CALLER, caller)
    store(state + ops.RUN_RECORD, record)
    store(state + ops.RUN_BASE, frame)
    store(state + ops.RUN_LIMIT, state + size)
    store(state + ops.RUN_SEGMENT, 0)
    store(state + ops.RUN_NESTED, nested_of(caller) + size)
    store(state + ops.RUN_SIZE, size)
    store(state + ops.RUN_STOP, ops.STOP)
    for i in range(load(code + ops.CODE_ARGUMENTS)):
        value = register_value(caller, record, i)
        argument = take_argument(context, value, load(code + ops.CODE_TYPES + 8 * i))
        store(frame + ops.FRAME_REGISTERS + 8 * i, argument)
    enter_frame(frame, code, 0, 0)
    interpret(context, state, load(code + ops.CODE_ENTRY), frame, ops.SLICE)


@entry
def resume(context: Address, task: Address) -> None:
    """Task function: go on with a run that made room for others."""
    state = load(task + at.TASK_FIRST)
    free_task(context, task)
    caller = load(state + ops.RUN_CALLER)
    store(context + at.CONTEXT_ACTIVATION, caller)
    store(context + at.CONTEXT_REQUEST, load(caller + at.ACTIVATION_REQUEST))
    interpret(context, state, load(state + ops.RUN_PC), load(state + ops.RUN_FRAME), -1)


@native
def look_up(context: Address, state: Address) -> Address:
    """Between two slices: the error of a cancelled request, or 0.  Others may have what waits here."""
    request = load(load(state + ops.RUN_CALLER) + at.ACTIVATION_REQUEST)
    cancelled = load_acquire(request + at.REQUEST_CANCEL)
    if cancelled != 0:
        add_references(cancelled, 1)
        return cancelled
    give_way(context)
    share_when_idle(context)
    return 0


@native
def must_leave(context: Address) -> bool:
    """Whether this thread has to go back to Python now."""
    deadline = load(context + at.CONTEXT_DEADLINE)
    return deadline != 0 and now() >= deadline


@native
def leave(context: Address, state: Address, frame: Address) -> None:
    """Keep the state, and go on at ops.RUN_PC as a task."""
    store(state + ops.RUN_FRAME, frame)
    mark_shared(load(state + ops.RUN_CALLER))
    function = load(load(frame + ops.FRAME_CODE) + ops.CODE_RESUME)
    add_task(context, new_task(context, function, state, 0, 0))


@inline
def word(frame: Address, field: Address) -> int:
    """The register that a field of an instruction names."""
    return load(frame + load_i32(field))


@inline
def half(frame: Address, field: Address) -> int:
    """The i32 in the register that a field of an instruction names."""
    return load_i32(frame + load_i32(field))


@inline
def write(frame: Address, pc: Address, result: int) -> None:
    """Write the register that the first field of an instruction names."""
    store(frame + load_i32(pc + 4), result)


@inline
def go_on(state: Address, pc: Address, left: int) -> Address:
    """The instruction after one that counts: the one at `pc`, or STOP when the slice is over."""
    if left < 0:
        store(state + ops.RUN_PC, pc)
        return state + ops.RUN_STOP
    return pc


@inline
def jump(state: Address, pc: Address, is_taken: bool, left: int) -> Address:
    """The instruction after a jump, with what is left of the slice behind it."""
    return go_on(state, pc + load_i32(pc + 4) if is_taken else pc + 24, left)


@native
def interpret(context: Address, state: Address, pc: Address, frame: Address, left: int) -> None:
    """Run from the instruction at `pc` to the end of the run, or until it has to leave.

    `left` is what is left of the slice.  What jumps counts it down; below 0, and on an error, the next
    instruction is STOP, and ops.RUN_PC says with which one the run goes on.
    """
    failed = 0
    stop = state + ops.RUN_STOP
    pc = go_on(state, pc, left)
    while True:
        while True:
            operation = load_i32(pc)
            if operation == ops.ADD:
                write(frame, pc, wrapping_add(word(frame, pc + 8), word(frame, pc + 12)))
                pc += 16
            elif operation == ops.SUBTRACT:
                write(frame, pc, wrapping_subtract(word(frame, pc + 8), word(frame, pc + 12)))
                pc += 16
            elif operation == ops.MULTIPLY:
                write(frame, pc, wrapping_multiply(word(frame, pc + 8), word(frame, pc + 12)))
                pc += 16
            elif operation == ops.MOVE:
                write(frame, pc, word(frame, pc + 8))
                pc += 16
            elif operation == ops.CONSTANT:
                write(frame, pc, load(pc + 8))
                pc += 16
            elif operation == ops.EQUAL_I32:
                write(frame, pc, 1 if half(frame, pc + 8) == half(frame, pc + 12) else 0)
                pc += 16
            elif operation == ops.EQUAL_I64:
                write(frame, pc, 1 if word(frame, pc + 8) == word(frame, pc + 12) else 0)
                pc += 16
            elif operation == ops.LESS_EQUAL_I32:
                write(frame, pc, 1 if half(frame, pc + 8) <= half(frame, pc + 12) else 0)
                pc += 16
            elif operation == ops.LESS_EQUAL_I64:
                write(frame, pc, 1 if word(frame, pc + 8) <= word(frame, pc + 12) else 0)
                pc += 16
            elif operation == ops.AND:
                write(frame, pc, word(frame, pc + 8) & word(frame, pc + 12) & 1)
                pc += 16
            elif operation == ops.JUMP:
                left -= load_i32(pc + 16)
                pc = jump(state, pc, True, left)
            elif operation == ops.JUMP_IF:
                left -= load_i32(pc + 16)
                pc = jump(state, pc, word(frame, pc + 8) & 1 != 0, left)
            elif operation == ops.JUMP_UNLESS:
                left -= load_i32(pc + 16)
                pc = jump(state, pc, word(frame, pc + 8) & 1 == 0, left)
            elif operation == ops.REPEAT:
                left -= load_i32(pc + 16)
                rounds = word(frame, pc + 8) - 1
                store(frame + load_i32(pc + 8), rounds)
                pc = jump(state, pc, rounds > 0, left)
            elif operation == ops.CALL:
                callee = 0
                is_done = is_machine(pc) and call_from_frame(context, state, pc, frame)
                if not is_done:
                    callee = new_frame(context, state, pc, frame)
                if is_done:
                    pc += load_i32(pc + ops.CALL_LENGTH)
                elif callee != 0:
                    frame = callee
                    code = load(pc + ops.CALL_CODE)
                    left -= load(code + ops.CODE_WEIGHT)
                    pc = go_on(state, load(code + ops.CODE_ENTRY), left)
                else:
                    failed = call_error(context, state, pc)
                    pc = stop
            elif operation == ops.RETURN:
                call = load(frame + ops.FRAME_RETURN)
                if call != 0:
                    caller = load(frame + ops.FRAME_CALLER)
                    places = call + ops.CALL_REGISTERS + 4 * load_i32(call + 4)
                    for i in range(load_i32(pc + 4)):
                        store(
                            caller + load_i32(places + 4 * i),
                            load(frame + load_i32(pc + 8 + 4 * i)),
                        )
                    if frame == load(state + ops.RUN_BASE):
                        end_segment(context, state)
                    frame = caller
                    pc = call + load_i32(call + ops.CALL_LENGTH)
                else:
                    count_interpreted(frame, ops.SLICE - left)
                    succeed(context, state, pc, frame)
                    return
            elif operation == ops.CONSTANTS:
                copy(frame + load_i32(pc + 4), load(pc + 8), load(pc + 16))
                pc += 24
            elif operation == ops.START_REPEAT:
                rounds = half(frame, pc + 12)
                if rounds < 0:
                    failed = fail_number(context, load(pc + 16), at.MESSAGE_NEGATIVE_COUNT, rounds)
                    pc = stop
                elif rounds == 0:
                    pc += load_i32(pc + 4)
                else:
                    store(frame + load_i32(pc + 8), rounds)
                    pc += 24
            elif operation == ops.CASE:
                index = half(frame, pc + 4)
                if index < 0 or index >= load_i32(pc + 8):
                    failed = fail_number(context, load(pc + 16), at.MESSAGE_CASE_RANGE, index)
                    pc = stop
                else:
                    pc += load_i32(pc + 24 + 4 * index)
            elif operation == ops.BOX:
                write(frame, pc, box(context, load_i32(pc + 12), word(frame, pc + 8)))
                pc += 16
            elif operation == ops.UNBOX:
                failed = unbox(context, pc, frame)
                pc += 24
                if failed != 0:
                    pc = stop
            elif operation == ops.SHARE:
                value = word(frame, pc + 8)
                add_references(value, 1)
                write(frame, pc, value)
                pc += 16
            elif operation == ops.HAND_ON:
                write(frame, pc, word(frame, pc + 8))
                store(frame + load_i32(pc + 8), 0)
                pc += 16
            elif operation == ops.DROP:
                value = word(frame, pc + 4)
                write(frame, pc, 0)
                drop_optional(context, value)
                pc += 8
            elif operation == ops.LOG:
                content = word(frame, pc + 4)
                boxed = content if load_i32(pc + 8) == at.TYPE_OBJECT else 0
                log_register(context, load(state + ops.RUN_CALLER), load(pc + 16), boxed, content)
                pc += 24
            elif operation == ops.KERNEL:
                left -= ops.PYTHON_WEIGHT
                failed = look_up(context, state)
                if failed == 0:
                    failed = call_kernel(context, load(pc + 8), frame)
                pc = go_on(state, pc + 16, left)
                if failed != 0:
                    pc = stop
            elif operation == ops.SCALAR:
                failed = call_scalar(context, load(pc + 8), frame)
                pc += 16
                if failed != 0:
                    pc = stop
            elif operation == ops.FAIL:
                failed = report_error(context, load(pc + 8), load_i32(pc + 4))
                pc = stop
            elif operation == ops.STOP:
                break
        if failed == 0:
            failed = look_up(context, state)
        if failed != 0:
            abandon(context, state, frame, failed)
            return
        if must_leave(context):
            leave(context, state, frame)
            return
        left = ops.SLICE
        moved = replace_on_stack(context, state, frame)
        if moved == OVER:
            return
        pc = load(state + ops.RUN_PC)
        if moved == MOVED:
            frame = load(state + ops.RUN_FRAME)
