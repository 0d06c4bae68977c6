"""What it takes to compile functions with tasks of the async dialect.

Modules are parsed before the clock starts.  From there to something that can be called: passes, LLVM,
linking; nothing is taken from the cache of compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks.measure import Case, Variant
from tfrt_nb import HostContext
from tfrt_nb.compiled.host import CompiledHome
from tfrt_nb.jit.stages import compile_program
from tfrt_nb.source import parse_module

OURS = "tfrt-nb"
SAME = 1_000
DISTINCT = 200
_OPERATIONS = ("addi", "muli", "subi", "xori", "ori", "andi")


def in_a_group(count: int, body: Callable[[int], str]) -> str:
    """Tasks, all added to a group, which is awaited."""
    tasks = "".join(
        f"""
  %t{i} = async.execute {{
{body(i)}
    async.yield
  }}
  %rank{i} = async.add_to_group %t{i}, %group : !async.token"""
        for i in range(count)
    )
    return f"""
func.func @main(%x: i64) {{
  %count = arith.constant {count} : index
  %group = async.create_group %count : !async.group{tasks}
  async.await_all %group
  return
}}"""


def awaited(count: int, body: Callable[[int], str]) -> str:
    """Tasks that give a value, each of which is awaited and added."""
    tasks = "".join(
        f"""
  %t{i}, %v{i} = async.execute -> !async.value<i64> {{
{body(i)}
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


def computing(number: int) -> str:
    """A body that only computes, another one for each number."""
    first, second = _OPERATIONS[number % 6], _OPERATIONS[number // 6 % 6]
    return f"""\
    %c = arith.constant {number + 3} : i64
    %z = arith.{first} %x, %c : i64
    %y = arith.{second} %z, %x : i64"""


def waiting(number: int) -> str:
    """A body that waits after it has begun, so that it is a coroutine."""
    return f"""{computing(number).replace("%y", "%q")}
    %r = arith.divsi %q, %c : i64
    %a = async.await %v : !async.value<i64>
    %y = arith.addi %r, %a : i64"""


@contextmanager
def compile_tasks() -> Iterator[Case]:
    """Tasks of one body, and of many."""
    with HostContext("s") as host:
        functions = host.shared_context(CompiledHome).runtime.functions

        def variant(name: str, text: str, count: int) -> Variant:
            module = parse_module(text, "tasks")
            return Variant(name, OURS, lambda: compile_program(module, functions), count)

        one_body = awaited(SAME, lambda _: computing(0))
        group = in_a_group(SAME, lambda _: computing(0))
        distinct_group = in_a_group(DISTINCT, computing)
        yield Case(
            "compile",
            "functions with tasks, from parsed text to machine code",
            "us per async.execute",
            (
                variant(f"{SAME} of one body, in a group", group, SAME),
                variant(f"{SAME} of one body, each awaited", one_body, SAME),
                variant(f"{DISTINCT} distinct bodies, in a group", distinct_group, DISTINCT),
                variant(
                    f"{DISTINCT} distinct bodies, each awaited",
                    awaited(DISTINCT, computing),
                    DISTINCT,
                ),
                variant(f"{DISTINCT} distinct coroutines", awaited(DISTINCT, waiting), DISTINCT),
                Variant(
                    f"{SAME} of one body, the text parsed",
                    OURS,
                    lambda: parse_module(one_body, "tasks"),
                    SAME,
                ),
            ),
            samples=5,
        )


ALL = (compile_tasks,)
