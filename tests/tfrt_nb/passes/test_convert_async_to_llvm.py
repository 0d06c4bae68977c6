"""What `convert-async-to-llvm` refuses, and what can be done with what it prints.

What it makes of each operation is in `programs/to_llvm_*`; all but `to_llvm_blocks.out` was printed by
`mlir-opt` 19.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.cli.main import main
from tfrt_nb.passes.errors import PassError
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

PRINTED = sorted((Path(__file__).parent / "programs").glob("to_llvm_*.out"))
PASS = "builtin.module(convert-async-to-llvm)"


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_what_is_printed_is_read_and_printed_again_just_so(path: Path) -> None:
    assert print_ir(parse_module(path.read_text(), path.name)) == path.read_text()


@pytest.mark.parametrize(
    "path", [p for p in PRINTED if "folding" not in p.stem], ids=lambda path: path.stem
)
def test_what_is_converted_stays_as_it_is(path: Path) -> None:
    text = path.read_text()
    module = parse_module(text, path.name)

    parse_pipeline(PASS).apply(Context(), module)

    assert print_ir(module) == text


def illegal(place: str, operation: str) -> str:
    """The words of MLIR."""
    words = f"failed to legalize operation '{operation}' that was explicitly marked illegal"
    return f"f.mlir:{place}: error: {words}"


def refusal(text: str, pipeline: str = PASS) -> list[str]:
    """What the pass says, the error and its notes; the module must be as it was."""
    module = parse_module(text, "f.mlir")
    before = print_ir(module)
    with pytest.raises(PassError) as refused:
        parse_pipeline(pipeline).apply(Context(), module)
    assert print_ir(module) == before
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.location is not None
    return [str(refused.value), *(note.message for note in diagnostic.notes)]


LOWER_FIRST = (
    "lower it first: async-func-to-async-runtime, async-to-async-runtime, "
    "async-runtime-ref-counting"
)
ONLY_OURS = (
    "only the runtime of this toolkit has this operation, and 'tfrt-nb run' lowers it: "
    "the passes in front do not make it without options"
)


@pytest.mark.parametrize(
    ("line", "operation", "advice"),
    [
        ("  async.await %t : !async.token", "async.await", LOWER_FIRST),
        ("  %x = async.execute { async.yield }", "async.execute", LOWER_FIRST),
        ("  %x = async.create_group %n : !async.group", "async.create_group", LOWER_FIRST),
        ("  %x = async.add_to_group %t, %g : !async.token", "async.add_to_group", LOWER_FIRST),
        ("  async.await_all %g", "async.await_all", LOWER_FIRST),
        (
            "  %x = async.runtime.add_to_group %v, %g : !async.value<f32>",
            "async.runtime.add_to_group",
            "MLIR's groups have tokens only: add the token of what resolves the value",
        ),
        (
            "  %x = async.runtime.create : !async.value<tensor<4xf32>>",
            "async.runtime.create",
            "LLVM has no type for 'tensor<4xf32>'",
        ),
        (
            '  %x = async.runtime.create : !async.value<memref<4xf32, "far">>',
            "async.runtime.create",
            "LLVM has no type for 'memref<4xf32, \"far\">'",
        ),
        (
            "  %x = async.runtime.create : !async.value<vector<[2]x3xf32>>",
            "async.runtime.create",
            "LLVM has no type for 'vector<[2]x3xf32>'",
        ),
        (
            "  %x = async.runtime.load %s : <tuple<i32>>",
            "async.runtime.load",
            "LLVM has no type for 'tuple<i32>'",
        ),
        (
            "  async.runtime.store %u, %s : <tuple<i32>>",
            "async.runtime.store",
            "LLVM has no type for 'tuple<i32>'",
        ),
        ('  async.runtime.fail "no"', "async.runtime.fail", ONLY_OURS),
        ("  async.runtime.fail_from %t : !async.token", "async.runtime.fail_from", ONLY_OURS),
        (
            '  async.runtime.describe_error %t, "no" : !async.token',
            "async.runtime.describe_error",
            ONLY_OURS,
        ),
        ("  async.runtime.check_interrupt", "async.runtime.check_interrupt", ONLY_OURS),
        ("  %x = async.runtime.is_cancelled", "async.runtime.is_cancelled", ONLY_OURS),
        (
            "  %x = async.runtime.spawn @f() : () -> !async.token",
            "async.runtime.spawn",
            ONLY_OURS,
        ),
    ],
)
def test_an_operation_is_refused_at_its_place(line: str, operation: str, advice: str) -> None:
    text = f"""func.func private @f()
func.func @main(%t: !async.token, %v: !async.value<f32>, %g: !async.group, %n: index,
                %s: !async.value<tuple<i32>>, %u: tuple<i32>) {{
{line}
  return
}}
"""
    column = 3 if line.startswith("  async") else 8

    assert refusal(text) == [
        illegal(f"4:{column}", operation),
        advice,
    ]


def test_an_async_function_is_refused() -> None:
    text = "async.func @f() -> !async.token {\n  return\n}\n"

    assert refusal(text) == [
        illegal("1:1", "async.func"),
        LOWER_FIRST,
    ]


def test_messages_of_errors_need_our_own_runtime() -> None:
    text = """func.func @main() {
  %t = async.execute {
    %no = arith.constant false
    cf.assert %no, "no"
    async.yield
  }
  async.await %t : !async.token
  return
}
"""
    module = parse_module(text, "f.mlir")
    parse_pipeline("async-to-async-runtime{keep-errors}").apply(Context(), module)

    with pytest.raises(PassError, match="^f.mlir:7:3: .*'async.runtime.check'"):
        parse_pipeline(PASS).apply(Context(), module)


def test_only_this_pass_needs_the_llvm_dialect() -> None:
    code = (
        "import sys, tfrt_nb.passes.pipeline, tfrt_nb.jit.stages;"
        "print('xdsl.dialects.llvm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("func.func @main() {\n  %x = llvm.mlir.constant(1 : i64) : i64\n  return\n}\n", "2:8"),
        ("llvm.func @free(!llvm.ptr)\nfunc.func @main() {\n  return\n}\n", "1:1"),
        ("func.func private @f(!llvm.ptr)\nfunc.func @main() {\n  return\n}\n", "1:1"),
    ],
)
def test_what_is_lowered_for_mlir_is_not_run_here(
    text: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.mlir"
    file.write_text(text)

    assert main(["run", str(file)]) == 1

    assert capsys.readouterr().err.splitlines()[0] == (
        f"{file}:{place}: error: the llvm dialect is for MLIR's tools: run the program as it is "
        "before 'convert-async-to-llvm', or let mlir-opt and mlir-cpu-runner do the rest"
    )
