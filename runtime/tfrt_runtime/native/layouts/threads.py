"""The structs of threads: process, contexts, work queues, event logs, and free memory."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# Entry of a ready stack: the meanings of the low bits in its first word.
READY_KERNEL, READY_DELIVERY, READY_END, READY_JOIN = 0, 1, 2, 4
READY_BITS = 7

# Task: a function call for the work queue. It is called as `function(context, task)`, and frees the
# cell.
struct(
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

# Process: the state of the process, with the addresses of Python callbacks.
struct(
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
"""How many bytes native code may hold while no run exists.

Free slabs beyond that are returned to the system.
"""
TRIM_PAUSE = 16
"""The duration of the pause after a trim, as a multiple of the duration of the trim.

This applies to a trim at rest that left more than KEPT_AT_REST.
"""
INTERRUPT_CANCELLED, INTERRUPT_SIGNAL = 1, 2

# Context: one per thread that runs native code. It is also the frame of the kernel that the thread
# is running. Only the thread that owns the context writes it; Python reads some words, such as
# CONTEXT_EPOCH and _MADE, from other threads.
struct(
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
"""The capacity of a full free list, in cells.

A thread keeps one more full batch of each size class.
"""
IDLE_CELLS = 64
"""Free lists with this many cells are too long for an idle thread.

A thread that goes to sleep, or whose run is over, hands lists of this length over.
"""
LEAVES_UNKNOWN = 1
HAS_LEFT = 2

# Slab: blocks of one size class, taken from the system as one piece and aligned to its size.
SLAB_SIZE = 1 << 16
SLAB_ROOM = SLAB_SIZE - 16
"""The number of bytes to allocate for a slab.

This leaves room for the header of the C library's allocator, so that slabs are adjacent.
"""
struct(
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
struct(
    "BATCH",
    COUNT="",
    NEXT="The next batch of the depot.",
)

# Kept: the words of a register that a watch records separately from the events, because events may
# be overwritten.
struct(
    "KEPT",
    size=24,
    VALUE="The latest value that is more than a word or an error, with a reference; or 0.",
    COUNT="How often the register was set.",
    WORD="The payload that it was set to last, or by one of several threads at the same time.",
)

# Watch: the state of one run whose events are logged.
struct(
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
struct(
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
"""The kinds of events, in this order.

A function or an iteration starts, a kernel becomes a task, a thread steals a task from another
thread, a kernel starts, or returns; a value is available, or is an error; a kernel was skipped, or
was not started; a thread goes to sleep, or wakes up; an object of compiled code is made, a task
starts, suspends, or resumes; an object is resolved, or fails; a function or an iteration returns; a
block of compiled code starts; compiled code calls a function, or returns from it.
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

# Work queue.
struct(
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
        "How many runs the thread still starts in which it releases the GIL now and then; 0 if "
        "no other one starts runs."
    ),
)
SLEEPERS_NOTIFIED = 1 << 32
"""Adds one thread to the high half of the word."""

# Deque (Chase-Lev, see `queues.tasks`): the owner pushes and pops at the bottom; thieves take from
# the top. Only the owner writes BOTTOM and the table; TOP only grows, by compare-and-swap. BOTTOM
# and TOP are on different cache lines.
DEQUE_CAPACITY = 1024
struct(
    "DEQUE",
    table=8 * DEQUE_CAPACITY,
    TOP="",
    BOTTOM=line(),
    TASKS=line(),
)

# Blocking pool: a ring with many producers and many consumers.
struct(
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
