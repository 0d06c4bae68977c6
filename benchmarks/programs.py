"""The programs that are measured, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

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


def reduced(values: list[Value], combine: Callable[[Value, Value], Value]) -> Value:
    """One value from many: neighbours are combined, then their results, and so on."""
    while len(values) > 1:
        pairs = [combine(*pair) for pair in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


def tree(count: int) -> str:
    """Independent adds, and adds of their results in pairs: 2 * `count` - 1 of them."""
    lines = [f"%v{i + 1} = tfrt.add.i32 %v0, %one" for i in range(count)]

    def add(left: str, right: str) -> str:
        name = f"%v{len(lines) + 1}"
        lines.append(f"{name} = tfrt.add.i32 {left}, {right}")
        return name

    result = reduced([f"%v{i + 1}" for i in range(count)], add)
    return function(lines, result)


def sleeps(count: int, microseconds: int) -> str:
    """Sleeps in the blocking pool that do not wait for each other, and a 1 when all are over."""
    chains = [f"%c{i}" for i in range(count)]
    lines = [f"%time = tfrt.constant.i32 {microseconds}"]
    lines += [f'{c} = "tfrt_test.blocking.usleep"(%time) : (i32) -> !tfrt.chain' for c in chains]
    types = ", ".join(["!tfrt.chain"] * count)
    lines.append(f"%all = tfrt.merge.chains {', '.join(chains)} : {types}")
    lines.append('%done = "tfrt.alias.value"(%all, %one) : (!tfrt.chain, i32) -> i32')
    return function(lines, "%done")


def python_chain(length: int) -> str:
    """The chain as the source of a Python function."""
    lines = [f"    v{i + 1} = v{i} + one\n" for i in range(length)]
    return f"def main():\n    v0, one = 0, 1\n{''.join(lines)}    return v{length}\n"
