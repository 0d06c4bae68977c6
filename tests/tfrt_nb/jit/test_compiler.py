"""Test that machine code is linked only to what the tables name."""

from __future__ import annotations

import pytest

from tfrt_nb.jit.compiler import (
    LIBRARY,
    UnresolvedFunction,
    linked,
    load,
    object_code,
    undefined_symbols,
)

CALLS = """
declare i32 @{name}(i64)
define i32 @f(i64 %x) {{
  %y = call i32 @{name}(i64 %x)
  ret i32 %y
}}
"""
DIVIDES = """
define i128 @f(i128 %x, i128 %y) {
  %z = sdiv i128 %x, %y
  ret i128 %z
}
"""


@pytest.mark.parametrize("name", ["system", "abort", "malloc", "mlirAsyncRuntimeCreateToken"])
def test_a_function_of_the_process_is_not_found(name: str) -> None:
    with pytest.raises(UnresolvedFunction, match=f"calls '{name}', which is in no table"):
        load(object_code(CALLS.format(name=name)), {})


def test_what_the_runtime_gives_is_found() -> None:
    assert linked(object_code(CALLS.format(name="given")), {"given": 4096}) == {"given": 4096}


def test_calls_that_llvm_adds_are_seen() -> None:
    code = object_code(DIVIDES)

    assert undefined_symbols(code) == ["__divti3"]
    assert linked(code, {})["__divti3"]


@pytest.mark.parametrize("name", [n for n in LIBRARY if not n.startswith("__")])
def test_functions_of_the_c_library_are_found(name: str) -> None:
    code = object_code(
        f"declare void @{name}()\ndefine void @f() {{\n  call void @{name}()\n  ret void\n}}"
    )

    assert list(linked(code, {})) == [name]
