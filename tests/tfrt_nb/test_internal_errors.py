"""Test that unexpected errors in the compiler become diagnostics with a place."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.jit import stages
from tfrt_nb.jit.programs import CodeCache
from tfrt_nb.passes.safety.guard_operations import CheckAsync
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_nb.source.parser import SourceParser
from tfrt_runtime.async_runtime import kernel_functions
from tfrt_runtime.diagnostics import InternalError, Location

TEXT = """func.func @main() -> i64 {
  %x = arith.constant 7 : i64
  return %x : i64
}
"""


def compiled(text: str) -> None:
    compiled = Program.from_source(text, "f.mlir")._compiled
    assert compiled is not None
    compiled.compile(kernel_functions())


def failure(text: str) -> tuple[str, Location | None]:
    """Return the message and the place of the compiler's report about its own failure."""
    with pytest.raises(InternalError) as raised:
        compiled(text)
    [found] = raised.value.diagnostics
    assert found.location is None or isinstance(found.location, Location)
    return found.message, found.location


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CodeCache, "get", lambda *_: None)


@pytest.mark.usefixtures("uncached")
def test_a_failure_of_a_pass_names_the_module_and_the_operation_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def apply(self: CheckAsync, ctx: Context, op: ModuleOp) -> None:
        for nested in op.walk():
            if nested.name == "arith.constant":
                raise KeyError("lost")

    monkeypatch.setattr(CheckAsync, "apply", apply)

    message, place = failure(TEXT)

    assert message.startswith("internal error in ")
    assert message.endswith(": KeyError: 'lost' (please report this program)")
    assert (place and (place.line, place.column)) == (2, 8)


@pytest.mark.usefixtures("uncached")
def test_what_llvm_refuses_is_at_the_function_that_it_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lower_to_llvm(*given: object, **more: object) -> str:
        return 'define i64 @"main"() {\n  ret i64 nonsense\n}\n'

    monkeypatch.setattr(stages, "lower_to_llvm", lower_to_llvm)

    message, place = failure(TEXT)

    assert message.startswith("internal error in jit.compiler: RuntimeError: LLVM IR parsing error")
    assert (place and place.line) == 1


def test_what_our_parser_lacks_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(SourceParser, "parse_module", lacking)

    with pytest.raises(InternalError, match="NotImplementedError"):
        parse_module("", "text")
