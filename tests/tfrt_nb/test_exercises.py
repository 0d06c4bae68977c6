"""Test that exercises accept right answers, and answer each mistake with a suitable hint."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pytest import CaptureFixture

from tfrt_nb.cli.main import main
from tfrt_nb.exercises.answer import Answer, shown_form
from tfrt_nb.exercises.exercise import Exercise, Mark, _python_names, exercises, find

_BLOCKING = """\
@tfrt.kernel("my.download", blocking=True)
def download(page: int) -> int:
    {}
    return page * 2"""


@pytest.mark.parametrize("one", exercises(), ids=lambda one: one.name)
def test_right_answers_are_taken_and_wrong_ones_get_their_hint(one: Exercise) -> None:
    assert one.problems() == []


@pytest.mark.parametrize("text", ["", "?", "  # nothing yet\n", "// ?"])
def test_no_answer_is_no_mistake(text: str) -> None:
    assert find("chains.outputs").grade(text).mark is Mark.EMPTY


def test_the_program_as_given_is_no_answer() -> None:
    one = find("chains.countdown")
    assert one.grade(one.start + "  // changed nothing").mark is Mark.EMPTY


@pytest.mark.parametrize("text", ["\0", "{}", "%%tfrt", "func.func @main() {", "é" * 5000, "?" * 9])
@pytest.mark.parametrize("one", exercises(), ids=lambda one: one.name)
def test_any_text_gets_a_verdict(one: Exercise, text: str) -> None:
    assert one.grade(text).mark is Mark.WRONG


def test_a_solution_of_another_exercise_is_recognised() -> None:
    text = find("chains.countdown").solution
    assert "solves 'chains.countdown'" in find("chains.outputs").grade(text).hint


@pytest.mark.parametrize(
    "one", [one for one in exercises() if one.kind is Answer], ids=lambda one: one.name
)
def test_a_solution_of_another_exercise_is_not_right(one: Exercise) -> None:
    others = [text for other in exercises() if other is not one for text in other.right]
    assert [text for text in others if len(text) > 2 and one.grade(text).is_right] == []


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("start.write", "42", "This is not a program."),
        (
            "start.write",
            find("start.write").solution.replace("%seven, %five", "7, 5"),
            "by their names",
        ),
        (
            "chains.countdown",
            find("chains.countdown").start.replace("%two, %ch", "%two, %c"),
            "is used before the line",
        ),
        ("errors.save", "func.func @main() {\n  tfrt.return\n}", "takes 0 arguments, found 2."),
        ("chains.countdown", "func.func @main() {\n  tfrt.return\n}", "can print nothing"),
        (
            "values.before",
            "I do not know",
            "Line 1 was not understood: `I do not know`.  Write it like",
        ),
        (
            "values.before",
            "[4]",
            "Part a has no answer yet.  Write it like this: `a = [1, 2]`, `b =",
        ),
        ("graph.path", "3.5", "Write whole numbers; found 3.5.  Write it like this: `1000`."),
        ("graph.path", "True", "Write whole numbers; found True."),
        ("graph.path", "ms = 500", "Write one value, without a name.  Write it like this: `1000`."),
        ("bef.inside", "unsure", "'unsure' is not one of the choices; found 'unsure'."),
        (
            "errors.which",
            "a = 9\nb = [eror, 18, error]",
            "Part b: 'eror' is not one of the choices",
        ),
        ("bef.patch", "def patched(data):\n    return oops", "...6"),
        (
            "bef.patch",
            """\
def patched(data):
    return tfrt.Program("func.func @main() -> i32 { %a = tfrt.constant.i32 40  tfrt.return %a : i32 }").bef
""",  # noqa: E501
            "another program",
        ),
        ("async.together", "42", "This is not a program."),
        ("graph.faster", "%b", "Line 1 was not understood: `%b`.  Write it like this: `x`."),
        ("graph.faster", "bb", "Write a, b, c or d; found 'bb'.  Write it like this: `x`."),
        ("graph.faster", "[b, d]", "Write a, b, c or d; found ['b', 'd']."),
        ("graph.faster", "b\nd", "Line 2 is another answer; write one."),
        ("start.value", "[30, 36]", "Write 1 value, not 2; found [30, 36]."),
        ("start.value", "print(30)", "Line 1 was not understood: `print(30)`."),
        ("start.value", "[[30]]", "Write a list of single values; found [[30]]."),
        ("start.value", "[3" + "0" * 90, "Line 1 was not understood"),
        ("start.value", "3" * 5000, "Line 1 was not understood"),
        ("schedules.results", "range(1, 4)", "Line 1 was not understood: `range(1, 4)`."),
        ("threads.start", "a = 0\na = 200", "Line 2 gives a again; write one."),
        (
            "threads.start",
            "a: 0\nb: 200",
            "Line 1: write `a = 0`.  Write it like this: `a = 30`, `b = 40`",
        ),
        ("threads.start", "(a) 0 (b) 200", "Line 1 was not understood: `(a) 0 (b) 200`."),
        (
            "threads.start",
            "# in ms\n\na = 0\nb = 200 ms",
            "Line 4 was not understood: `b = 200 ms`.",
        ),
        ("threads.start", "a = 0", "each on its own line."),
        ("threads.pools", "a = true", "Part a: Write blocking or compute; found 'true'."),
        ("chains.outputs", "5, 6, 7\n5, 7, 6", "Line 2 is another answer; write one."),
        (
            "chains.outputs",
            "[[5, [6]], [7]]",
            "Write a list of single values; found [[5, [6]], [7]].",
        ),
        ("chains.outputs", "['5', '6', '7']", "Each list is one complete output"),
        ("chains.outputs", "[]", "Each list is one complete output"),
        ("control.when", "late start late", "Line 1 was not understood"),
        (
            "references.places",
            "a = 2\nb = 3\nc = await u\nd = none",
            "Line 3 was not understood: `c = await u`.",
        ),
        ("references.places", "a = 2\nb = 3\nc = 'u'", "'await s' or 'await u'; found 'u'."),
        ("errors.cancel", "[2, skipped, skipped]", "write `cancelled`"),
        ("start.ready", "[left, 3]", "Write names"),
        ("async.coroutine", "a = many", "Part a: Write whole numbers; found 'many'."),
        ("async.order", "deadlock", "does not tie up a thread"),
        ("control.error", "[error, 8, error]", "returns its first argument"),
        ("bef.count", "[1, 3, 1]", "both operands of %longer"),
        ("tensors.chain", find("graph.faster").solution, "Write ch, written"),
        ("control.sum", "func.func @main(%n: i32) {\n  tfrt.return\n}", "returns nothing"),
        ("values.double", "def doubled(box):\n    get = box.result\n    return get() * 2", "waits"),
        ("values.double", "def doubled(box):\n    return box.result(0) * 2", "before the box"),
        ("values.double", "def doubled(box):\n    raise SystemExit", "exits Python"),
        ("bef.patch", "def patched(data):\n    raise SystemExit", "exits Python"),
        ("threads.blocking", find("threads.blocking").start + " + page", "waits"),
        ("threads.blocking", _BLOCKING.format("# sleep"), "Keep the wait"),
        (
            "threads.blocking",
            _BLOCKING.format("sleep(0.1)"),
            "`download(3)` raises NameError: name 'sleep' is not defined.  If a cell above",
        ),
        ("control.sum", find("control.sum").solution.replace("i32 0", "i32 10"), "begin with?"),
        ("threads.blocking", _BLOCKING.format("time.sleep(0.01)"), "Keep the wait"),
        ("graph.fan", find("graph.fan").solution.replace("%a, %b", "%a, %a"), "all three"),
        (
            "references.leak",
            find("references.leak").solution.replace("return %x", "return %seven"),
            "return its result",
        ),
        (
            "schedules.repair",
            find("schedules.repair")
            .solution.replace(
                "  %v, %g",
                '  %n = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32\n  %v, %g',
            )
            .replace("(%k, %m)", "(%n, %m)"),
            "one counter",
        ),
    ],
)
def test_an_answer_of_the_wrong_kind_gets_what_is_missing(name: str, text: str, hint: str) -> None:
    assert hint in find(name).grade(text).hint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("start.value", "  30  # computed by hand"),
        ("start.ready", "{left, right}"),
        ("values.before", "b = ['first', third]\n\n# printed\na = 4"),
        ("threads.start", "a = 0; b = 200"),
        (
            "values.double",
            "def doubled(box):\n    # no result()\n    return box.then(lambda v: 2 * v)",
        ),
        ("graph.fan", find("graph.fan").solution.replace("seconds = 0.25", "seconds=0.250")),
        ("chains.outputs", "[5, 6, 7], [5, 7, 6], [7, 5, 6]"),
        ("chains.outputs", "[\n  [7, 5, 6],\n  [5, 6, 7],\n  [5, 7, 6],\n]"),
        ("errors.cancel", "[2, canceled, canceled]"),
        ("bef.inside", "[tfrt.minus.i32, way]"),
    ],
)
def test_an_answer_may_be_written_as_python_allows(name: str, text: str) -> None:
    assert find(name).grade(text).is_right


@pytest.mark.parametrize(
    "one", [one for one in exercises() if one.kind is Answer], ids=lambda one: one.name
)
def test_a_task_ends_with_the_form_of_its_answer_which_can_be_read(one: Exercise) -> None:
    assert one.task.endswith(shown_form(one.form)) and one.form
    assert "not understood" not in one.grade(one.form).hint


def test_a_program_that_does_not_end_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfrt_nb.exercises.answer.SECONDS", 0.1)
    text = """func.func @main(%n: i32) -> i32 {
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @body(%n) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @body(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  tfrt.return %x, %yes : i32, i1
}"""
    assert "an endless loop" in find("control.sum").grade(text).hint


def test_a_name_of_a_cell_that_was_not_run_is_named() -> None:
    one = find("threads.blocking")
    assert "run all cells above" in one._hint(one.solution, {})


@pytest.mark.parametrize("name", ["values.double", "bef.patch", "python.program"])
def test_an_answer_that_was_right_before_does_not_count_again(name: str) -> None:
    one, names = find(name), dict(_python_names())
    assert one.grade(one.solution, names).is_right
    assert "defines no" in one.grade("42", names).hint


def test_a_name_that_is_missing_when_the_function_runs_is_named() -> None:
    verdict = find("values.double").grade("def doubled(box):\n    return mine(box)", {})
    assert "run all cells above" in verdict.hint


def test_a_program_copied_with_its_magic_is_taken() -> None:
    one = find("chains.countdown")
    assert one.grade(f"%%tfrt -q s\n{one.solution}").is_right


def test_an_answer_may_use_what_its_notebook_imports() -> None:
    one = find("threads.blocking")
    assert one.grade(one.solution.removeprefix("import time\n")).is_right


def notebook(tmp_path: Path, *cells: str) -> Path:
    path = tmp_path / "answers.ipynb"
    written = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"cells": written}))
    return path


def test_the_last_answer_in_a_notebook_counts(tmp_path: Path, capsys: CaptureFixture[str]) -> None:
    right = find("chains.outputs").solution
    path = notebook(
        tmp_path, "%%tfrt_check chains.outputs\n5", f"%%tfrt_check chains.outputs\n{right}"
    )
    assert main(["grade", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: chains.outputs: right\n{path}: 1 of 1 right\n"


@pytest.mark.parametrize(
    ("cell", "status", "text"),
    [
        ("%%tfrt_check chains.outputs\n5", 1, "0 of 1 right"),
        ("%%tfrt_check chain.outputs\n5", 1, "did you mean 'chains.outputs'?"),
        ("x = 1", 0, "0 of 0 right"),
    ],
)
def test_the_command_grades_a_notebook_and_says_what_it_does_not_know(
    tmp_path: Path, capsys: CaptureFixture[str], cell: str, status: int, text: str
) -> None:
    assert main(["grade", str(notebook(tmp_path, cell))]) == status
    captured = capsys.readouterr()
    assert text in captured.out + captured.err


_HOMEWORK = """\
import tfrt_nb as tfrt

@tfrt.exercise("homework.sum", right="5", wrong={"6": "Add"}, why="2 + 3 = 5.")
def total(answer: tfrt.Answer):
    "What is 2 + 3?"
    return None if answer.number() == 5 else "Add the two numbers."
"""


def test_exercises_of_a_module_in_this_folder_are_graded(
    tmp_path: Path, capsys: CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = notebook(tmp_path, "%%tfrt_check homework.sum\n5")
    tmp_path.joinpath("homework.py").write_text(_HOMEWORK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    exercises()  # the tutorials' exercises register once in a process
    monkeypatch.setattr("tfrt_nb.exercises.exercise._exercises", {})
    assert main(["grade", str(path), "--exercises", "homework"]) == 0
    assert "homework.sum: right" in capsys.readouterr().out

    assert main(["grade", str(path), "--exercises", "no_such"]) == 1
    assert "cannot import 'no_such': ModuleNotFoundError" in capsys.readouterr().err


@pytest.mark.parametrize("said", [True, False])
def test_a_check_that_gives_no_hint_is_a_problem_of_its_exercise(said: bool) -> None:
    one = replace(find("graph.path"), check=lambda answer: said)
    assert f"The check returned {said}" in one.grade("500").hint
    assert "rejects the right answer '500'" in one.problems()[0]


@pytest.mark.parametrize("content", ["[]", "{", '{"cells": 3}'])
def test_a_file_that_is_no_notebook_is_refused(
    tmp_path: Path, capsys: CaptureFixture[str], content: str
) -> None:
    path = tmp_path / "wrong.ipynb"
    path.write_text(content)
    assert main(["grade", str(path)]) == 1
    assert "wrong.ipynb: error: is not a notebook" in capsys.readouterr().out
