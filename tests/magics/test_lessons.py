"""Test `%tfrt_predict` and `%%tfrt_check` in IPython: learners never see a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tfrt_magics.lessons import Note, compare, read_prediction

SCRIPT = '''
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_line_magic("load_ext", "tfrt_nb")
check = lambda name, text: shell.run_cell(f"%%tfrt_check {name}\\n{text}")
program = """%%tfrt -q s
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %six = tfrt.constant.i32 6
  %p = tfrt.print.i32 %six, %ch
  tfrt.return %six : i32
}
"""
shell.run_cell("%tfrt_predict prints 6"); shell.run_cell(program)
shell.run_cell("%tfrt_predict prints ?"); shell.run_cell(program)
shell.run_cell("%tfrt_predict results 7"); shell.run_cell(program)
shell.run_cell("%tfrt_predict results 7"); shell.run_cell("%%tfrt\\nfunc.func @main("); shell.run_cell(program)
shell.run_cell(program)
shell.run_cell("%tfrt_predict different outcomes: 1"); shell.run_cell(program.replace("-q s", "--explore"))
check("chains.output", "5 6 7")
check("", "5 6 7")
check("chains.outputs", "?")
check("chains.outputs", "[5, 6, 7]")
check("chains.outputs", "[[5, 6, 7], [5, 7, 6], [7, 5, 6]]")
check("chains.countdown", "func.func @main() {")
shell.run_cell("""
import tfrt_nb as tfrt
from tfrt_nb import Names
@tfrt.exercise("mine.double", right="double = lambda x: 2 * x", wrong={"double = 2": "function", "dubble = 3": "defines no", "double = lambda x: x": "not 3"}, why="Twice.")
def double(answer: Names):
    "Write double."
    found = answer.call("double", 3)
    return None if found == 6 else f"double(3) is 6, not {found}."
print(double.problems())
""")
check("mine.double", "double = lambda x: missing")
check("mine.double", "raise SystemExit")
check("mine.double", "double =")
check("mine.double", "double = lambda x: x + x")
check("mine.double", "double = lambda x: tfrt.call('tfrt.add.i32', x, x)")
check("chains.countdown", "double = lambda x: x + x")
shell.run_line_magic("tfrt_progress", "mine")
'''  # noqa: E501


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_learner_is_answered_in_a_sentence(printed: str) -> None:
    expected = [
        "You predicted prints 6: right.",
        "No prediction was typed.",
        "You predicted results 7; this run has results 6.",
        "You predicted results 7; this run has results 6.",
        "1 outcome in 1 schedule",
        "You predicted: different outcomes: 1.",
        "did you mean 'chains.outputs'?",
        "Which exercise?",
        "· chains.outputs: no answer yet.",
        "✗ chains.outputs: not yet.",
        "✓ chains.outputs: right.",
        "The program is not correct yet:",
        "[]",
        "name 'missing' is not defined",
        "Do not call exit()",
        "Line 1: invalid syntax",
        "✓ mine.double: right.",
        "✓ mine.double: right.",
        "✗ chains.countdown: not yet.",
        "✓ mine.double: right",
    ]
    at = 0
    for text in expected:
        found = printed.find(text, at)
        assert found >= 0, (text, printed)
        at = found + len(text)
    assert "Traceback" not in printed


def test_a_prediction_is_used_once(printed: str) -> None:
    assert printed.count("Your prediction:") == 5


@pytest.mark.parametrize(
    ("line", "log", "right"),
    [
        ("prints 1 2", "int32 = 1\nint32 = 2\n", True),
        ("prints 1, 2", "int32 = 2\nint32 = 1\n", False),
        ("prints nothing", "", True),
        ("prints nothing", "int32 = 2\n", False),
        ("prints Hello", "hello\n", True),
        ("the sum comes last", "int32 = 2\n", None),
        ("", "", None),
        ("prints 2, then 1.", "int32 = 2\nint32 = 1\n", True),
        ("prints 2 -> 1", "int32 = 2\nint32 = 1\n", True),
        ("prints int32 = 2 and int32 = 1", "int32 = 2\nint32 = 1\n", True),
        ("prints 1, then 2.", "int32 = 2\nint32 = 1\n", False),
        ("prints one and two", "int32 = 1\nint32 = 2\n", True),
    ],
)
def test_a_prediction_is_compared(line: str, log: str, right: bool | None) -> None:
    assert compare(read_prediction(line), log, []).is_right is right


def test_a_note_escapes_what_it_shows() -> None:
    page = Note("✗", "<b>", "<script>\n</pre><script>", ("s", "</details><script>"))._repr_html_()
    assert "<script>" not in page
    assert "<b>&lt;b&gt;</b>" in page
