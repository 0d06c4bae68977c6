"""The code of sync functions: what the loader writes and `sync_interpreter` reads.

A code struct says how large a frame is and where the instructions begin.  An instruction is some
8-byte words, read as 32-bit fields: the first is the operation, the others are mostly registers, as
byte offsets in the frame.  Below, `c` is what is written, `a` and `b` are read; a jump's target
counts in bytes from the jump.

A register is a word.  A scalar is kept as the word that its AsyncValue would have as payload; an i32 or
f32 is in the lower half, and the upper one means nothing.  Everything else is boxed: the register
owns a reference to a concrete AsyncValue, or is 0.
"""

# Code: 8-byte words.
CODE_FRAME = 0
"""Bytes of a frame."""
CODE_ENTRY = 8
"""Address of the first instruction."""
CODE_WEIGHT = 16
"""What a call counts against a slice: how many kernels the code stands for."""
CODE_RESUME = 24
"""Task function `sync_interpreter.resume`."""
CODE_ARGUMENTS = 32
CODE_BOXES = 40
"""Boxed registers behind the arguments; empty at entry, and whenever they own nothing."""
CODE_RESULTS = 48
CODE_MACHINE = 56
"""What the core knows of its machine code (`layouts.MACHINE_*`), or 0."""
CODE_TYPES = 64
"""Payload types of the arguments, then of the results; TYPE_OBJECT for what is boxed."""

# Frame: one call.  Arguments come first, then boxed registers, then the others.  Boxed arguments
# belong to the caller.
FRAME_RETURN = 0
"""Address of the call instruction, or 0 for the outermost frame."""
FRAME_CALLER = 8
FRAME_CODE = 16
FRAME_REGISTERS = 24

# Run: a sync function that was called from outside, with its first frames behind it.
RUN_CALLER = 0
"""The activation of the kernel that it is."""
RUN_RECORD = 8
RUN_PC = 16
"""Where the run goes on after STOP, unless it has failed."""
RUN_FRAME = 24
"""The frame there, while the run is a task, or after machine code took the place of others."""
RUN_BASE = 32
"""The first frame of the present segment."""
RUN_LIMIT = 40
"""Where the present segment ends."""
RUN_SEGMENT = 48
"""The present segment, or 0 while the run's own block suffices."""
RUN_NESTED = 56
"""Bytes of all frames and of what the run is nested in."""
RUN_SIZE = 64
RUN_STOP = 72
"""The instruction STOP: where the interpreter goes when it has to look up."""
RUN_FRAMES = 80
SMALLEST_RUN = 1024
"""Room for some calls, from a free list."""

# Segment: more frames of a deep run.
SEGMENT_PREVIOUS = 0
SEGMENT_BASE = 8
SEGMENT_LIMIT = 16
SEGMENT_SIZE = 24
SEGMENT_FRAMES = 32
SMALLEST_SEGMENT = 1 << 14

SLICE = 1 << 16
"""Kernels between two checks of cancellation and of the clock: some 100 us."""
PYTHON_WEIGHT = 1 << 12
"""Kernels that take as long as one that is called."""

# Operations.  Fields: c a b.
(
    ADD,
    SUBTRACT,
    MULTIPLY,
    EQUAL_I32,
    EQUAL_I64,
    LESS_EQUAL_I32,
    LESS_EQUAL_I64,
    AND,
) = range(8)

MOVE = 8
"""Fields: c a -."""

(
    JUMP,
    JUMP_IF,
    JUMP_UNLESS,
    REPEAT,  # counts a down: jumps as long as it is above 0
) = range(9, 13)
"""Fields: target a b weight -.  The weight is 0 for a jump that goes forward."""

START_REPEAT, CASE = range(13, 15)
"""Fields: target c a, record: c = a; jumps if it is 0, fails if it is below.
a count -, record, then the targets: fails if a is none of them."""

CONSTANT, CONSTANTS = range(15, 17)
"""Fields: c, number.  c, address, bytes."""

BOX, UNBOX, SHARE, HAND_ON, DROP, LOG = range(17, 23)
"""Fields: c a type.  c a type, record.  c a -: another reference.  c a -: a is empty then.  c.
a type -, function and number of a register: logs its value, which stays."""

KERNEL, SCALAR, FAIL, CALL, RETURN, STOP = range(23, 29)
"""Fields: -, record, whose registers are (register, type) pairs of 32 bits.  The same for a kernel
of the table of scalar operations, whose operands need no boxes.  message, record.
arguments, code, record, own frame, length, then arguments and results.  results, then they.
STOP has none."""

CALL_CODE = 8
CALL_RECORD = 16
CALL_FRAME = 24
"""Bytes of the caller's own frame: the callee's comes behind it."""
CALL_LENGTH = 28
"""Bytes of the instruction."""
CALL_REGISTERS = 32
