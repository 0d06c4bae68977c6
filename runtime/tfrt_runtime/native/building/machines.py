"""What of the core depends on the processor: which there are, and some lines of LLVM IR for each.

The IR that Numba writes is the same for all of them: it calls `tfrt_pause`, `tfrt_futex` and
`tfrt_ticks`.
"""

from __future__ import annotations

from dataclasses import dataclass

_CODE = """
declare i64 @syscall(i64, ...)
define void @tfrt_pause() alwaysinline {{
  call void @{pause}
  ret void
}}
define i64 @tfrt_futex(i64 %address, i64 %operation, i64 %value, i64 %time) alwaysinline {{
  %done = call i64 (i64, ...) @syscall(i64 {futex}, i64 %address, i64 %operation, i64 %value, i64 %time)
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


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor that the core is made for; every one of its kind has what `cpu` names."""

    name: str
    cpu: str
    pause: str
    declared: str
    futex: int
    """The number of the system call."""
    ticks: str
    """What reads a clock that all threads agree on; the cycle counter of AArch64 is not for programs."""

    @property
    def triple(self) -> str:
        """What LLVM calls it."""
        return f"{self.name}-unknown-linux-gnu"

    @property
    def code(self) -> str:
        """IR for this machine."""
        return _CODE.format(
            pause=self.pause, futex=self.futex, declared=self.declared, ticks=self.ticks
        )


MACHINES = {
    "x86_64": Machine(
        "x86_64",
        "x86-64",
        "llvm.x86.sse2.pause()",
        "llvm.x86.sse2.pause()",
        202,
        "@llvm.readcyclecounter()",
    ),
    "aarch64": Machine(
        "aarch64",
        "generic",
        "llvm.aarch64.hint(i32 1)",
        "llvm.aarch64.hint(i32)",
        98,
        "@llvm.read_volatile_register.i64(metadata !0)",
    ),
}
