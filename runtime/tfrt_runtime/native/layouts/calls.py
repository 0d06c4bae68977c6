"""The structs of programs and their runs: requests, decoded functions, activations, and loops."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# The numbers of the messages that native code reports.
MESSAGE_NO_RESULT, MESSAGE_POOL_FULL, MESSAGE_CASE_RANGE = range(3)
(MESSAGE_FAIL, MESSAGE_FAIL_ASYNC, MESSAGE_ERROR_CHAIN, MESSAGE_NEGATIVE_COUNT) = range(4, 8)
MESSAGE_WRONG_TYPE = 8
MESSAGE_QUIET_FAIL = 9
MESSAGE_TOO_DEEP = 10
MESSAGE_NOT_READY = 11
MESSAGE_NO_MEMORY = 12
FIRST_FAILURE = 32
"""The number of the first scalar operation's message, in the order of `scalars.FAILURES`."""

# Request: one run of a program. Python owns it, so it outlives its activations. If a call from
# Python passes payloads (`python_calls`), more words follow the request. Each argument has
# three words: the type and the two words of its payload, or IS_VALUE and an AsyncValue. Each result
# has one word: its AsyncValue, with a reference that Python owns.
IS_VALUE = -1
ARGUMENT_WORDS = 3
struct(
    "REQUEST",
    size=192,
    CANCEL=("The error value that cancelled the request, or 0. The request holds a reference."),
    ACTIVE="How many root activations and queued tasks have not finished. A futex word.",
    CALLER="The contextvars context from which the run was started, with a reference; or 0.",
    CANCELLED_VALUE="The error value for a later cancellation, with a reference.",
    OPEN=(
        "1 until the run is over and, if NOTIFY_PYTHON is set, Python has been called. "
        "Waiting threads read it."
    ),
    STORE=(
        "The store from which native kernels take memory for tensors. If it is 0, Python "
        "allocates all tensors."
    ),
    NUMBER="The number of the run in compiled code, unique within the process.",
    OBSERVED=(
        "Not 0 if starting calls and iterations must be counted in REQUEST_KNOWN: the run is "
        "watched, or Python wants to know its progress."
    ),
    UNUSUAL=(
        "Not 0 if the run is cancelled or watched, or if a register of it has held an error or a "
        "value that forwards to another one. Fast paths check only this word."
    ),
    WATCH="The watch of a watched run, or 0.",
    NOTIFY=(
        "What happens when the run is over. 0: nothing. NOTIFY_PYTHON: Python is called. "
        "NOTIFY_FORGET: Python is called, and the Python object of the run is dead. "
        "NOTIFY_OVER: the run is over."
    ),
    NEXT="The next request in the list PROCESS_OVER.",
    TIER=(
        "TIER_*: which functions of the run may be machine code. TIER_INTERPRETER after "
        "machine code has bailed out."
    ),
    COMPILED="Not 0 after machine code has run.",
    WORDS="The `bytes` object that contains this struct, if REQUEST_CALLER is set; else 0.",
    LOOP="The record of the first loop that the cancellation has ended, or 0.",
    KNOWN=line(
        "How many kernels the counted calls and iterations have. All threads share this counter."
    ),
    DECIDED=(
        "How many of the known kernels have run or were skipped. Short kernels are added when "
        "their call ends."
    ),
)
NOTIFY_PYTHON, NOTIFY_FORGET, NOTIFY_OVER = 1, 2, 3
TIER_AUTO, TIER_INTERPRETER, TIER_COMPILED = range(3)
"""Which functions may be machine code: hot ones, none, or all that can be compiled."""

# Function: a decoded BEF function. It never changes after the program is loaded.
struct(
    "FUNCTION",
    SIZE="The size of an activation in bytes.",
    TEMPLATE="The address of the initial registers and ready counts of an activation.",
    TEMPLATE_SIZE="In bytes.",
    KERNELS="How many kernels run in an activation.",
    ARGUMENTS="",
    ARGUMENT_TABLE="The address of one slot address per argument.",
    RESULTS="",
    ENTRY_TABLE=(
        "The address of the list of records that await no argument. Each half word is the "
        "distance from itself to a record; 0 ends the list. With FUNCTION_IN_ORDER: the address "
        "of the first record, the address after the last record, and the offset of each "
        "result's register."
    ),
    CONSTANTS="",
    CONSTANT_TABLE=(
        "Pairs (slot, value) of constants that the function returns. The values are immortal."
    ),
    FLAGS="",
    HANDLE="",
    HEAVY="How many of the kernels may take long. REQUEST_DECIDED counts these one by one.",
    MACHINE="The function's MACHINE struct, or 0 if it can never be machine code.",
)
FUNCTION_WORDS = 14
FUNCTION_NONSTRICT, FUNCTION_IN_ORDER = 1, 2
"""The flags for functions with non-strict kernels, and for sync functions.

The kernels of a sync function run in program order (`calls.in_order`).
"""
IN_ORDER_WORDS = 16
"""The size in bytes of two words at the end of a sync function's activation.

The words are the function's position, and the error that ends the function, or 0.
"""
RESUMES = 1
"""A flag in a sync function's position, added to the address of a record.

With the flag, the record's kernel runs next.  Without it, the record's kernel is running.
"""

# Record: a kernel of a decoded function. From ARGUMENTS on, fields are half words (i32). Offsets
# are in bytes from the start of the record.
struct(
    "RECORD",
    KERNEL="The address of the kernel's function.",
    HANDLE="The kernel's number in Python's table of names, locations, and callables.",
    ARGUMENTS="",
    RESULTS=at(20),
    FLAGS=at(24),
    DATA=at(
        28, ("The offset of the kernel's data: attributes, and other words that the kernel needs.")
    ),
    FUNCTIONS=at(32, "The offset of the addresses of functions, from attributes and regions."),
    WAITS=at(
        36,
        (
            "Non-strict kernels: the offset of the number of strict arguments, followed by the "
            "number of references that each argument's register needs. Other kernels: 0."
        ),
    ),
    REGISTERS=at(
        40,
        (
            "The offset in the activation of each argument's register, then the offset of each "
            "result's slot."
        ),
    ),
)

KERNEL_NONSTRICT = 1
"""The kernel runs as soon as one argument is available.

The other arguments may be unavailable or errors.
"""
KERNEL_CONTROL = 2
"""The kernel owns its arguments and delivers its results itself."""
KERNEL_RAW = 4
"""The kernel gets the values in its registers as they are; indirect values are not resolved."""
KERNEL_HEAVY = 8
"""The kernel may take longer than it takes to wake a worker."""
KERNEL_BLOCKING = 32
"""The kernel runs on a thread of the blocking pool."""
KERNEL_WIDE = 64
"""The kernel has more than FRAME_ROOM arguments and results in total."""
KERNEL_SMALL = 128
"""The kernel has two arguments, one result, and no other flag.

The run loop has a faster path for such kernels.
"""
KERNEL_LASTING = 512
"""The kernel is machine code with loops or calls.

It may take long, but no worker is woken for it.
"""
KERNEL_MEASURED = 256
"""The kernel decides, from its arguments, whether it is heavy.

If it is heavy, the kernel itself shares the thread's other ready work.
"""
KERNEL_UNKNOWN = 1024
"""The kernel is a Python function that has not been quick so far.

If the queue has workers, a waiting thread leaves the kernel to them.
"""
FRAME_ROOM = 32
"""Every frame has room for at least this many arguments, and for this many results."""

# Slot: where a result goes. After its header come its users (kernels that read the register) and
# its returns (results of the function). All fields are half words (i32).
struct(
    "SLOT",
    REGISTER="The offset of the register in the activation.",
    REFERENCES=at(
        4, ("How many references the register needs: one per use by a kernel, and one per return.")
    ),
    USERS=at(8, "How many users the slot has."),
    RETURNS=at(
        12,
        (
            "How many returns the slot has, plus SLOT_NONSTRICT. If it is not 0, delivery takes a "
            "slower path."
        ),
    ),
    LISTS=at(
        16,
        (
            "For each user: the distance in bytes back to its record, the offset of its ready "
            "count, and its weight. Then the result number of each return."
        ),
    ),
)
USER_SIZE = 12
SLOT_NONSTRICT = 1 << 30
"""A flag that is added to SLOT_RETURNS in functions with non-strict kernels."""

# Plan: what the loader tells `decoding.decode` about a function, and what `decode` answers. Offsets
# are in bytes from the start of the program's arena.
struct(
    "PLAN",
    size=128,
    BASE="Address of the arena.",
    START="Where to write in it.",
    HANDLE="The handle of the first kernel.",
    NONSTRICT="Whether the function has non-strict kernels.",
    IN_ORDER="Whether it is a sync function, whose registers need no users.",
    CALLS="Address of the calls (CALL_*).",
    KERNELS="Address of a row per kernel (PLANNED_*).",
    KERNEL_COUNT="",
    OPERANDS="Address of the argument registers of all kernels, half words.",
    OPERANDS_END="Address after them.",
    REGISTERS="Address of a row per register (REGISTER_*): arguments, then results in order.",
    REGISTER_COUNT="",
    RETURNED="Address of the register of each of the function's results, a half word.",
    RETURNED_COUNT="How many there are; 0 for a sync function.",
    SLOTS="Answer: offset of the first slot, after the last record.",
    END="Answer: offset after the last slot.",
)
struct(
    "CALL",
    size=40,
    KERNEL="",
    FLAGS="",
    STRICT="How many arguments a non-strict kernel waits for; 0: for any one, below 0: for none.",
    DATA="Offset of its data, or 0.",
    FUNCTIONS="Offset of the addresses of its functions, or 0.",
)
struct(
    "PLANNED",
    size=24,
    CALL="Number of its call, or -1 for a constant.",
    ARGUMENTS=at(4),
    RESULTS=at(8),
    RECORD=at(12, "Answer: offset of its record."),
    WAITS=at(16, "Answer: its ready count at entry."),
    READY=at(20, "Answer: the offset of that count in an activation, or 0."),
)
struct(
    "REGISTER",
    size=24,
    REFERENCES="At first those that neither uses nor RETURNED need; then all.",
    USERS=at(4, "How many kernels its value counts down."),
    RETURNS=at(8),
    SLOT=at(12, "Offset of its slot; -1 for a constant."),
    NEXT=at(16, "Offset of the next entry in the lists of the slot."),
    LAST=at(20, "The last kernel seen among its users."),
)

# Machine: a function that may become machine code. When the function is hot, Python writes
# MACHINE_LOOP and then MACHINE_CODE, once.
struct(
    "MACHINE",
    CODE=(
        "The address of the machine code, or 0. `code(attempt)` returns 1 if the call has not "
        "bailed out."
    ),
    LOOP=(
        "The address of machine code for a loop with this function as its body. Its first "
        "argument is LOOP_LEFT or the condition."
    ),
    LEFT=(
        "How many more of its kernels are interpreted before the function is hot. Not exact: "
        "concurrent subtractions may be lost."
    ),
    NUMBER="The program's number, with the function's number in the file below it.",
    ASK="The address of `machine_calls.ask`.",
    ARGUMENTS="",
    RESULTS="",
    TYPES="The payload types of the arguments, then those of the results.",
)
MACHINE_NEVER = 1 << 62
"""The initial MACHINE_LEFT of a function that cannot be compiled."""
MACHINE_HOT, MACHINE_LOOK = range(2)
"""The events that PROCESS_MACHINE reports to Python.

MACHINE_HOT: the function with the given number is hot.  MACHINE_LOOK: a time slice is over, and
Python decides whether the run continues.
"""

# Attempt: one call of machine code, with its arguments and results.
struct(
    "ATTEMPT",
    STACK=(
        "How many bytes of stack the code may use. The code replaces it with the address at "
        "which they end."
    ),
    FUEL=(
        "How many kernels the code runs before it calls ATTEMPT_ASK. It calls when this is below 0."
    ),
    ASK=(
        "`ask(attempt)` returns how many more kernels the code may run, or 0 if it must bail out."
    ),
    CONTEXT="",
    REQUEST="",
    ARGUMENTS="The address of an array with one word per argument.",
    NEXT="The time at which `ask` calls Python again, in nanoseconds.",
    RESULTS="An array with one word per result.",
)

# Activation: one call of a function.
struct(
    "ACTIVATION",
    FUNCTION="",
    REMAINING="How many kernels have not finished, plus pending deliveries.",
    SHARED=(
        "Not 0 if another thread may use the activation: its counters are then accessed atomically."
    ),
    REQUEST="",
    RETURN="Where the results go, a RETURN_* constant.",
    CALLER="The activation of the kernel that made this call, or 0.",
    CALLER_RECORD=(
        "RETURN_CALL: the caller's record. RETURN_LOOP: the loop. RETURN_JOIN: the join. "
        "RETURN_ROOT: the table of results."
    ),
    NESTED=(
        "Low half: the size in bytes of this and all enclosing activations, plus "
        "ACTIVATION_OBSERVED. High half: the activation's number in the log of a watched run."
    ),
    REGISTERS="",
)
SHARED_ALONE, SHARED_WITH_CALLERS = 1, 2
ACTIVATION_OBSERVED = 1
"""Flag: REQUEST_KNOWN includes the activation's kernels.

If the run is watched, its log includes the activation's start.
"""
MAX_NESTED = 1 << 27
"""If nested activations take up more bytes than this, the recursion ends with an error.

The values in these activations may take up ten times as many bytes.
"""

RETURN_CALL, RETURN_ROOT, RETURN_LOOP, RETURN_JOIN = range(4)

# Loop: the state of repeat and while between two iterations. Threads that deliver the body's
# results write LOOP_TABLE. All other accesses are on the thread that ends the body's activation.
struct(
    "LOOP",
    CALLER="",
    RECORD="",
    FUNCTION="",
    LEFT="The remaining iterations of a repeat; -1 for a while.",
    VALUES="How many loop values there are.",
    CONDITION="The value that decides whether a while continues, or 0.",
    TABLE=line("The loop values, then room for a copy of them."),
)

# Join: counts the blocks of a parallel loop. JOIN_LEFT is the number of blocks that have not ended,
# plus the number of unresolved chains that blocks have returned.
struct(
    "JOIN",
    size=64,
    CALLER="",
    RECORD="",
    LEFT="",
    ERROR="",
)

# Product: the state that the threads of a large matrix product share.
struct(
    "PRODUCT",
    size=128,
    NEXT="The first part that no thread has taken.",
    LEFT="How many parts are not finished.",
    OWNERS="How many threads may still use this struct.",
    PARTS="",
    WIDTH="How many columns a part has. The last part has the rest.",
    VALUE="The kernel's chain, with a reference.",
    FUNCTION="",
    ROWS="",
    COLUMNS="",
    INNER="",
    ALPHA="",
    BETA="",
    TENSORS="The two factors and the result, with references.",
    PROCESSOR=at(
        120, ("The processor on which the kernel's thread was running when it shared the product.")
    ),
)

# Benchmark: the state of `tfrt_test.benchmark` between two runs.
struct(
    "BENCHMARK",
    size=80,
    CALLER="",
    RECORD="",
    VALUE="The result of the current run.",
    WARMUPS="How many more runs are not measured.",
    COUNT="",
    TOTAL="The total wall time of all measured runs, in nanoseconds.",
    WALL="The wall clock at the start of the current run.",
    CPU="The CPU clock at the start of the current run.",
    SAMPLES=(
        "The address of the table: the wall and CPU time of each measured run, in nanoseconds."
    ),
    ROOM="The capacity of the table in samples.",
)
MAX_SAMPLES = 1 << 20
