"""From the interpreter to machine code: at calls, and between two slices in the place of frames that are hot."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls.machine_calls import attempt_size, machine_code, run_machine
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.memory import (
    Address,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    outline,
    store,
    store_release,
)
from tfrt_runtime.native.sync import sync_layouts as ops
from tfrt_runtime.native.sync.sync_frames import deliver_result, drop_boxes, end_run, leave_frame

NEAREST = 256
"""Frames that are looked at for one that may be machine code."""
STAYS, MOVED, OVER = range(3)
"""What became of a run: nothing, it goes on elsewhere, it has ended."""


@inline
def is_machine(pc: Address) -> bool:
    """Whether the function that is called at `pc` is machine code."""
    machine = load(load(pc + ops.CALL_CODE) + ops.CODE_MACHINE)
    return machine != 0 and load_acquire(machine + at.MACHINE_CODE) != 0


@outline
def call_from_frame(context: Address, state: Address, pc: Address, frame: Address) -> bool:
    """Let machine code do the call at `pc`; False: nothing is done."""
    machine = load(load(pc + ops.CALL_CODE) + ops.CODE_MACHINE)
    request = load(load(state + ops.RUN_CALLER) + at.ACTIVATION_REQUEST)
    code = machine_code(context, request, machine, 0)
    if code == 0:
        return False
    size = 8 * load(machine + at.MACHINE_ARGUMENTS) + 8
    words = take_block(context, size)
    if words == 0:
        return False
    for i in range(load_i32(pc + 4)):
        store(words + 8 * i, load(frame + load_i32(pc + ops.CALL_REGISTERS + 4 * i)))
    attempt = run_machine(context, request, machine, code, words)
    give_block(context, words, size)
    if attempt == 0:
        return False
    return_words(pc, frame, attempt)
    give_block(context, attempt, attempt_size(machine))
    return True


@native
def return_words(pc: Address, frame: Address, attempt: Address) -> None:
    """Put the results of the call at `pc` into the caller's registers."""
    places = pc + ops.CALL_REGISTERS + 4 * load_i32(pc + 4)
    for i in range(load(load(pc + ops.CALL_CODE) + ops.CODE_RESULTS)):
        store(frame + load_i32(places + 4 * i), load(attempt + at.ATTEMPT_RESULTS + 8 * i))


@native
def count_interpreted(frame: Address, kernels: int) -> None:
    """So many kernels of a run were interpreted: its function may be hot at its next call."""
    machine = load(load(frame + ops.FRAME_CODE) + ops.CODE_MACHINE)
    if machine != 0:
        # Threads may lose what others subtract.
        left = load_acquire(machine + at.MACHINE_LEFT) - kernels
        store_release(machine + at.MACHINE_LEFT, left)


@native
def hot_frame(frame: Address) -> Address:
    """The outermost of the nearest frames whose function may be machine code, or 0."""
    found = 0
    for _ in range(NEAREST):
        if load(load(frame + ops.FRAME_CODE) + ops.CODE_MACHINE) != 0:
            found = frame
        if load(frame + ops.FRAME_RETURN) == 0:
            break
        frame = load(frame + ops.FRAME_CALLER)
    return found


@outline
def replace_on_stack(context: Address, state: Address, frame: Address) -> int:
    """On-stack replacement, as a slice is over: machine code runs a hot function from its start, in the place of its frames.

    MOVED: the run goes on at ops.RUN_PC, in ops.RUN_FRAME.  OVER: it has ended.
    """
    hot = hot_frame(frame)
    if hot == 0:
        return STAYS
    request = load(load(state + ops.RUN_CALLER) + at.ACTIVATION_REQUEST)
    machine = load(load(hot + ops.FRAME_CODE) + ops.CODE_MACHINE)
    code = machine_code(context, request, machine, ops.SLICE)
    if code == 0:
        return STAYS
    # Arguments stay as they are for as long as their frame.
    attempt = run_machine(context, request, machine, code, hot + ops.FRAME_REGISTERS)
    if attempt == 0:
        return STAYS
    while frame != hot:
        frame = leave_frame(context, state, frame)
    call = load(hot + ops.FRAME_RETURN)
    if call != 0:
        caller = leave_frame(context, state, hot)
        return_words(call, caller, attempt)
        store(state + ops.RUN_PC, call + load_i32(call + ops.CALL_LENGTH))
        store(state + ops.RUN_FRAME, caller)
    else:
        drop_boxes(context, hot)
        for i in range(load(load(hot + ops.FRAME_CODE) + ops.CODE_RESULTS)):
            word = load(attempt + at.ATTEMPT_RESULTS + 8 * i)
            deliver_result(context, state, hot, i, word)
    give_block(context, attempt, attempt_size(machine))
    if call == 0:
        end_run(context, state, hot)
        return OVER
    return MOVED
