"""The programs that are measured, as text."""

from __future__ import annotations

FIB = """
func.func @main(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %is_small = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %result = tfrt.if %is_small, %n, %one : (i32, i32) -> i32 {
    tfrt.return %n : i32
  } else {
    %before = tfrt.minus.i32 %n, %one
    %first = tfrt.minus.i32 %before, %one
    %left = tfrt.call @main(%before) : (i32) -> i32
    %right = tfrt.call @main(%first) : (i32) -> i32
    %sum = tfrt.add.i32 %left, %right
    tfrt.return %sum : i32
  }
  tfrt.return %result : i32
}
"""

LOOP = """
func.func @main(%rounds: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %count, %step = tfrt.repeat.i32 %rounds, %zero, %one : i32, i32 {
    %next = tfrt.add.i32 %zero, %one
    tfrt.return %next, %one : i32, i32
  }
  tfrt.return %count : i32
}
"""


def function(lines: list[str], result: str) -> str:
    """`@main`, which begins with %v0, the number 0, and %one, and returns an i32."""
    constants = ["%v0 = tfrt.constant.i32 0", "%one = tfrt.constant.i32 1"]
    body = "".join(f"  {line}\n" for line in [*constants, *lines])
    return f"func.func @main() -> i32 {{\n{body}  tfrt.return {result} : i32\n}}\n"


def chain(length: int) -> str:
    """Adds that depend on each other: the result is their number."""
    lines = [f"%v{i + 1} = tfrt.add.i32 %v{i}, %one" for i in range(length)]
    return function(lines, f"%v{length}")


def independent_tasks(count: int) -> str:
    """Adds that each run as a task of the work queue, and their sum."""
    values = [f"%v{i + 1}" for i in range(count)]
    lines = [f'{v} = "tfrt_test.async_add.i32"(%v0, %one) : (i32, i32) -> i32' for v in values]
    types = ", ".join(["i32"] * count)
    lines.append(f'%sum = "tfrt_test.sum"({", ".join(values)}) : ({types}) -> i32')
    return function(lines, "%sum")


def python_chain(length: int) -> str:
    """The chain as the source of a Python function."""
    lines = [f"    v{i + 1} = v{i} + one\n" for i in range(length)]
    return f"def main():\n    v0, one = 0, 1\n{''.join(lines)}    return v{length}\n"
