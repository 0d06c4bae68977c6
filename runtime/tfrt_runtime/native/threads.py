"""Global state of the core: each thread's context, the end of its stack, and the words of entries.

Compiled programs call the core without passing a context.  Two thread-local variables in the core
provide the context and the end of the stack.  These 16 bytes are at a fixed distance from the
thread pointer ("initial exec" in https://www.akkadia.org/drepper/tls.pdf), so reading a variable
takes two instructions.  Rejected alternative: the C library's thread-specific data, because reading
it takes twenty instructions, and a task reads the context ten times.  The code is LLVM IR because
Numba has no global variables.

An entry that Python sees as a function is bound to a Python integer, which is the address of the
words that the entry needs.  A global variable holds the CPython function that reads the integer.
The table of CPython functions cannot provide that function, because the table's address is itself
one of those words.
"""

START = "tfrt_threads_start"
"""A function that registers a callback, which returns a context for a thread that has none.

The thread calls the callback at each access.  It does not store the result, because no code would
clear the stored address when the context is freed.
"""

STACK_LIMIT = "tfrtAsyncStackLimit"
"""A function for compiled code that returns the end of the thread's stack plus RESERVE."""

READ_BOUND = "tfrt_read_bound"
"""A function that stores the address of PyLong_AsVoidPtr.

It is called once, before Python calls any entry.
"""

SET_IDLE = "tfrt_set_idle"
"""A function that registers the callback that a wait calls on a machine with only one thread.

The wait passes its duration in nanoseconds to the callback.
"""

EXPORTS = {START: 1, STACK_LIMIT: 0, READ_BOUND: 1, SET_IDLE: 1}
"""The functions that each machine defines in LLVM IR, with their parameter counts."""

RESERVE = 2**21
"""The number of bytes at the end of a stack that recursive programs must not use.

On a small stack, the reserve is a quarter of the stack instead.
"""

COMMON = f"""
@context = internal {{kind}} global i64 0
@new_context = internal global ptr null
@read_bound = internal global ptr null

define i64 @{START}(i64 %make) {{{{
  %function = inttoptr i64 %make to ptr
  store ptr %function, ptr @new_context
  ret i64 0
}}}}

define i64 @tfrt_thread_context() alwaysinline {{{{
  %known = load i64, ptr @context
  %is_new = icmp eq i64 %known, 0
  br i1 %is_new, label %make, label %done, !prof !0
make:
  %made = call i64 @make_context()
  ret i64 %made
done:
  ret i64 %known
}}}}

define internal i64 @make_context() noinline {{{{
  %make = load ptr, ptr @new_context
  %context = call i64 %make()
  ret i64 %context
}}}}

define i64 @tfrt_set_thread_context(i64 %new) alwaysinline {{{{
  %former = load i64, ptr @context
  store i64 %new, ptr @context
  ret i64 %former
}}}}

define i64 @{READ_BOUND}(i64 %function) {{{{
  %read = inttoptr i64 %function to ptr
  store ptr %read, ptr @read_bound
  ret i64 0
}}}}

define i64 @tfrt_bound_words(i64 %item) alwaysinline {{{{
  %read = load ptr, ptr @read_bound
  %words = call i64 %read(i64 %item)
  ret i64 %words
}}}}

!0 = !{{{{!"branch_weights", i32 1, i32 1000000}}}}
"""
"""The part of the IR that is the same on all machines; `kind` can make `context` thread-local."""

# glibc's pthread_attr_t has 56 bytes on x86-64 and 64 on AArch64, so 128 suffice. If the attributes
# cannot be read, the limit becomes 1: not 0, which means unknown, and so low that every stack seems
# to have room.
CODE = f"""
{COMMON.format(kind="thread_local(initialexec)")}
@stack_limit = internal thread_local(initialexec) global i64 0

declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i64 @llvm.umin.i64(i64, i64)

define i64 @{STACK_LIMIT}() {{
  %known = load i64, ptr @stack_limit
  %is_new = icmp eq i64 %known, 0
  br i1 %is_new, label %find, label %done, !prof !0
find:
  %found = call i64 @find_stack()
  ret i64 %found
done:
  ret i64 %known
}}

define i64 @{SET_IDLE}(i64 %function) {{
  ret i64 0
}}

define internal i64 @find_stack() noinline {{
  %attributes = alloca [128 x i8], align 16
  %start.place = alloca i64
  %size.place = alloca i64
  store i64 1, ptr %start.place
  store i64 0, ptr %size.place
  %self = call i64 @pthread_self()
  %status = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %is_known = icmp eq i32 %status, 0
  br i1 %is_known, label %known, label %done
known:
  %s = call i32 @pthread_attr_getstack(ptr %attributes, ptr %start.place, ptr %size.place)
  %d = call i32 @pthread_attr_destroy(ptr %attributes)
  br label %done
done:
  %start = load i64, ptr %start.place
  %size = load i64, ptr %size.place
  %quarter = lshr i64 %size, 2
  %reserve = call i64 @llvm.umin.i64(i64 %quarter, i64 {RESERVE})
  %limit = add i64 %start, %reserve
  store i64 %limit, ptr @stack_limit
  ret i64 %limit
}}
"""
