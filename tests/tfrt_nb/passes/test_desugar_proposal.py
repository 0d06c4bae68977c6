"""The spellings of the 2020 proposal mean what the operations that landed mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module
from tfrt_runtime.diagnostics import Location, TfrtError

GOLDEN = Path(__file__).parents[2] / "golden" / "async" / "rfc"
LANDED = sorted(GOLDEN.glob("*.landed.mlir"))


def desugared(text: str) -> str:
    """The program in the operations that landed."""
    module = parse_module(text, "program")
    DesugarProposal().apply(Context(), module)
    module.verify()
    return print_ir(module)


@pytest.mark.parametrize("landed", LANDED, ids=lambda path: path.name.partition(".")[0])
def test_the_proposal_equals_what_landed(landed: Path) -> None:
    proposal = landed.with_name(landed.name.replace(".landed", ""))
    expected = print_ir(parse_module(landed.read_text(), landed.name))

    # Functions without a visibility were public in 2020; the corpus made one of them private later.
    assert desugared(proposal.read_text()) == expected.replace(" private @show", " @show")


def test_the_seeds_first_example_is_an_async_function_with_two_tasks() -> None:
    assert desugared("""
func @computation_1() { return }
func @computation_2() { return }
func @computation_3() { return }

func @async_compute(%arg0: !async.runtime) -> !async.handle {
  %hdl1 = async.call %arg0 : !async.runtime 
          @computation_1() : () -> !async.handle

  %hdl2 = async.call %arg0 : !async.runtime 
          @computation_2() : () -> !async.handle

  async.await %hdl1 : !async.handle
  async.await %hdl2 : !async.handle

  call @computation_3(): () -> ()

  %hdl3 = async.ret_handle : !async.handle
  return %hdl3 : !async.handle
}
""").splitlines()[10:] == [
        "  async.func @async_compute() -> !async.token {",
        "    %token = execute {",
        "      func.call @computation_1() : () -> ()",
        "      async.yield",
        "    }",
        "    %token_0 = execute {",
        "      func.call @computation_2() : () -> ()",
        "      async.yield",
        "    }",
        "    await %token : !async.token",
        "    await %token_0 : !async.token",
        "    func.call @computation_3() : () -> ()",
        "    return",
        "  }",
        "}",
    ]


def test_a_region_with_a_value_gives_the_value_and_then_the_token() -> None:
    assert desugared("""
func.func @f(%x: i64) -> i64 {
  %v, %t = async.region {
    async.yield %x : i64
  }
  async.await %t
  %y = async.await %v : !async.value<i64>
  return %y : i64
}
""").splitlines()[2:7] == [
        "    %token, %bodyResults = async.execute -> !async.value<i64> {",
        "      async.yield %arg0 : i64",
        "    }",
        "    async.await %token : !async.token",
        "    %0 = async.await %bodyResults : !async.value<i64>",
    ]


HEAD = "func @work(%x: i64) { return }\nfunc @main() {\n  %rt = async.default_runtime : !async.runtime\n"
CALL = "  %h = async.call %rt : !async.runtime"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (
            f"{CALL} @nobody() : () -> !async.handle",
            8,
            "'nobody' does not reference a valid function",
        ),
        (f"{CALL} @work() : () -> !async.handle", 8, "incorrect number of operands for callee"),
        (f"{CALL} @work(%rt) : (!async.runtime) -> !async.handle", 8, "operand type mismatch"),
        (f"{CALL} @work() : () -> i64", 50, "a call on a runtime gives one '!async.handle'"),
        (f"{CALL} @work(%rt) -> !async.handle", 45, "the types of the arguments are missing"),
        (
            "  cf.br ^a(%rt : !async.runtime)\n^a(%r: !async.runtime):",
            None,
            "a runtime can only be",
        ),
    ],
)
def test_misuse_of_a_runtime_is_refused(line: str, column: int | None, message: str) -> None:
    with pytest.raises(TfrtError) as raised:
        desugared(f"{HEAD}{line}\n  return\n}}\n")

    problem = raised.value.diagnostics[0]
    assert message in problem.message
    assert isinstance(problem.location, Location)
    assert column is None or (problem.location.line, problem.location.column) == (4, column)


def test_a_handle_that_is_used_otherwise_than_returned_is_a_token_that_somebody_resolves() -> None:
    assert desugared("""
func @f(%rt: !async.runtime) -> !async.handle {
  %h = async.ret_handle : !async.handle
  call @finish(%h) : (!async.handle) -> ()
  return %h : !async.handle
}
func @finish(%h: !async.handle) {
  async.emplace_handle %h
  return
}
""").splitlines()[1:-1] == [
        "  func.func @f() -> !async.token {",
        "    %0 = async.runtime.create : !async.token",
        "    call @finish(%0) : (!async.token) -> ()",
        "    return %0 : !async.token",
        "  }",
        "  func.func @finish(%arg0: !async.token) {",
        "    async.runtime.set_available %arg0 : !async.token",
        "    return",
        "  }",
    ]


def test_a_coroutine_that_returns_another_handle_waits_for_it_first() -> None:
    assert desugared("""
func @f(%rt: !async.runtime, %c: i1, %other: !async.handle) -> !async.handle {
  cf.cond_br %c, ^own, ^other
^own:
  %h = async.ret_handle : !async.handle
  return %h : !async.handle
^other:
  return %other : !async.handle
}
""").splitlines()[1:-1] == [
        "  async.func @f(%arg0: i1, %arg1: !async.token) -> !async.token {",
        "    cf.cond_br %arg0, ^bb1, ^bb2",
        "  ^bb1:  // pred: ^bb0",
        "    return",
        "  ^bb2:  // pred: ^bb0",
        "    await %arg1 : !async.token",
        "    return",
        "  }",
    ]
