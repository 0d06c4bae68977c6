"""Programs and their runs: requests, decoded functions, activations, and loops."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# Messages that native code reports by their number.
MESSAGE_NO_RESULT, MESSAGE_POOL_FULL, MESSAGE_CASE_RANGE = range(3)
(MESSAGE_FAIL, MESSAGE_FAIL_ASYNC, MESSAGE_ERROR_CHAIN, MESSAGE_NEGATIVE_COUNT) = range(4, 8)
MESSAGE_WRONG_TYPE = 8
MESSAGE_QUIET_FAIL = 9
MESSAGE_TOO_DEEP = 10
MESSAGE_NOT_READY = 11
MESSAGE_NO_MEMORY = 12
FIRST_FAILURE = 32
"""The first number for errors of scalar operations, in the order of `scalars.FAILURES`."""

# Request: the state of one run of a program. It outlives its activations, because Python owns it.
# If a call from Python starts with payloads (`python_calls`), the request's words are followed by
#
#     for each argument: the type of its payload and two words of payload, or IS_VALUE and an
#                        AsyncValue
#     for each result:   its AsyncValue, with a reference that Python owns
IS_VALUE = -1
ARGUMENT_WORDS = 3
struct(
    "REQUEST",
    size=192,
    CANCEL="The error AsyncValue of a cancelled request, or 0; owned by the request.",
    ACTIVE="Root activations and queued tasks that have not finished; a futex word.",
    CALLER="The context of the call that started the run, which the run holds; or 0.",
    CANCELLED_VALUE="The error AsyncValue that a cancellation uses; the request holds a reference.",
    OPEN=(
        "1 until the run is over, and Python knows that if it wants to; the word that waiting "
        "threads read."
    ),
    STORE=(
        "Where native kernels get memory for tensors, or 0: then all of it comes from Python's "
        "allocator."
    ),
    NUMBER="By which compiled code knows the run; no two runs of a process have the same.",
    OBSERVED=(
        "Not 0 if the events of the run are logged, and once Python wants to know how many "
        "kernels there are: what calls and iterations ask when they begin."
    ),
    UNUSUAL=(
        "Not 0 if the run is cancelled or its events are logged: all that the short way of a "
        "kernel asks."
    ),
    WATCH="The watch of a run whose events are logged, or 0.",
    NOTIFY=(
        "What is to be done when the run is over: 0, NOTIFY_PYTHON to call Python, "
        "NOTIFY_FORGET if the Python object of the run is dead. Then NOTIFY_OVER."
    ),
    NEXT="The next one in PROCESS_OVER.",
    TIER=(
        "TIER_*: which functions of the run may be machine code; TIER_INTERPRETER once machine "
        "code has bailed out."
    ),
    COMPILED="Not 0 once machine code has run.",
    WORDS="The `bytes` that has these words, if the run has REQUEST_CALLER; else 0.",
    LOOP="The record of the first loop that ended because the run is cancelled, or 0.",
    KNOWN=line(
        "Kernels of the calls and iterations that count, on a line of its own: all threads add "
        "here.",
    ),
    DECIDED=(
        "Those of them that have run or were skipped; short ones are added when their call ends."
    ),
)
NOTIFY_PYTHON, NOTIFY_FORGET, NOTIFY_OVER = 1, 2, 3
TIER_AUTO, TIER_INTERPRETER, TIER_COMPILED = range(3)
"""Which functions may be machine code: hot functions, none, or all functions that can be
compiled.
"""

# Function: a decoded BEF function, made once when the program is loaded.
struct(
    "FUNCTION",
    SIZE="Bytes of an activation.",
    TEMPLATE="Image of registers and ready counts at entry.",
    TEMPLATE_SIZE="",
    KERNELS="Kernels that run in an activation.",
    ARGUMENTS="",
    ARGUMENT_TABLE="One slot per argument.",
    RESULTS="",
    ENTRIES="",
    ENTRY_TABLE=(
        "Records of the kernels that wait for nothing.  FUNCTION_IN_ORDER: address of the first "
        "record, address after the last one, then the offset of each result's register."
    ),
    CONSTANTS="",
    CONSTANT_TABLE="(slot, value) pairs: immortal values that are returned as they are.",
    FLAGS="",
    HANDLE="",
    HEAVY=(
        "Of the kernels those that are counted one by one in REQUEST_DECIDED, as they may take "
        "long."
    ),
    MACHINE="What the core knows of its machine code (MACHINE_*), or 0: it never has any.",
)
FUNCTION_WORDS = 15
FUNCTION_NONSTRICT, FUNCTION_IN_ORDER = 1, 2
"""FUNCTION_IN_ORDER: a sync function, whose kernels run one after another (`calls.in_order`)."""
IN_ORDER_WORDS = 16
"""The bytes at the end of a sync function's activation: its position, followed by the error that
ends it, or 0.
"""
RESUMES = 1
"""Added to the position if the record is the next one to run.

Otherwise, the record's kernel is running.
"""

# Record: a kernel of a decoded function. From ARGUMENTS on, its fields are half words (i32), and
# offsets are in bytes from the start of the record.
struct(
    "RECORD",
    KERNEL="",
    HANDLE="Number of the kernel in Python's table: name, location, Python callable.",
    ARGUMENTS="",
    RESULTS=at(20),
    FLAGS=at(24),
    DATA=at(28, "Attributes as words, and what else the kernel asked the decoder for."),
    FUNCTIONS=at(32, "Addresses of the functions among its attributes and regions."),
    WAITS=at(
        36,
        "Non-strict: how many arguments are strict, and the references that each argument "
        "register needs, one word each; else 0.",
    ),
    REGISTERS=at(
        40, "Offsets of the argument registers in the activation, then places of result slots."
    ),
)

KERNEL_NONSTRICT = 1
"""The kernel runs when one argument is available; other arguments may be unavailable or errors."""
KERNEL_CONTROL = 2
"""The kernel owns its arguments, and delivers its results itself."""
KERNEL_RAW = 4
"""The kernel sees the values in its registers unchanged, including indirect ones."""
KERNEL_HEAVY = 8
"""The kernel is worth another worker: waking a worker costs less than running the kernel."""
KERNEL_BLOCKING = 32
"""The kernel runs in the blocking pool."""
KERNEL_WIDE = 64
"""The kernel has more arguments or results than fit in every frame."""
KERNEL_SMALL = 128
"""The kernel has two arguments, one result, and no other flag.

The run loop has a fast path for such kernels.
"""
KERNEL_LASTING = 512
"""The kernel may take long, but no worker is woken for it: it is machine code with loops or calls.
"""
KERNEL_MEASURED = 256
"""Whether the kernel is heavy depends on its arguments.

The kernel decides that itself; if it is heavy, it shares other ready work.
"""
KERNEL_UNKNOWN = 1024
"""The kernel is a Python function that has not been quick yet.

A waiting thread leaves the kernel to workers, if the queue has any.
"""
FRAME_ROOM = 32
"""How many arguments, and how many results, fit in every frame."""

# Slot: the destination of a result. Its header is followed by the users and then by the returns;
# the decoder makes it. All its fields are half words (i32).
struct(
    "SLOT",
    REGISTER="Offset of the register in the activation.",
    REFERENCES=at(
        4, "References that the register needs: one per use by a kernel, one per return."
    ),
    USERS=at(8),
    RETURNS=at(12, "If not 0, there is more to do than to count down users."),
    LISTS=at(
        16,
        "Then (bytes back to the record, ready offset, weight) per user, then a result number "
        "per return.",
    ),
)
USER_SIZE = 12
SLOT_NONSTRICT = 1 << 30
"""Added to SLOT_RETURNS in a function that has non-strict kernels."""

# Machine: a function that may become machine code. Python writes MACHINE_CODE once, when the
# function is hot, and MACHINE_LOOP before that.
struct(
    "MACHINE",
    CODE="Address of its machine code: `code(attempt)`, 1 if it has come to its end; or 0.",
    LOOP=(
        "The same for a loop whose body it is: the first argument is LOOP_LEFT, or the condition."
    ),
    LEFT=(
        "How many kernels of it are interpreted before it is hot. Threads may lose what others "
        "subtract."
    ),
    NUMBER="Its number: that of the program, and below it its own in the file.",
    ASK="Address of `machine_calls.ask`.",
    ARGUMENTS="",
    RESULTS="",
    TYPES="Payload types of the arguments, then of the results.",
)
MACHINE_NEVER = 1 << 62
"""The value of MACHINE_LEFT if the function cannot be compiled."""
MACHINE_HOT, MACHINE_LOOK = range(2)
"""Events for Python.

MACHINE_HOT: the function with that number has become hot.  MACHINE_LOOK: a time slice is over, and
the run needs to know whether to continue.
"""

# Attempt: one call of machine code.
struct(
    "ATTEMPT",
    STACK=(
        "Bytes of stack that it may use; from its first instruction on, the address where they end."
    ),
    FUEL="Kernels until it asks whether to go on; below 0 it asks.",
    ASK="`ask(attempt)`: kernels that it may run then; 0: it bails out.",
    CONTEXT="",
    REQUEST="",
    ARGUMENTS="Address of one word per argument.",
    NEXT="When Python is asked again, by the clock.",
    RESULTS="One word per result.",
)

# Activation: one call of a function.
struct(
    "ACTIVATION",
    FUNCTION="",
    REMAINING="Kernels that have not finished, and deliveries that wait.",
    SHARED="Not 0 once another thread may touch it: until then its counters are plain words.",
    REQUEST="",
    RETURN="Where results go: one of RETURN_*.",
    CALLER="The activation that waits for this one to finish, or 0.",
    CALLER_RECORD=(
        "The kernel of the caller (RETURN_CALL), a loop (RETURN_LOOP), a join (RETURN_JOIN) or "
        "the table of indirect results (RETURN_ROOT)."
    ),
    NESTED=(
        "Bytes of the activation and of those that it is nested in, and the flag "
        "ACTIVATION_OBSERVED, in the lower half; in the upper one its number in the events of a "
        "watched run."
    ),
    REGISTERS="",
)
SHARED_ALONE, SHARED_WITH_CALLERS = 1, 2
ACTIVATION_OBSERVED = 1
"""The activation's kernels are counted in REQUEST_KNOWN, and its start is in the log of a
watched run.
"""
MAX_NESTED = 1 << 27
"""If nested activations exceed this many bytes, the recursion ends with an error.

The values may take up ten times as much memory.
"""

RETURN_CALL, RETURN_ROOT, RETURN_LOOP, RETURN_JOIN = range(4)

# Loop: the state of repeat and while between two iterations. Threads that deliver results of the
# body write the loop's table; the thread that ends the body's activation does everything else.
struct(
    "LOOP",
    CALLER="",
    RECORD="",
    FUNCTION="",
    LEFT="Iterations left for repeat; -1 for while.",
    VALUES="Number of loop values.",
    CONDITION="The value that decides about the next iteration of while, or 0.",
    TABLE=line("The loop values, then room for a copy of them."),
)

# Join: counts the blocks of a parallel loop. LEFT counts each block, and each chain that a block
# has returned, until the chain is resolved.
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
    LEFT="Parts that are not done.",
    OWNERS="Threads that have not seen that nothing is left to take.",
    PARTS="",
    WIDTH="Columns of a part; the last one has what is left.",
    VALUE="The chain, with a reference.",
    FUNCTION="",
    ROWS="",
    COLUMNS="",
    INNER="",
    ALPHA="",
    BETA="",
    TENSORS="The factors and the result, with references.",
    PROCESSOR=at(120, "Where the kernel's thread was when the product began."),
)

# Benchmark: the state of `tfrt_test.benchmark` between two runs.
struct(
    "BENCHMARK",
    size=80,
    CALLER="",
    RECORD="",
    VALUE="The result of the present run.",
    WARMUPS="Runs that are still not measured.",
    COUNT="",
    TOTAL="Nanoseconds of all measured runs.",
    WALL="",
    CPU="Clocks at the start of the present run.",
    SAMPLES="Address of the table: wall and CPU nanoseconds of each measured run.",
    ROOM="How many samples the table has room for.",
)
MAX_SAMPLES = 1 << 20
