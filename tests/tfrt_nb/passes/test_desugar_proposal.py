"""The spellings of the 2020 proposal mean what the operations that landed mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.desugar_proposal import DesugarProposal
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

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
