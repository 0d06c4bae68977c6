"""The structs of threads: process, contexts, work queues, event logs, and free memory."""

from tfrt_runtime.native.layouts.declared import at, line, struct

# The low bits of the first word of a ready stack's entry say what the entry is.
READY_KERNEL, READY_DELIVERY, READY_END, READY_ENTRIES, READY_JOIN = range(5)
# These bits of an address are 0, because blocks are aligned to cells.
READY_BITS = 7

# Task: a function call for a work queue. `function(context, task)` frees the task's cell.
struct(
    "TASK",
    NEXT="",
    FUNCTION="",
    FIRST="",
    SECOND="",
    THIRD="",
    ACTIVATION=(
        "The activation to which the task belongs, or 0. It is shared before another thread "
        "gets the task."
    ),
)

# Process: the state that all threads share. A field described as `name(...)` is the address of a
# Python function.
struct(
    "PROCESS",
    size=704,
    RELEASE_OBJECT="release(context, handle): drop a reference to the object of a payload.",
    PYTHON_KERNEL=(
        "The kernel `python_functions.run_framed`: run a Python kernel whose frame is in the "
        "context."
    ),
    REPORT_ERROR=(
        "report(context, record, message number): return an error value with one reference."
    ),
    PYTHON_WAITER=(
        "waiter(context, handle): call a callback of `and_then`, and release the handle."
    ),
    PRINT="print(context, record, number): print what the kernel prints for this number.",
    NEED_THREAD=("need_thread(context, pool): a blocking task is waiting, and no thread is idle."),
    REQUEST_DONE=("done(context, request, NOTIFY_PYTHON or NOTIFY_FORGET): the request is over."),
    RUN_ENTRY="The task function `executor.run_entry`.",
    RUN_BLOCKING="The task function `executor.run_blocking`.",
    MACHINE=("machine(context, MACHINE_HOT or MACHINE_LOOK, argument): see `calls.machine_calls`."),
    RUN_COROUTINE="The task function `async_awaiting.run_coroutine`.",
    MEMBER_RESOLVED="The waiter function `async_groups.member_resolved`.",
    ASYNC_EVENT=(
        "event(context, EVENT_*, argument): compiled code needs Python, or has made a mistake."
    ),
    RUN_ROOT="The task function `executor.run_root`.",
    RELEASE_TENSOR=(
        "release(context, tensor): drop a reference to the tensor or shape of a payload."
    ),
    INTERRUPTS=("INTERRUPT_* bits. Not 0 while loops of compiled code must check whether to stop."),
    CANCELLED_RUNS=(
        "A table of cancelled runs, or 0: the number of rows, then two words per row, the "
        "number of a run and the address of its `STOP_*` words."
    ),
    BUFFERS="The struct BUFFERS of `async_buffers`.",
    REFUSED=("refused(context, record or 0, bytes): a run that requests this memory must end."),
    RECLAIM="reclaim(process, _): free memory that is kept for later; return 0 if none was freed.",
    STORE="The store of memory for tensors, or 0.",
    RUN_ROWS="The task function `python_calls.run_rows`.",
    CALL_PYTHON=(
        "call(context, record): do the same as PROCESS_PYTHON_KERNEL, in the contextvars "
        "context that the run carries."
    ),
    CALLER="The REQUEST_CALLER of the run that was started last, with a reference; or 0.",
    HELD="How many bytes native code has taken from the system. All threads share this counter.",
    MEMORY_LIMIT=line("The limit of PROCESS_HELD for queues without a limit of their own."),
    TRIMMING="1 while a thread returns slabs to the system.",
    STOCK="A stack of slabs for when the system is out of memory. Threads take it whole.",
    STOCKED="How many slabs PROCESS_STOCK has.",
    RESUMING=(
        "How many threads of compiled code have been woken, because their object is resolved, "
        "but are not running yet, plus how many threads are in `python_functions.settle`."
    ),
    TRIM_NEXT=(
        "Until this time, the end of a run does not trim. Only the thread that trims writes it."
    ),
    DEPOT=line("For each size class, a stack of batches of free blocks. Threads take it whole."),
    LOGS=at(456, "The newest ring of events. The rings are linked."),
    WATCHED="How many runs are watched.",
    CHOOSE=(
        "choose(context, 0): take a task out of CONTEXT_PENDING and return it, or 0. For "
        "queues with QUEUE_CHOOSE."
    ),
    PYTHON="The struct PYTHON.",
    OVER=(
        "A stack of requests that are over and that Python has not forgotten. Threads take it "
        "whole."
    ),
    RUNS="The number of the last run that has started.",
    OBJECTS="How many Python objects payloads refer to. Written only with the GIL.",
    LEFT=(
        "For each size class, a stack of slabs that threads have left and that can still be "
        "cut. Threads take it whole."
    ),
)
KEPT_AT_REST = 64 << 20
"""How many bytes native code may hold while no run exists.

Free slabs beyond this limit are returned to the system.
"""
TRIM_PAUSE = 16
"""The duration of the pause after a trim, as a multiple of the trim's duration.

The pause follows a trim at rest that leaves more than KEPT_AT_REST.
"""
INTERRUPT_CANCELLED, INTERRUPT_SIGNAL = 1, 2

# Context: the state of one thread that runs native code, including the frame of the kernel that it
# is running. Only this thread writes it. Other threads read some words, such as CONTEXT_EPOCH and
# CONTEXT_MADE.
struct(
    "CONTEXT",
    size=1024,
    PROCESS="",
    QUEUE="",
    WORKER=(
        "The thread's number in its queue, or -1 if the thread does not work for the queue now."
    ),
    DEQUE="The thread's deque, or 0.",
    READY="The address of the ready stack: pairs (activation | READY_*, record).",
    READY_TOP="The address after the newest entry.",
    READY_LIMIT="The address after the stack's memory.",
    WAITERS="The waiters of values that this thread has resolved, except those that have run.",
    PUBLISHING="Not 0 while this thread runs waiters.",
    ARGUMENTS="The address of the current kernel's arguments.",
    RESULTS="The address of the current kernel's results.",
    FRAME_LIMIT="How many arguments, and how many results, the frame has room for.",
    ACTIVATION="The activation of the current kernel.",
    RECORD="The record of the current or last kernel; 0 while a root call starts.",
    MADE=(
        "How many values this thread has made. The sum over all threads, minus "
        "CONTEXT_DROPPED, is the number of live values."
    ),
    DROPPED="How many values this thread has destroyed.",
    RANDOM="The state of the thread's random number generator.",
    NUMBER=at(144, "The thread's number in the process, for the board."),
    BLOCKING=at(160, "The blocking pool."),
    STARTED="When the current kernel started, if its run is slowed down.",
    REQUEST="The request of the current kernel or task.",
    EPOCH=(
        "The activity epoch, which only grows: an odd number while the thread may run "
        "kernels, an even number while it sleeps or is away."
    ),
    FREE="The heads of the free lists, one word per size class.",
    FREE_COUNT=at(328, "The lengths of the free lists, one word per size class."),
    FAILURE=at(464, ("The error of the compiled function that is returning on this thread, or 0.")),
    NESTED="How many coroutines have resumed each other on this stack.",
    AWAITED="The object for which compiled code on this thread waits, or 0.",
    SPAWNED=at(
        496,
        (
            "How many coroutines this thread has put into the queue since it last took a task "
            "from there."
        ),
    ),
    PENDING=at(
        488,
        (
            "The first of the tasks that only this thread knows, or 0. The thread runs them in "
            "order."
        ),
    ),
    PENDING_LAST=at(504, "The last of these tasks, if there is one."),
    DEADLINE="When the thread must return to Python, in nanoseconds; 0 if it need not.",
    RUN="The number of the run for which compiled code works on this thread, or 0.",
    LOG="The thread's ring of events, or 0 before its first event.",
    MAIN="1 on the main thread of the process, which handles signals.",
    PYTHON=(
        "The struct PYTHON while the thread works with the GIL, which it releases for long "
        "work; else 0."
    ),
    THREAD="The result of PYTHON_SAVE when the thread released the GIL.",
    SEEKING_UNTIL="Until this time, the thread searches for work instead of sleeping.",
    LEAVES=(
        "LEAVES_UNKNOWN while the thread waits for a result. HAS_LEFT after it has left a "
        "kernel to the workers. Else 0."
    ),
    SPARE="For each size class, a full batch or 0.",
    CARVE=at(
        712,
        ("For each size class, the address at which the thread cuts the next block from its slab."),
    ),
    CARVE_END=at(848, "For each size class, the address at which the blocks of that slab end."),
    REFUSED=at(
        984,
        (
            "How many bytes compiled code on this thread was refused, until an operation with a "
            "location reports it."
        ),
    ),
    AWAITED_AT="The record of the operation that waits for CONTEXT_AWAITED, or 0.",
)
FREE_CLASSES = 17
BATCH_CELLS = 4096
"""The number of cells in a full free list.

A thread also keeps one full spare batch per size class.
"""
IDLE_CELLS = 64
"""The maximum number of cells in an idle thread's free list.

When a thread goes to sleep, or when its run is over, it hands longer lists over to other threads.
"""
LEAVES_UNKNOWN = 1
HAS_LEFT = 2

# Slab: a piece of memory from the system that is cut into blocks of one size class. It is aligned
# to its size.
SLAB_SIZE = 1 << 16
SLAB_ROOM = SLAB_SIZE - 16
"""The number of bytes that are allocated for a slab.

The rest is for the C library's allocation header, so that slabs are adjacent.
"""
struct(
    "SLAB",
    NEXT="",
    CARVED="How many blocks were cut from the slab.",
    FREE="How many of these blocks the thread that trims has found free; otherwise 0.",
    OPEN="1 while blocks may still be cut from the slab.",
    LIST="The free blocks of the slab, while a thread trims.",
    LINK=(
        "The next slab in PROCESS_LEFT. It cannot be SLAB_NEXT, which a thread that trims "
        "writes at the same time."
    ),
    PLACE="Where the next block is cut, while the slab is in PROCESS_LEFT.",
    BLOCKS=line(),
)

# Batch: a list of free blocks of one size class, linked by VALUE_NEXT.  The fields are in its first
# block.
struct(
    "BATCH",
    COUNT="How many blocks the batch has.",
    NEXT="The next batch in the depot.",
)

# Kept: what a watch keeps for one register, because the register's events may be overwritten.
struct(
    "KEPT",
    size=24,
    VALUE=(
        "The latest value that is an error or does not fit into a word, with a reference; or 0."
    ),
    COUNT="How often the register was set.",
    WORD=(
        "The first word of the register's latest value. If several threads set the register "
        "at the same time, of any of these values."
    ),
)

# Watch: the state of one watched run.
struct(
    "WATCH",
    size=128,
    RUN="The run's number in its events, 16 bits.",
    VALUES=(
        "The address of a table, or 0: for each function, the address of one struct KEPT per "
        "register."
    ),
    SLOW="By which factor kernels are slowed down, in thousandths; 0 for no slowdown.",
    PROGRAM=(
        "The upper half of the handles of the run's program. Functions of other programs are "
        "not logged."
    ),
    INSTANCES=line(
        "The number of the next activation or iteration. All threads share this counter."
    ),
)

# Log: a ring of events. One thread writes it, and one thread reads it.
struct(
    "LOG",
    HEAD="How many events were ever written.",
    NEXT="The next ring of the process.",
    OWNER="The context that writes the ring, or 0.",
    QUEUE="The work queue of the current or last owner.",
    TAIL=line("How many events were ever read or lost."),
    LOST="How many events were lost.",
    SKIP="How many of the first records that `log_drain` copied are torn.",
    RECORDS=line(),
)
LOG_CAPACITY = 1 << 15
LOG_RECORD = 32
LOG_KINDS = (
    *("call", "enqueue", "steal", "begin", "end", "available", "error", "skipped", "cancelled"),
    *("park", "wake", "create", "start", "suspend", "resume", "emplace", "fail", "return"),
    *("block", "enter", "leave"),
)
"""The names of the event kinds.  The LOG_* constants are their positions.

- call, return: start and end of a function or of an iteration
- enqueue, steal: a kernel becomes a task; a thread steals a task from another thread
- begin, end: start and return of a kernel
- available, error: a value becomes available, or an error
- skipped, cancelled: a kernel is skipped because of an error, or because its run is cancelled
- park, wake: a thread goes to sleep, or wakes up
- create, emplace, fail: an object of compiled code is made, becomes available, or fails
- start, suspend, resume: a task of compiled code starts, suspends, or resumes
- block, enter, leave: compiled code starts a block, calls a function, or returns from it
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

# Queue: a work queue.
struct(
    "QUEUE",
    size=384,
    INJECTED="A stack of tasks from threads without a deque. Threads take it whole.",
    ORDERED=(
        "In a queue without workers: tasks that a thread has put back, oldest first. They run "
        "before all others. Threads take the list whole."
    ),
    EPOCH=line("Changes whenever a sleeping thread should check for work. A futex word."),
    SLEEPERS=(
        "How many threads sleep. Low half: threads to which no wake-up is on its way. High "
        "half: the others."
    ),
    SEEKERS="How many threads are searching for work without sleeping.",
    RESTING="How many threads are not stealing tasks for a while.",
    WORKERS=line(
        "How many deques there are: one per worker, and one for other threads. 0 without workers."
    ),
    DEQUES="The address of the table of deques.",
    STOP="",
    ASYNC=at(200, "The struct ASYNC of the compiled programs on the queue, or 0."),
    MEMORY_LIMIT=(
        "The limit of PROCESS_HELD for this queue's programs, or 0 for the process's limit."
    ),
    STARTED=line("A stack of root calls that no thread has started. Threads take it whole."),
    TAKEN="How often a thread has taken QUEUE_STARTED.",
    NAPPING="How many workers will check QUEUE_STARTED when their nap is over.",
    WAITING=(
        "How many sleeping threads are waiting for a word to become 0. The others wait for tasks."
    ),
    WATCHERS="How many threads are waiting for a word to become 0 without taking tasks.",
    NEWS="Changes whenever such a word may have become 0. A futex word.",
    CHOOSE=(
        "Not 0 while schedules are explored: each ready kernel is a task, and PROCESS_CHOOSE "
        "selects the next task. Such a queue has no workers. New memory of programs is filled "
        "with this word, without its lowest bit."
    ),
    HOST="1 while a thread that is not a worker has the deque for such threads.",
    ASIDE="Not 0 while a waiting thread must call Python before it works.",
    THREAD=(
        "The CPython thread state of the thread that owns QUEUE_CONTEXT. 0 after a change of "
        "the context. Accessed with the GIL."
    ),
    CONTEXT="The context of that thread.",
    FIND="The Python function that returns the context of its thread.",
    TURN=(
        "In how many more runs the thread releases the GIL from time to time. 0 if no other "
        "thread starts runs."
    ),
)
SLEEPERS_NOTIFIED = 1 << 32
"""One thread in the high half of QUEUE_SLEEPERS."""

# Deque (Chase-Lev; see `queues.deques`). The owner pushes and pops at the bottom, and thieves take
# from the top. Only the owner writes BOTTOM and the table. TOP only grows, by compare-and-swap.
# BOTTOM and TOP are on different cache lines.
DEQUE_CAPACITY = 1024
struct(
    "DEQUE",
    table=8 * DEQUE_CAPACITY,
    TOP="",
    BOTTOM=line(),
    TASKS=line(),
)

# Pool: the blocking pool, a ring of tasks with many producers and many consumers.
struct(
    "POOL",
    HEAD="",
    TAIL=line(),
    EPOCH=line("Changes with every task. A futex word."),
    IDLE="How many threads of the pool are idle.",
    THREADS="How many threads the pool has.",
    LIMIT="How many threads the pool may have.",
    STOP="",
    CAPACITY="How many tasks fit into the ring.",
    DONE=line("How many tasks were run. POOL_TAIL minus this is the number of unfinished tasks."),
    CELLS=line("The ring: pairs (sequence, task)."),
)
