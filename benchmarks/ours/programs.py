"""The sources of our measured programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """Return `@main`, which starts with %v0, the number 0, and %one, and returns an i32."""
    constants = ["%v0 = tfrt.constant.i32 0", "%one = tfrt.constant.i32 1"]
    body = "".join(f"  {line}\n" for line in [*constants, *lines])
    return f"func.func @main() -> i32 {{\n{body}  tfrt.return {result} : i32\n}}\n"


def chain(length: int) -> str:
    """Return adds that depend on each other: the result is their number."""
    lines = [f"%v{i + 1} = tfrt.add.i32 %v{i}, %one" for i in range(length)]
    return function(lines, f"%v{length}")


def independent_tasks(count: int) -> str:
    """Return adds that each run as a task of the work queue, and their sum."""
    values = [f"%v{i + 1}" for i in range(count)]
    lines = [f'{v} = "tfrt_test.async_add.i32"(%v0, %one) : (i32, i32) -> i32' for v in values]
    types = ", ".join(["i32"] * count)
    lines.append(f'%sum = "tfrt_test.sum"({", ".join(values)}) : ({types}) -> i32')
    return function(lines, "%sum")


def reduced(values: list[Value], combine: Callable[[Value, Value], Value]) -> Value:
    """Reduce values to one: combine neighbors, then their results, and so on."""
    while len(values) > 1:
        pairs = [combine(*pair) for pair in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


def tree(count: int) -> str:
    """Return independent adds, and adds of their results in pairs: 2 * `count` - 1 of them."""
    lines = [f"%v{i + 1} = tfrt.add.i32 %v0, %one" for i in range(count)]

    def add(left: str, right: str) -> str:
        name = f"%v{len(lines) + 1}"
        lines.append(f"{name} = tfrt.add.i32 {left}, {right}")
        return name

    result = reduced([f"%v{i + 1}" for i in range(count)], add)
    return function(lines, result)


def sleeps(count: int, microseconds: int) -> str:
    """Return independent sleeps in the blocking pool, and a 1 when all are over."""
    chains = [f"%c{i}" for i in range(count)]
    lines = [f"%time = tfrt.constant.i32 {microseconds}"]
    lines += [f'{c} = "tfrt_test.blocking.usleep"(%time) : (i32) -> !tfrt.chain' for c in chains]
    types = ", ".join(["!tfrt.chain"] * count)
    lines.append(f"%all = tfrt.merge.chains {', '.join(chains)} : {types}")
    lines.append('%done = "tfrt.alias.value"(%all, %one) : (!tfrt.chain, i32) -> i32')
    return function(lines, "%done")


# --- Sync functions ---

SYNC = " attributes {tfrt.sync}"


def constant(name: str, number: int) -> str:
    """Return a constant of a sync function."""
    return f'{name} = "tfrt.constant_s.i32"() {{value = {number} : i32}} : () -> i32'


def kernels(names: Sequence[str], length: int, first: str) -> list[str]:
    """Return kernels that depend on each other, `first` to `%v<length>`; `names` take turns."""
    lines, last = [], first
    for i in range(length):
        kernel = names[i % len(names)]
        lines.append(f'  %v{i + 1} = "tfrt.{kernel}_s.i32"({last}, %one) : (i32, i32) -> i32')
        last = f"%v{i + 1}"
    return lines


def called_chain(names: Sequence[str], length: int, calls: int) -> str:
    """Return `@main`, which repeatedly calls a function with that many kernels."""
    body = "\n".join([constant("%one", 1), *kernels(names, length, "%x")])
    return f"""
func.func @chain(%x: i32) -> i32{SYNC} {{
{body}
  tfrt.return %v{length} : i32
}}
func.func @main() -> i32{SYNC} {{
  {constant("%zero", 0)}
  {constant("%calls", calls)}
  %r = tfrt.repeat.i32 %calls, %zero : i32 {{
    %next = tfrt.call @chain(%zero) : (i32) -> i32
    tfrt.return %next : i32
  }}
  tfrt.return %r : i32
}}
"""


def sync_loop(rounds: int) -> str:
    """Return a loop that adds one."""
    return f"""
func.func @main() -> i32{SYNC} {{
  {constant("%rounds", rounds)}
  {constant("%zero", 0)}
  %r = tfrt.repeat.i32 %rounds, %zero : i32 {{
    {constant("%one", 1)}
    %next = "tfrt.add_s.i32"(%zero, %one) : (i32, i32) -> i32
    tfrt.return %next : i32
  }}
  tfrt.return %r : i32
}}
"""


SYNC_FIB = f"""
func.func @main(%n: i32) -> i32{SYNC} {{
  {constant("%one", 1)}
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n, %one : (i32, i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    %before = tfrt.minus_s.i32 %n, %one
    %first = tfrt.minus_s.i32 %before, %one
    %left = tfrt.call @main(%before) : (i32) -> i32
    %right = tfrt.call @main(%first) : (i32) -> i32
    %sum = "tfrt.add_s.i32"(%left, %right) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }}
  tfrt.return %result : i32
}}
"""
"""The recursion of `FIB` in a sync function."""


# --- The async dialect ---

_COUNTING = """
  %zero = arith.constant 0 : i64
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.index_cast %n : i64 to index
"""


def _fib(sum: str) -> str:
    """Return the recursion, in which `sum` computes %r from %a and %b."""
    return f"""
async.func @fib(%n: i64) -> !async.value<i64> {{
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %two : i64
  cf.cond_br %is_small, ^small, ^big
^small:
  return %n : i64
^big:
  %a = arith.subi %n, %one : i64
  %b = arith.subi %n, %two : i64
{sum}  return %r : i64
}}
func.func @main(%n: i64) -> i64 {{
  %v = async.call @fib(%n) : (i64) -> !async.value<i64>
  %r = async.await %v : !async.value<i64>
  return %r : i64
}}
"""


ASYNC_FIB = _fib("""\
  %v = async.call @fib(%a) : (i64) -> !async.value<i64>
  %w = async.call @fib(%b) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  %y = async.await %w : !async.value<i64>
  %r = arith.addi %x, %y : i64
""")
GROUPED = f"""
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  %group = async.create_group %last : !async.group
  scf.for %i = %first to %last step %step {{
    %t = async.execute {{
      async.yield
    }}
    async.add_to_group %t, %group : !async.token
  }}
  async.await_all %group
  return %n : i64
}}
"""
ONE_BY_ONE = f"""
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  scf.for %i = %first to %last step %step {{
    %t = async.execute {{
      async.yield
    }}
    async.await %t : !async.token
  }}
  return %n : i64
}}
"""
FIB_TASKS = _fib("""\
  %t, %x = async.execute -> !async.value<i64> {
    %v = async.call @fib(%a) : (i64) -> !async.value<i64>
    %f = async.await %v : !async.value<i64>
    async.yield %f : i64
  }
  %u, %y = async.execute -> !async.value<i64> {
    %v = async.call @fib(%b) : (i64) -> !async.value<i64>
    %f = async.await %v : !async.value<i64>
    async.yield %f : i64
  }
  %p = async.await %x : !async.value<i64>
  %q = async.await %y : !async.value<i64>
  %r = arith.addi %p, %q : i64
""")
"""A task for each call, and an await of each task."""


def parallel(elements: int, terms: int, factor: float, addend: float, workers: int) -> str:
    """Return a loop of independent, computing iterations, in tasks for that many workers."""
    return f"""// parallel-for: num-workers={workers}
func.func @main(%n: i64) -> f64 {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = arith.constant {elements} : index
  %terms = arith.constant {terms} : index
  %factor = arith.constant {factor} : f64
  %addend = arith.constant {addend} : f64
  %m = memref.alloc() : memref<{elements}xf64>
  scf.parallel (%i) = (%zero) to (%size) step (%one) {{
    %k = arith.index_cast %i : index to i64
    %x = arith.sitofp %k : i64 to f64
    %y = scf.for %j = %zero to %terms step %one iter_args(%a = %x) -> f64 {{
      %b = arith.mulf %a, %factor : f64
      %c = arith.addf %b, %addend : f64
      scf.yield %c : f64
    }}
    memref.store %y, %m[%i] : memref<{elements}xf64>
  }}
  %r = memref.load %m[%one] : memref<{elements}xf64>
  memref.dealloc %m : memref<{elements}xf64>
  return %r : f64
}}
"""


# --- Calls from Python ---

ADD = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
"""
ADDI = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
"""


def python_kernels(name: str, count: int) -> str:
    """Return a chain of Python kernels."""
    lines = [f'  %{i + 1} = "{name}"(%{i}) : (i32) -> i32\n' for i in range(1, count + 1)]
    return (
        f"func.func @main(%1: i32) -> i32 {{\n{''.join(lines)}  tfrt.return %{count + 1} : i32\n}}"
    )


# --- Texts of W8 ---


def with_calls(lines: int) -> str:
    """Return lines of which some call a function and choose one of two regions."""
    body, last = [], "%v0"
    for i in range(lines // 5):
        value = f"%r{i}"
        body += [
            f"%c{i} = tfrt.call @next({last}) : (i32) -> i32",
            f'%b{i} = "tfrt.lessequal.i32"(%c{i}, %one) : (i32, i32) -> i1',
            (
                f"{value} = tfrt.if %b{i}, %c{i} : (i32) -> i32 {{ tfrt.return %c{i} : i32 }}"
                f" else {{ %x = tfrt.minus.i32 %c{i}, %c{i}  tfrt.return %x : i32 }}"
            ),
        ]
        last = value
    following = (
        "func.func @next(%x: i32) -> i32 {\n  %one = tfrt.constant.i32 1\n"
        "  %y = tfrt.add.i32 %x, %one\n  tfrt.return %y : i32\n}\n"
    )
    return following + function(body, last)


def with_locations(lines: int) -> str:
    """Return a chain in which each line states its location."""
    body = [f'%v{i + 1} = tfrt.add.i32 %v{i}, %one loc("model.py":{i + 1}:1)' for i in range(lines)]
    return function(body, f"%v{lines}")


def with_tasks(lines: int) -> str:
    """Return tasks of the async dialect, each of which waits for the one before."""
    body = [
        f"  %t{i + 1}, %v{i + 1} = async.execute [%t{i}] -> !async.value<i64> {{\n"
        f"    %y{i} = arith.addi %x, %x : i64\n    async.yield %y{i} : i64\n  }}\n"
        for i in range(lines // 4)
    ]
    return (
        "func.func @main(%x: i64) {\n  %t0 = async.execute {\n    async.yield\n  }\n"
        f"{''.join(body)}  async.await %t{lines // 4} : !async.token\n  return\n}}\n"
    )


# --- New processes, and compiling ---

SMALL = """
func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %sum = "tfrt_test.async_add.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %sum : i32
}
"""
SMALL_ASYNC = """
func.func @main() {
  %a = arith.constant 40 : i32
  %t, %v = async.execute -> !async.value<i32> {
    %sum = arith.addi %a, %a : i32
    async.yield %sum : i32
  }
  %r = async.await %v : !async.value<i32>
  return
}
"""
_OPERATIONS = ("addi", "muli", "subi", "xori", "ori", "andi")


def coroutines(count: int, *, is_distinct: bool) -> str:
    """Return tasks that wait after they have started, which makes each a coroutine that suspends.

    Their bodies differ in a constant and, if `is_distinct`, also in operations.
    """
    tasks = "".join(
        f"""
  %t{i}, %v{i} = async.execute -> !async.value<i64> {{
    %c = arith.constant {i + 3} : i64
    %z = arith.{_OPERATIONS[i % 6 if is_distinct else 0]} %x, %c : i64
    %q = arith.{_OPERATIONS[i // 6 % 6 if is_distinct else 1]} %z, %x : i64
    %r = arith.{_OPERATIONS[i // 36 % 6 if is_distinct else 2]} %q, %c : i64
    %a = async.await %v : !async.value<i64>
    %y = arith.addi %r, %a : i64
    async.yield %y : i64
  }}"""
        for i in range(count)
    )
    sums = "".join(
        f"""
  %w{i} = async.await %v{i} : !async.value<i64>
  %s{i + 1} = arith.addi %s{i}, %w{i} : i64"""
        for i in range(count)
    )
    return f"""
func.func @main(%x: i64, %v: !async.value<i64>) -> i64 {{
  %s0 = arith.constant 0 : i64{tasks}{sums}
  return %s{count} : i64
}}"""
