"""The kinds of machines for which the core is built.

The core's IR is the same for all of them: a word has 64 bits, and an address is a word.  A
`Machine` has the LLVM IR that differs: the C library functions that `lowering` calls, and the
thread functions of `native.threads`.

In WebAssembly, pointers have 32 bits, and a call traps unless its type is exactly the type of the
called function.  Therefore, adapters (`python_api`) connect the core to CPython there.

`native.machine` tells which of these machines this process runs on.
"""

from dataclasses import dataclass

from tfrt_runtime.native import machine, threads

_LIBC = """
declare i64 @memalign(i64, i64)
declare void @free(i64)
declare i32 @madvise(i64, i64, i32)
declare i64 @memcpy(i64, i64, i64)
declare i64 @memset(i64, i32, i64)
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_getcpu()
declare i64 @syscall(i64, ...)
declare ptr @llvm.frameaddress.p0(i32)
define i64 @tfrt_allocate(i64 %alignment, i64 %size) alwaysinline {{
  %address = call i64 @memalign(i64 %alignment, i64 %size)
  ret i64 %address
}}
define void @tfrt_release(i64 %address) alwaysinline {{
  call void @free(i64 %address)
  ret void
}}
define void @tfrt_discard(i64 %address, i64 %size) alwaysinline {{
  %status = call i32 @madvise(i64 %address, i64 %size, i32 {dont_need})
  ret void
}}
define void @tfrt_copy(i64 %target, i64 %source, i64 %size) alwaysinline {{
  %done = call i64 @memcpy(i64 %target, i64 %source, i64 %size)
  ret void
}}
define void @tfrt_clear(i64 %target, i64 %size) alwaysinline {{
  %done = call i64 @memset(i64 %target, i32 0, i64 %size)
  ret void
}}
define i32 @tfrt_read_clock(i32 %clock, ptr %time) alwaysinline {{
  %status = call i32 @clock_gettime(i32 %clock, ptr %time)
  ret i32 %status
}}
define i32 @tfrt_processor() alwaysinline {{
  %number = call i32 @sched_getcpu()
  ret i32 %number
}}
define ptr @tfrt_frame() alwaysinline {{
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
  ret ptr %frame
}}
define void @tfrt_pause() alwaysinline {{
  call void @{pause}
  ret void
}}
define i64 @tfrt_futex(i64 %address, i64 %operation, i64 %value, i64 %time) alwaysinline {{
  %done = call i64 (i64, ...)
    @syscall(i64 {futex}, i64 %address, i64 %operation, i64 %value, i64 %time)
  ret i64 %done
}}
define i64 @tfrt_ticks() alwaysinline {{
  %now = call i64 {ticks}
  ret i64 %now
}}
declare void @{declared}
declare i64 @llvm.readcyclecounter()
declare i64 @llvm.read_volatile_register.i64(metadata)
!0 = !{{!"cntvct_el0"}}
"""
MADV_DONTNEED = 4

_PAGE_LIBC = """
declare ptr @memalign(i32, i32)
declare void @free(ptr)
declare i32 @clock_gettime(i32, ptr)
declare ptr @llvm.stacksave.p0()
define i64 @tfrt_allocate(i64 %alignment, i64 %size) {
  %large = icmp ugt i64 %size, 2147483647
  br i1 %large, label %no, label %yes
no:
  ret i64 0
yes:
  %a = trunc i64 %alignment to i32
  %s = trunc i64 %size to i32
  %p = call ptr @memalign(i32 %a, i32 %s)
  %w = ptrtoint ptr %p to i64
  ret i64 %w
}
define void @tfrt_release(i64 %address) {
  %p = inttoptr i64 %address to ptr
  call void @free(ptr %p)
  ret void
}
define void @tfrt_discard(i64 %address, i64 %size) alwaysinline {
  ret void
}
; The engine runs a memory.copy or memory.fill as a call of C, which takes longer than storing a
; few words.  The accesses are volatile, because LLVM would turn the loops into these instructions.
define void @tfrt_copy(i64 %target, i64 %source, i64 %size) alwaysinline {
entry:
  %t = inttoptr i64 %target to ptr
  %f = inttoptr i64 %source to ptr
  %s = trunc i64 %size to i32
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %i, %s
  br i1 %more, label %body, label %done
body:
  %from = getelementptr inbounds nuw i8, ptr %f, i32 %i
  %to = getelementptr inbounds nuw i8, ptr %t, i32 %i
  %word = load volatile i64, ptr %from
  store volatile i64 %word, ptr %to
  %next = add nuw i32 %i, 8
  br label %head, !llvm.loop !0
done:
  ret void
}
define void @tfrt_clear(i64 %target, i64 %size) alwaysinline {
entry:
  %t = inttoptr i64 %target to ptr
  %s = trunc i64 %size to i32
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i32 %i, %s
  br i1 %more, label %body, label %done
body:
  %to = getelementptr inbounds nuw i8, ptr %t, i32 %i
  store volatile i64 0, ptr %to
  %next = add nuw i32 %i, 8
  br label %head, !llvm.loop !2
done:
  ret void
}
; A time has 64 bits of seconds, and 32 of nanoseconds.
define i32 @tfrt_read_clock(i32 %clock, ptr %time) {
  %status = call i32 @clock_gettime(i32 %clock, ptr %time)
  %place = getelementptr i8, ptr %time, i32 8
  %short = load i32, ptr %place
  %nanoseconds = zext i32 %short to i64
  store i64 %nanoseconds, ptr %place
  ret i32 %status
}
define i32 @tfrt_processor() alwaysinline {
  ret i32 0
}
define ptr @tfrt_frame() alwaysinline {
  %frame = call ptr @llvm.stacksave.p0()
  ret ptr %frame
}
define void @tfrt_pause() alwaysinline {
  ret void
}
; There is one thread: no thread is woken, and the thread does its other work, in Python, while
; it waits.
@idle = internal global ptr null
define i64 @tfrt_set_idle(i64 %function) {
  %pointer = inttoptr i64 %function to ptr
  store ptr %pointer, ptr @idle
  ret i64 0
}
define i64 @tfrt_futex(i64 %address, i64 %operation, i64 %value, i64 %time) noinline {
  %wakes = icmp eq i64 %operation, 129
  %idle = load ptr, ptr @idle
  %unset = icmp eq ptr %idle, null
  %none = or i1 %wakes, %unset
  br i1 %none, label %done, label %check
check:
  %word = inttoptr i64 %address to ptr
  %now = load i32, ptr %word
  %expected = trunc i64 %value to i32
  %equal = icmp eq i32 %now, %expected
  br i1 %equal, label %wait, label %done
wait:
  %limited = icmp ne i64 %time, 0
  br i1 %limited, label %limit, label %call
limit:
  %place = inttoptr i64 %time to ptr
  %seconds = load i64, ptr %place
  %rest.place = getelementptr i8, ptr %place, i32 8
  %rest = load i64, ptr %rest.place
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  br label %call
call:
  %left = phi i64 [ -1, %wait ], [ %sum, %limit ]
  %said = call i64 %idle(i64 %left)
  ret i64 0
done:
  ret i64 0
}
@time.place = internal global [2 x i64] zeroinitializer
define i64 @tfrt_ticks() {
  %status = call i32 @tfrt_read_clock(i32 1, ptr @time.place)
  %seconds = load i64, ptr @time.place
  %rest.place = getelementptr i8, ptr @time.place, i32 8
  %rest = load i64, ptr %rest.place
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.runtime.disable"}
!2 = distinct !{!2, !1}
"""

_ONE_THREAD = f"""
{threads.COMMON.format(kind="")}
declare i32 @emscripten_stack_get_end()
define i64 @{threads.STACK_LIMIT}() {{
  %end = call i32 @emscripten_stack_get_end()
  %word = zext i32 %end to i64
  %limit = add i64 %word, {threads.RESERVE // 2}
  ret i64 %limit
}}
"""
"""LLVM IR for a web page, instead of `threads.CODE`.

A page has one thread, whose context is a global variable.
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of machine for which the core is built.

    The core uses only instructions of the baseline processor `cpu`, so it runs on all machines of
    this kind.
    """

    name: str
    triple: str
    """LLVM's name for the machine."""
    cpu: str
    libc: str
    """The functions that `lowering` calls, as LLVM IR."""
    threads: str
    """The functions of `native.threads`, as LLVM IR."""
    linker: str
    """The name of the LLVM linker for the machine's object files."""
    flags: tuple[str, ...]
    features: str = ""
    inlined: frozenset[str] = frozenset()
    """The functions that are always inlined here, in addition to `memory.INLINE`."""

    @property
    def has_wide_pointers(self) -> bool:
        """Whether a pointer has as many bits as a word."""
        return machine.POINTER_BITS[self.name] == 64


def _linux(name: str, cpu: str, pause: str, declared: str, futex: int, ticks: str) -> Machine:
    """Return a machine that runs Linux and glibc.

    `pause` is the call of the spin-wait hint, and `declared` is its declaration.  `futex` is the
    number of that system call.  `ticks` is the call that reads a clock shared by all threads.  On
    AArch64, that clock cannot be the cycle counter, which programs are not allowed to read.
    """
    code = _LIBC.format(
        pause=pause, declared=declared, futex=futex, ticks=ticks, dont_need=MADV_DONTNEED
    )
    flags = ("-shared", "--strip-all", "--hash-style=gnu", "-z", "now", "-z", "noexecstack")
    return Machine(name, f"{name}-unknown-linux-gnu", cpu, code, threads.CODE, "ld.lld", flags)


X86_64 = _linux(
    "x86_64",
    "x86-64",
    "llvm.x86.sse2.pause()",
    "llvm.x86.sse2.pause()",
    202,
    "@llvm.readcyclecounter()",
)
AARCH64 = _linux(
    "aarch64",
    "generic",
    "llvm.aarch64.hint(i32 1)",
    "llvm.aarch64.hint(i32)",
    98,
    "@llvm.read_volatile_register.i64(metadata !0)",
)
WASM32 = Machine(
    machine.PAGE,
    "wasm32-unknown-emscripten",
    "generic",
    _PAGE_LIBC,
    _ONE_THREAD,
    "wasm-ld",
    ("-shared", "--experimental-pic", "--unresolved-symbols=import-dynamic", "--strip-all"),
    "+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals",
    # Each iteration of a loop calls these.  A call takes longer here: the engine checks the stack,
    # and keeps no register across calls.
    frozenset(
        f"tfrt_runtime.native.calls.{name}"
        for name in (
            "activation.start_iteration",
            "delivery.return_value",
            "machine_calls.finish_loop",
        )
    ),
)
MACHINES = {one.name: one for one in (X86_64, AARCH64, WASM32)}
