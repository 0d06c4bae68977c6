"""Test which functions can call themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.source import parse_module

MOST = 7
CALLS = st.lists(
    st.lists(st.integers(0, MOST - 1), max_size=3, unique=True), min_size=MOST, max_size=MOST
)


def _reached(calls: list[list[int]], start: int) -> set[int]:
    reached: set[int] = set()
    pending = [start]
    while pending:
        for callee in calls[pending.pop()]:
            if callee not in reached:
                reached.add(callee)
                pending.append(callee)
    return reached


@given(CALLS)
def test_a_function_that_is_reached_from_itself_is_recursive(calls: list[list[int]]) -> None:
    functions = [
        "\n".join(
            [f"func.func @f{i}() {{", *(f"  call @f{callee}() : () -> ()" for callee in callees)]
        )
        for i, callees in enumerate(calls)
    ]
    module = parse_module("\n  return\n}\n".join([*functions, ""]), "calls")

    expected = {f"f{i}" for i in range(MOST) if i in _reached(calls, i)}
    assert recursive_functions(callees(module)) == expected
