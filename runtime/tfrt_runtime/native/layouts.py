"""Structs that native code and Python share: each field's byte offset, written once.

All fields are 8-byte words (`declared`).  A name is `STRUCT_FIELD`; `STRUCT_SIZE` is the size of
the struct in bytes.  The compiled core takes these names as constants; the simulator and the
decoder read the same names.  Modules that read many of them import the table as `at`:
`load(context + at.CONTEXT_QUEUE)`.  Related tables are `python_layouts` (the structs for
Python), `async_layouts` (compiled programs), and `sync_layouts` in its own room.

The structs refer to each other as follows.  The name on an arrow is the field; `*` is a list or a
table:

    Process  <--PROCESS--  Context  --QUEUE-->  Queue  --DEQUES*-->  Deque  --TASKS*-->  Task
    one: callbacks,        one per thread:      INJECTED, STARTED:   one per worker     function and
    memory depot, logs     free lists, frame,   stacks of tasks                         four words
                           ready stack, log
                              |
                              | READY*: (activation | tag, record)
                              v
    Request  <--REQUEST--  Activation  --FUNCTION->  Function  --tables*->  Record  --SLOTS*-> Slot
    one per run:           one per call:             decoded once,        a kernel: code,   users of
    CANCEL, ACTIVE,        counters, registers       never changed        attributes,       a result
    WATCH                     |    |                                      registers         (record,
                              |    | CALLER, CALLER_RECORD                                   count)*
                              |    v
                              |  Activation and Record of the call, or Loop, Join, table of results
                              | registers*: address of a value, or 0
                              v
                            Value  --STATE-->  Waiter  --NEXT-->  Waiter ...
                            references,        FIRST, SECOND: (activation, slot), (indirect value,
                            state, payload     target), a latch, a join, a task's function:
                                               by WAITER_KIND

An activation is one block: the header, a register per value, and a ready count per kernel.  At
entry, registers and ready counts are a copy of FUNCTION_TEMPLATE; a slot's user list says which
counts a value lowers, and by how much.  A value's STATE word is the address of its newest waiter
with the state in the two low bits, so that one atomic operation changes both.

Contended words, which many threads write, have cache lines of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrt_runtime.native.declared import at, declarer, line

if TYPE_CHECKING:

    def __getattr__(name: str) -> int:
        """Return the offset of a field that `_struct` defines."""


_struct = declarer(globals())

# AsyncValue, and every other small cell: one cache line, so that two values never share a line.
CELL_SIZE = 64

_struct(
    "VALUE",
    REFERENCES="",
    STATE="Two bits of state below the address of the first waiter (waiters are 16-aligned).",
    KIND="`payload type << 8 | CONCRETE or INDIRECT`.",
    PAYLOAD="",
    PAYLOAD2="",
    NEXT="Next cell of a free list, while the cell is free.",
    OWNER=(
        "Its maker: an opaque number for the leak view; of the promise of a task, the task's "
        "activation."
    ),
    ASYNC=(
        "Objects of compiled programs only: OBJECT_HELD for each reference added by hand, plus "
        "the bytes of storage after the header `<< 2`, plus flags."
    ),
    TARGET=at(
        32,
        "Indirect values: the value that it forwards to, with a reference. Of an object of a "
        "compiled program it is the error that it is, or is about to become: never the word of "
        "the payload, which its producer may still fill when another thread has resolved the "
        "object to an error.",
    ),
    WAITING=at(
        32,
        "Promises of tasks, until they are resolved: the slot of the register that waits for "
        "it, or 0.",
    ),
    STORAGE=line("Where the storage of a value starts that does not fit into the header."),
)
OBJECT_REGISTERED = 1
"""The runtime's list of objects holds a reference; VALUE_NEXT links the list."""
OBJECT_ABANDONED = 2
"""Resolved on behalf of its producer: whatever the producer does later is ignored."""
OBJECT_DISOWNED = 1 << 39
"""The program has dropped the producer's reference by hand: nothing may resolve the object."""
OBJECT_SIZE_BITS = OBJECT_DISOWNED - 1
"""Mask within VALUE_ASYNC: the size, with the flags below it."""
OBJECT_HELD = 1 << 40
"""One reference that the program added by hand, besides those that its compiler counts."""
INDIRECT_COPIES = 1
"""Payload of an unresolved indirect value that becomes a copy of a number.

The copy outlives the object of a compiled program that held the number.
"""

UNCONSTRUCTED, CONSTRUCTED, CONCRETE, ERROR = range(4)
STATE_BITS = 3
KIND_CONCRETE, KIND_INDIRECT = 0, 1
KIND_BITS = 255

IMMORTAL = 1 << 60
"""Reference counts from here on never change: constants outlive all programs that use them."""

# Payload types.  A payload of TYPE_OBJECT or above must be released; one below is plain bits.
(
    TYPE_UNKNOWN,
    TYPE_CHAIN,
    TYPE_I1,
    TYPE_I8,
    TYPE_I16,
    TYPE_I32,
    TYPE_I64,
    TYPE_UI8,
    TYPE_UI16,
    TYPE_UI32,
    TYPE_UI64,
    TYPE_F16,
    TYPE_BF16,
    TYPE_F32,
    TYPE_F64,
    TYPE_COMPLEX64,
    TYPE_COMPLEX128,
    TYPE_ATOMIC_I32,
) = range(18)
TYPE_OBJECT = 32
"""The payload is the address of a Python object, with a reference."""
TYPE_ERROR = 33
"""The payload is the address of a Diagnostic, as of any object; only in state ERROR."""
TYPE_TENSOR = 34
"""The payload is the address of a tensor, with a reference."""
TYPE_SHAPE = 35
"""The payload is the address of a tensor without elements, with a reference."""
TYPE_STORAGE = 40
"""The payload is plain memory after the header; VALUE_ASYNC holds its size."""
TYPE_GROUP = 41
"""No payload: a group of tokens and values."""
TYPE_TENSOR_OF = 256
"""Type of a user kernel's tensor argument: the type of its elements, plus this times (rank + 1)."""
TYPE_OUT = 1 << 32
"""Added if the kernel writes the tensor."""

# Waiter: what happens when a value resolves.
_struct(
    "WAITER",
    NEXT="",
    KIND="",
    FIRST="",
    SECOND="",
    VALUE="The value that was waited for.",
    THIRD="",
    RUN="Coroutines that wait: the number of the run that they are part of.",
    PLACE="Coroutines that wait: the record of the operation that does, or 0.",
)

(
    WAIT_REGISTER,
    WAIT_FORWARD,
    WAIT_PYTHON,
    WAIT_END,
    WAIT_JOIN,
    WAIT_LATCH,
    WAIT_CALL,
    WAIT_TASK,
    WAIT_NOTIFY,
) = range(1, 10)

# Latch: lets a thread sleep until a value resolves.  The waiter and the sleeper own it together, so
# that either may finish first.
_struct(
    "LATCH",
    PENDING=(
        "1, or LATCH_ASLEEP while compiled code sleeps on it, until the value is resolved; then 0."
    ),
    OWNERS="",
)
LATCH_ASLEEP = 3

# Entry of a ready stack: meanings of the low bits of its first word.
READY_KERNEL, READY_DELIVERY, READY_END, READY_JOIN = 0, 1, 2, 4
READY_BITS = 7

# Task: a function for the work queue.  `function(context, task)`; the function frees the cell.
_struct(
    "TASK",
    NEXT="",
    FUNCTION="",
    FIRST="",
    SECOND="",
    THIRD="",
    ACTIVATION=(
        "The activation that the task belongs to, or 0: shared before another thread gets the task."
    ),
)

# Process: one per process; addresses of Python callbacks.
_struct(
    "PROCESS",
    size=704,
    RELEASE_OBJECT="release(context, handle): the last reference to an object payload is gone.",
    PYTHON_KERNEL=(
        "Kernel function `python_functions.run_framed`: run a Python kernel; its frame is in "
        "the context."
    ),
    REPORT_ERROR="report(context, record, message id) -> error AsyncValue with one reference.",
    PYTHON_WAITER=("waiter(context, handle): a Python callback of and_then; releases the handle."),
    PRINT="print(context, record, number): print what the kernel says with that number.",
    NEED_THREAD="need_thread(context, pool): a blocking task waits and no thread is idle.",
    REQUEST_DONE=(
        "done(context, request, NOTIFY_PYTHON or NOTIFY_FORGET): the last activation of a "
        "request is gone."
    ),
    RUN_ENTRY="Task function `executor.run_entry`.",
    RUN_BLOCKING="Task function `executor.run_blocking`.",
    MACHINE=("machine(context, MACHINE_HOT or MACHINE_LOOK, argument): see `calls.machine_calls`."),
    RUN_COROUTINE="Task function `async_awaiting.run_coroutine`.",
    MEMBER_RESOLVED="Waiter function `async_groups.member_resolved`.",
    ASYNC_EVENT="event(context, EVENT_*, argument): compiled code needs Python, or is wrong.",
    RUN_ROOT="Task function `executor.run_root`.",
    RELEASE_TENSOR=(
        "release(context, tensor): the last reference to a tensor or shape payload is gone."
    ),
    INTERRUPTS="Not 0 while compiled code should ask whether to go on: INTERRUPT_* bits.",
    CANCELLED_RUNS=(
        "Rows of two words, preceded by their count, or 0: the number of a cancelled run, and its "
        "`STOP_*` words."
    ),
    BUFFERS="What the threads share of `async_buffers`.",
    REFUSED=(
        "refused(context, record or 0, bytes): a run asks for more memory than there is; it "
        "must end."
    ),
    RECLAIM="reclaim(process, _): release the memory that is kept for later; return how many bytes.",
    STORE="The store of tensors, or 0.",
    RUN_ROWS="Task function `python_calls.run_rows`.",
    CALL_PYTHON=(
        "call(context, record): the callback of PROCESS_PYTHON_KERNEL, within the context that "
        "the run carries."
    ),
    CALLER="REQUEST_CALLER of the run that was started last, with a reference; or 0.",
    HELD=("Bytes that native code has from the system, on a line of its own: threads count here."),
    MEMORY_LIMIT=line("What PROCESS_HELD may grow to for queues without a limit of their own."),
    TRIMMING="1 while a thread gives slabs back.",
    STOCK="Slabs for when the system has no memory: a stack that is taken whole.",
    STOCKED="How many slabs are in the stock.",
    RESUMING=(
        "Threads that slept in compiled code until an object was resolved, which it is, and do "
        "not run yet."
    ),
    TRIM_NEXT=(
        "Until the clock says this, the end of a run gives no slabs back. Written by the thread "
        "that has done so."
    ),
    DEPOT=line("Batches of free blocks, one stack per size class, which is taken whole."),
    LOGS=at(456, "The newest ring of events, which links the others."),
    WATCHED="How many runs are watched.",
    CHOOSE=(
        "choose(context, 0) -> task or 0: takes one out of CONTEXT_PENDING, for queues with "
        "QUEUE_CHOOSE."
    ),
    PYTHON="What native code knows of CPython: PYTHON_ENSURE and the others.",
    OVER=(
        "Runs of which nothing is left and that Python has not forgotten: a stack that is taken "
        "whole."
    ),
    RUNS="The number of the last run that has started.",
    OBJECTS="How many Python objects payloads refer to; written with the GIL only.",
    LEFT=(
        "Slabs that threads have left before they were cut up, one stack per size class, which "
        "is taken whole."
    ),
)
KEPT_AT_REST = 64 << 20
"""Bytes that native code may hold while no run exists; free slabs beyond that go to the system."""
TRIM_PAUSE = 16
"""Duration of the pause after a trim, in durations of the trim.

Applies to a trim at rest that left more than KEPT_AT_REST.
"""
INTERRUPT_CANCELLED, INTERRUPT_SIGNAL = 1, 2

# Context: one per thread that runs native code.  It is also the frame of the kernel that the thread
# runs.  Only the thread that owns the context writes it; Python reads some words from other
# threads, such as CONTEXT_EPOCH and _MADE.
_struct(
    "CONTEXT",
    size=1024,
    PROCESS="",
    QUEUE="",
    WORKER=("Number of the worker in its queue, or -1 for a thread that does not work for it now."),
    DEQUE="",
    READY="First entry of the stack of ready kernels: (activation, record) pairs.",
    READY_TOP="",
    READY_LIMIT="",
    WAITERS="Waiters of values that were published on this thread and have not run yet.",
    PUBLISHING="",
    ARGUMENTS="",
    RESULTS="",
    FRAME_LIMIT="How many arguments, and how many results, the frame has room for.",
    ACTIVATION="",
    RECORD="The kernel that runs, or has run last; 0 while a call from outside begins.",
    MADE=(
        "AsyncValues made on this thread; with CONTEXT_DROPPED of all threads, how many are alive."
    ),
    DROPPED="",
    RANDOM="",
    NUMBER=at(144, "Number of the thread in the process, for the board."),
    BLOCKING=at(160, "The blocking pool."),
    STARTED="When the present kernel started, if its run is slowed down.",
    REQUEST="The request of the present kernel or task.",
    EPOCH=(
        "The activity epoch: odd while the thread may run kernels, even while it sleeps or is "
        "away; only grows."
    ),
    FREE="Heads of the free lists, one word per size class; then as many counts.",
    FREE_COUNT=at(328),
    FAILURE=at(
        464,
        "Why the compiled function that returns on this thread failed: an error value, or 0.",
    ),
    NESTED="Coroutines that continue inside of each other on this stack.",
    AWAITED="The object that compiled code on this thread waits for, or 0.",
    SPAWNED=at(
        496,
        "Coroutines put into the queue since this thread last took a task from there itself.",
    ),
    PENDING=at(
        488,
        "The first of the tasks that only this thread knows, which it runs in their order; or 0.",
    ),
    PENDING_LAST=at(504, "The last of them, if there is one."),
    DEADLINE="When the thread has to go back to Python, by the clock; 0 if it need not.",
    RUN="The number of the run that compiled code on this thread is part of, or 0.",
    LOG="The ring of events of this thread, or 0 until it writes its first one.",
    MAIN="1 if the thread is the process's main one, which sees signals.",
    PYTHON=(
        "Address of CPython's interface while the thread works and has the GIL, which it releases "
        "for work that lasts; else 0."
    ),
    THREAD="What PYTHON_SAVE returned when the thread released the GIL.",
    SEEKING_UNTIL=(
        "Until when the thread, if it has nothing to do, searches for work without sleeping."
    ),
    LEAVES=(
        "LEAVES_UNKNOWN while the thread waits for a result, HAS_LEFT once it met a kernel that "
        "it leaves to workers; else 0."
    ),
    SPARE="A full batch per size class, or 0.",
    CARVE=at(
        712,
        "Where the next block of each size class is cut from this thread's slab; then where "
        "that ends.",
    ),
    CARVE_END=at(848),
    REFUSED=at(
        984,
        "Bytes that compiled code on this thread was refused, until an operation that has a "
        "place says so.",
    ),
    AWAITED_AT="The record of the operation that waits for CONTEXT_AWAITED, or 0.",
)
FREE_CLASSES = 17
BATCH_CELLS = 4096
"""Capacity of a full free list, in cells.

A thread keeps one more full batch of each size class.
"""
IDLE_CELLS = 64
"""Free lists of this many cells are too long for an idle thread.

A thread that goes to sleep, or whose run is over, hands them over.
"""
LEAVES_UNKNOWN = 1
HAS_LEFT = 2

# Slab: blocks of one size class, taken from the system in one piece and aligned to its size.
SLAB_SIZE = 1 << 16
SLAB_ROOM = SLAB_SIZE - 16
"""Bytes to allocate: with the header of the C library's allocator, slabs then lie side by side."""
_struct(
    "SLAB",
    NEXT="",
    CARVED="How many blocks were cut from it.",
    FREE="How many of them the thread that trims has found free; 0 in between.",
    OPEN=(
        "1 while blocks may be cut from it: by the thread that has it, or that takes it from "
        "PROCESS_LEFT."
    ),
    LIST="Those blocks, while a thread trims.",
    LINK=(
        "The next one of PROCESS_LEFT. Not SLAB_NEXT, which a thread that trims writes meanwhile."
    ),
    PLACE="Where the next block is cut, while it is in PROCESS_LEFT.",
    BLOCKS=line(),
)

# Batch: free blocks of one size class, linked by VALUE_NEXT.  The first block holds:
_struct(
    "BATCH",
    COUNT="",
    NEXT="The next batch of the depot.",
)

# Messages that native code reports by number.
MESSAGE_NO_RESULT, MESSAGE_POOL_FULL, MESSAGE_CASE_RANGE = range(3)
(MESSAGE_FAIL, MESSAGE_FAIL_ASYNC, MESSAGE_ERROR_CHAIN, MESSAGE_NEGATIVE_COUNT) = range(4, 8)
MESSAGE_WRONG_TYPE = 8
MESSAGE_QUIET_FAIL = 9
MESSAGE_TOO_DEEP = 10
MESSAGE_NOT_READY = 11
MESSAGE_NO_MEMORY = 12
FIRST_FAILURE = 32
"""First of the numbers for errors of scalar operations, in the order of `scalars.FAILURES`."""

# Request: what belongs to one run of a program.  It outlives its activations: Python owns it.  If a
# call from Python starts with payloads (`python_calls`), its words are followed by
#
#     for each argument: the type of its payload, and two words of payload;
#                        or IS_VALUE, and an AsyncValue
#     for each result:   its AsyncValue, with a reference that is Python's
IS_VALUE = -1
ARGUMENT_WORDS = 3
_struct(
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
"""Which functions may be machine code: hot ones; none; all that can be."""

# Kept: what a watch records of a register apart from the events, which may be overwritten.
_struct(
    "KEPT",
    size=24,
    VALUE="The latest value that is more than a word or an error, with a reference; or 0.",
    COUNT="How often the register was set.",
    WORD="The payload that it was set to last, or by one of several threads at the same time.",
)

# Watch: state of one run whose events are logged.
_struct(
    "WATCH",
    size=128,
    RUN="The run's number in its events, 16 bits.",
    VALUES=(
        "Address of a table of addresses, one per function, of KEPT_SIZE bytes per register; or 0."
    ),
    SLOW="How long a kernel lasts, in thousandths of what it takes; 0 for as long as it takes.",
    PROGRAM=(
        "Upper half of the handles of its program: calls of others, within the run, have no "
        "numbers in the log."
    ),
    INSTANCES=line("The next number of an activation or iteration, on a line of its own."),
)

# Log: a ring of events that one thread writes and one thread reads.
_struct(
    "LOG",
    HEAD="Events written ever.",
    NEXT="The next ring of the process.",
    OWNER="The context that writes, or 0.",
    QUEUE="The work queue of that context, or of the last one.",
    TAIL=line("Events read or lost ever."),
    LOST="",
    SKIP="",
    RECORDS=line(),
)
LOG_CAPACITY = 1 << 15
LOG_RECORD = 32
LOG_KINDS = (
    *("call", "enqueue", "steal", "begin", "end", "available", "error", "skipped", "cancelled"),
    *("park", "wake", "create", "start", "suspend", "resume", "emplace", "fail", "return"),
    *("block", "enter", "leave"),
)
"""Kinds of events, in this order.

A function or an iteration starts, a kernel becomes a task, a thread steals a task of another, a
kernel starts, returns; a value is available, is an error, its kernel was skipped or not started; a
thread sleeps, wakes up; an object of compiled code is made, a task starts, suspends, resumes; an
object is resolved, or fails; a function or an iteration returns; a block of compiled code starts;
compiled code calls a function, returns from it.
"""
(
    LOG_CALL,
    LOG_ENQUEUE,
    LOG_STEAL,
    LOG_BEGIN,
    LOG_END,
    LOG_AVAILABLE,
    LOG_ERROR,
    LOG_SKIPPED,
    LOG_CANCELLED,
    LOG_PARK,
    LOG_WAKE,
    LOG_CREATE,
    LOG_START,
    LOG_SUSPEND,
    LOG_RESUME,
    LOG_EMPLACE,
    LOG_FAIL,
    LOG_RETURN,
    LOG_BLOCK,
    LOG_ENTER,
    LOG_LEAVE,
) = range(len(LOG_KINDS))

# Function: a decoded BEF function, made once when it is loaded.
_struct(
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
"""FUNCTION_IN_ORDER: a sync function; its kernels run one after the other (`calls.in_order`)."""
IN_ORDER_WORDS = 16
"""Bytes at the end of such an activation: its position, and the error that ends it, or 0."""
RESUMES = 1
"""Added to the position: the record is next.  Otherwise, its kernel runs."""

# Record: a kernel of a decoded function.
_struct(
    "RECORD",
    KERNEL="",
    ARGUMENTS="",
    RESULTS="",
    FLAGS="",
    DATA="Attributes as words, and what else the kernel asked the decoder for.",
    FUNCTIONS="Addresses of the functions among its attributes and regions.",
    HANDLE="Number of the kernel in Python's table: name, location, Python callable.",
    SLOTS="Address of the table of result slots, after the registers.",
    READY="Offset of its ready count in the activation.",
    WAITS=(
        "Non-strict: address of how many arguments are strict, and the references that each "
        "argument register needs; else 0."
    ),
    REGISTERS="Offsets of the argument registers in the activation, one word each.",
)

KERNEL_NONSTRICT = 1
"""Runs when one argument is available; other arguments may be unavailable or errors."""
KERNEL_CONTROL = 2
"""Owns its arguments, and delivers its results itself."""
KERNEL_RAW = 4
"""Sees the values in its registers as they are, including indirect ones."""
KERNEL_HEAVY = 8
"""Worth another worker: waking one costs less than running the kernel."""
KERNEL_BLOCKING = 32
"""Runs in the blocking pool."""
KERNEL_WIDE = 64
"""Has more arguments or results than every frame has room for."""
KERNEL_SMALL = 128
"""Two arguments, one result, and no other flag: the run loop has a short path for it."""
KERNEL_LASTING = 512
"""May take long, though no worker is woken for it: machine code with loops or calls."""
KERNEL_MEASURED = 256
"""Heavy depending on its arguments: the kernel decides, and if so shares other ready work."""
KERNEL_UNKNOWN = 1024
"""A Python function that has not been quick yet.

A waiting thread leaves it to workers, if the queue has any.
"""
FRAME_ROOM = 32
"""Arguments, and results, that every frame has room for."""

# Slot: where a result goes.  Its header is followed by the users, then the returns; the decoder
# makes it.
_struct(
    "SLOT",
    REGISTER="Offset of the register in the activation.",
    REFERENCES="References that the register needs: one per use by a kernel, one per return.",
    SPECIAL=(
        "Not 0 when there is more to do than to count down users: a return, a non-strict reader."
    ),
    USERS="",
    RETURNS="",
    LISTS="Then (record, ready offset, weight) per user, then a result number per return.",
)
USER_SIZE = 24

# Machine: a function that may become machine code.  Python writes MACHINE_CODE once, when it is
# hot, and MACHINE_LOOP before it.
_struct(
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
"""Value of MACHINE_LEFT: the function cannot be compiled."""
MACHINE_HOT, MACHINE_LOOK = range(2)
"""Events for Python.

MACHINE_HOT: the function with that number is hot.  MACHINE_LOOK: the time is over, and a run asks
whether to continue.
"""

# Attempt: one call of machine code.
_struct(
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
_struct(
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
"""Its kernels are counted in REQUEST_KNOWN, and its start is in the log of a watched run."""
MAX_NESTED = 1 << 27
"""Bytes of nested activations beyond which a recursion ends in an error.

Its values may take ten times as much.
"""

RETURN_CALL, RETURN_ROOT, RETURN_LOOP, RETURN_JOIN = range(4)

# Loop: the state of repeat and while between two iterations.  Threads that deliver results of the
# body write its table; the thread that ends the body's activation does everything else.
_struct(
    "LOOP",
    CALLER="",
    RECORD="",
    FUNCTION="",
    LEFT="Iterations left for repeat; -1 for while.",
    VALUES="Number of loop values.",
    CONDITION="The value that decides about the next iteration of while, or 0.",
    TABLE=line("The loop values, then room for a copy of them."),
)

# Join: counts the blocks of a parallel loop.  LEFT counts each block, and each chain that a block
# has returned until the chain is resolved.
_struct(
    "JOIN",
    size=64,
    CALLER="",
    RECORD="",
    LEFT="",
    ERROR="",
)

# Benchmark: the state of `tfrt_test.benchmark` between two runs.
_struct(
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

# Tensor: dense elements, or a shape if it has no data.  AsyncValues and Python objects hold
# references.
_struct(
    "TENSOR",
    REFERENCES="",
    ELEMENT=(
        "Its elements' type as the type of a payload; bool is TYPE_I1, one byte each. 0 for a "
        "shape."
    ),
    RANK="",
    COUNT="How many elements.",
    DATA="",
    OWNER=(
        "Handle of the Python object that the elements live as long as; 0 if they are the store's."
    ),
    STORE="",
    BYTES="Size of the store's memory; of an owner's memory 0, or READ_ONLY.",
    SIZES="",
)
READ_ONLY = -1
"""Value of TENSOR_BYTES: the memory must not be written.

It may be in pages that the system protects.
"""

# Store: memory of tensors, kept by size for later tensors.
STORE_CLASSES = 180
SLOTS_PER_CLASS = 64
SMALLEST_BLOCK_BITS = 6
LARGEST_KEPT_BITS = 25
"""Larger blocks are freed at once.

Of the blocks of one class, at most this power of two bytes are kept.
"""
_struct(
    "STORE",
    table=8 * STORE_CLASSES * SLOTS_PER_CLASS,
    TENSORS="How many tensors and shapes are alive.",
    PROCESS=line("The process whose budget its blocks are counted in."),
    SLOTS=line("For each class of sizes, addresses of free blocks, 0 for an empty slot."),
)

# Work queue.
_struct(
    "QUEUE",
    size=384,
    INJECTED="Tasks from outside: a stack that consumers take whole.",
    ORDERED=(
        "Without workers: tasks that a thread has put back, oldest first. They are older than "
        "all others, and are taken whole."
    ),
    EPOCH=line("Changes whenever a sleeper should check again; a futex word."),
    SLEEPERS=(
        "Threads that sleep: in the low half those that no wake-up is on its way to, in the "
        "high half the others."
    ),
    SEEKERS="Threads that search for work without sleeping.",
    RESTING="Threads that leave the tasks of others to them for a while.",
    WORKERS=line(),
    DEQUES="Address of the table of deques, one per worker.",
    STOP="",
    ASYNC=at(200, "The state of compiled programs that run on the queue, or 0."),
    MEMORY_LIMIT=(
        "What PROCESS_HELD may grow to on behalf of this queue's programs, or 0: the process's "
        "limit."
    ),
    STARTED=line(
        "Calls from outside that no thread has started: a stack that consumers take whole.",
    ),
    TAKEN="How often a thread took that stack.",
    NAPPING="Workers that will check that stack when their nap is over.",
    WAITING="Sleepers that wait for a word to become 0; the others only wait for tasks.",
    WATCHERS="Threads that wait for a word to become 0 and take no tasks.",
    NEWS="Changes whenever such a word may have become 0; a futex word.",
    CHOOSE=(
        "Not 0: each ready kernel is a task, and PROCESS_CHOOSE says which task is next. "
        "Without workers. Memory that a program has not written is full of this word, but for "
        "its lowest bit."
    ),
    HOST="1 while a thread that is no worker has the deque for those.",
    ASIDE="Not 0 while a thread that waits must not work without asking Python.",
    THREAD=(
        "The thread, as CPython knows it, that QUEUE_CONTEXT is the context of; 0 after that "
        "has changed. With the GIL."
    ),
    CONTEXT="",
    FIND="The Python function that says what the context of its thread is.",
    TURN=(
        "How many runs the thread still starts in which it releases the GIL now and then; 0 "
        "if no other one starts runs."
    ),
)
SLEEPERS_NOTIFIED = 1 << 32
"""Adds one thread to the high half."""

# Deque (Chase-Lev, see `queues.tasks`): the owner pushes and pops at the bottom; thieves take from
# the top.  Only the owner writes BOTTOM and the table; TOP only grows, by compare-and-swap.  They
# are on different cache lines.
DEQUE_CAPACITY = 1024
_struct(
    "DEQUE",
    table=8 * DEQUE_CAPACITY,
    TOP="",
    BOTTOM=line(),
    TASKS=line(),
)

# Blocking pool: a ring for many producers and many consumers.
_struct(
    "POOL",
    HEAD="",
    TAIL=line(),
    EPOCH=line("A futex word that changes with every task."),
    IDLE="",
    THREADS="",
    LIMIT="Most threads that the pool may have.",
    STOP="",
    CAPACITY="",
    DONE=line("How many tasks have been run; with POOL_TAIL, how many are not."),
    CELLS=line("Then (sequence, task) per place."),
)
