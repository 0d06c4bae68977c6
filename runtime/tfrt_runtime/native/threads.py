"""Global state of the core: each thread's context and stack end, and the words of its entries.

Compiled programs call the core without passing a context.  Two keys of the C library's
thread-specific data provide the context and the stack end in 2 ns.  Rejected alternative: LLVM's
own thread-local variables, because they need a dynamic loader, which objects loaded by MCJIT do not
have.  The code is LLVM IR because Numba has no global variables.

An entry of the core that is a Python function is bound to a Python integer, which is the address of
the words that the entry needs.  The table of CPython functions is one of these words, so it cannot
provide the function that reads the integer; a variable holds that function.
"""

START = "tfrt_threads_start"
"""Creates the key of contexts.

Its parameter is a function that provides the context for a thread that has none.  The function is
called at each access by such a thread.  If the thread kept the context instead, no code would
remove it from the thread when the context is freed.
"""

MEASURE_STACKS = "tfrt_measure_stacks"
"""Creates the key of stack ends; called once, before native code runs."""

STACK_LIMIT = "tfrtAsyncStackLimit"
"""Returns the end of the thread's stack plus RESERVE.  Compiled code calls it."""

READ_BOUND = "tfrt_read_bound"
"""Stores the address of PyLong_AsVoidPtr; called once, before Python calls an entry."""

SET_IDLE = "tfrt_set_idle"
"""Sets the function that a wait calls, with the wait's nanoseconds, on a machine with one
thread.
"""

EXPORTS = {START: 1, MEASURE_STACKS: 0, STACK_LIMIT: 0, READ_BOUND: 1, SET_IDLE: 1}
"""Functions that each machine defines, with their word counts."""

RESERVE = 2**21
"""The number of bytes at the end of a stack that recursive programs must not use.

On a small stack, the reserve is a quarter of the stack.
"""

BOUND = f"""
@read_bound = internal global ptr null
define i64 @{READ_BOUND}(i64 %function) {{
  %read = inttoptr i64 %function to ptr
  store ptr %read, ptr @read_bound
  ret i64 0
}}
define i64 @tfrt_bound_words(i64 %item) alwaysinline {{
  %read = load ptr, ptr @read_bound
  %words = call i64 %read(i64 %item)
  ret i64 %words
}}
"""
"""The part of `threads` that is the same on all machines."""

CODE = f"""
{BOUND}
@context_key = internal global i32 0
@stack_key = internal global i32 0
@new_context = internal global ptr null

declare i32 @pthread_key_create(ptr, ptr)
; Marked as reading only, so that LLVM drops the read of a former context that is not used.
declare ptr @pthread_getspecific(i32) nounwind willreturn memory(read)
declare i32 @pthread_setspecific(i32, ptr)
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i64 @llvm.umin.i64(i64, i64)

define i64 @{START}(i64 %make) {{
  %function = inttoptr i64 %make to ptr
  store ptr %function, ptr @new_context
  %status = call i32 @pthread_key_create(ptr @context_key, ptr null)
  %result = zext i32 %status to i64
  ret i64 %result
}}

define i64 @{MEASURE_STACKS}() {{
  %status = call i32 @pthread_key_create(ptr @stack_key, ptr null)
  %result = zext i32 %status to i64
  ret i64 %result
}}

define i64 @tfrt_thread_context() alwaysinline {{
  %key = load i32, ptr @context_key
  %known = call ptr @pthread_getspecific(i32 %key)
  %word = ptrtoint ptr %known to i64
  %is_new = icmp eq i64 %word, 0
  br i1 %is_new, label %make, label %done, !prof !0
make:
  %made = call i64 @make_context()
  ret i64 %made
done:
  ret i64 %word
}}

define internal i64 @make_context() noinline {{
  %make = load ptr, ptr @new_context
  %context = call i64 %make()
  ret i64 %context
}}

define i64 @tfrt_set_thread_context(i64 %context) alwaysinline {{
  %key = load i32, ptr @context_key
  %former = call ptr @pthread_getspecific(i32 %key)
  %pointer = inttoptr i64 %context to ptr
  %status = call i32 @pthread_setspecific(i32 %key, ptr %pointer)
  %word = ptrtoint ptr %former to i64
  ret i64 %word
}}

define i64 @{STACK_LIMIT}() {{
  %key = load i32, ptr @stack_key
  %known = call ptr @pthread_getspecific(i32 %key)
  %word = ptrtoint ptr %known to i64
  %is_new = icmp eq i64 %word, 0
  br i1 %is_new, label %find, label %done, !prof !0
find:
  %found = call i64 @find_stack(i32 %key)
  ret i64 %found
done:
  ret i64 %word
}}

define i64 @{SET_IDLE}(i64 %function) {{
  ret i64 0
}}

define internal i64 @find_stack(i32 %key) noinline {{
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
  %pointer = inttoptr i64 %limit to ptr
  %set = call i32 @pthread_setspecific(i32 %key, ptr %pointer)
  ret i64 %limit
}}

!0 = !{{!"branch_weights", i32 1, i32 1000000}}
"""
