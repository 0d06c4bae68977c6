"""Test values from Python for a cell, programs that call each other, and files.

The options are `--in`, `--as`, and `--with`; `%tfrt` runs files.
"""

from __future__ import annotations

import pytest

import tfrt_nb as tfrt
from tfrt_magics.inputs import nothing_to_run
from tfrt_magics.views.diagnostics import CellText, diagnostics_bundle

SUM = """func.func @main(%pieces: i32, %people: i32) -> i32 {
  %sum = tfrt.add.i32 %pieces, %people
  tfrt.return %sum : i32
}"""
TWICE = """func.func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""
CALLS_TWICE = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.call @twice(%one) : (i32) -> i32
  tfrt.return %two : i32
}"""


def test_expressions_and_names_are_values_of_parameters(cell, notebook) -> None:
    notebook.user_ns |= {"people": 4, "price": [250]}
    shown = cell(f"%%tfrt --in people --in pieces=7*price[0] -o total\n{SUM}")
    assert "● @main: done" in shown
    assert notebook.user_ns["total"].result() == 1754


def test_arrays_and_values_that_are_not_there_yet_are_values(cell, notebook) -> None:
    cell("import numpy as np, tfrt_nb\nnumbers = np.ones((2, 3), np.float32)")
    cell(
        "%%tfrt --in t=numbers*2 -o shape\nfunc.func @main(%t: !t.tensor) -> !ts.shape {\n"
        "  %s = tfrt_dht.get_tensor_shape %t\n  tfrt.return %s : !ts.shape\n}"
    )
    assert "2, 3" in str(notebook.user_ns["shape"].result())
    cell("later = tfrt_nb.unavailable()")
    cell(f"%%tfrt --no-wait --in pieces=later --in people=1 -o total\n{SUM}")
    assert not notebook.user_ns["total"].done()
    cell("later.set_result(41)")
    assert notebook.user_ns["total"].result(60) == 42


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("--in pieces='\"seven\"' --in people=2", ["%pieces", "i32", "'seven'"]),
        ("--in pieces=2.5 --in people=2", ["%pieces", "i32", "2.5"]),
        ("--in pieces=2**40 --in people=2", ["%pieces", "i32"]),
        ("--in piece=7 --in people=2", ["--in piece:", "did you mean %pieces?"]),
        ("--in zzz=7 --in people=2", ["--in zzz:", "%pieces, %people"]),
        ("-f main --in people=2", ["@main", "%pieces: i32", "--in pieces=..."]),
        ("--in people=2", ["@main", "%pieces: i32", "--in pieces=..."]),
        ("--in pieces=1//0 --in people=2", ["--in pieces=1//0:", "ZeroDivisionError"]),
        ("--in pieces=nowhere --in people=2", ["--in pieces=nowhere:", "NameError"]),
        ("--in pieces=1+ --in people=2", ["--in pieces=1+:", "SyntaxError"]),
        ("--in pieces= --in people=2", ["--in pieces=:", "NAME=EXPRESSION"]),
        ("--in people=1 --in people=2", ["--in people:", "already"]),
        (
            "--in 'pieces=__import__(\"sys\").exit(3)' --in people=2",
            ["--in pieces=", "SystemExit: 3"],
        ),
    ],
)
def test_what_is_wrong_with_a_value_is_one_line(cell, line: str, parts: list[str]) -> None:
    shown = cell(f"%%tfrt {line}\n{SUM}")
    assert len(shown.splitlines()) == 1
    assert [part for part in parts if part not in shown] == []


def test_only_functions_with_all_their_values_run(cell) -> None:
    shown = cell(f"%%tfrt --in x=4\n{TWICE}\nfunc.func @other(%z: i64) {{ tfrt.return }}")
    assert ("@twice: done" in shown, "@other" in shown) == (True, False)
    for option in ("", "--step", "--explore"):
        shown = cell(f"%%tfrt {option}\n{TWICE}")
        said, line, carets = shown.splitlines()
        sentence = "remark: the program compiles; to run @twice, add --in x=..."
        assert said.partition(":")[2] == f"2:1: {sentence}"
        assert (line, set(carets.strip())) == (f"  {TWICE.splitlines()[0]}", {"^"})


def test_a_page_shows_what_a_program_without_values_needs_as_it_shows_errors() -> None:
    program = tfrt.Program.from_source(f"\n{TWICE}", "cell 1")
    bundle = diagnostics_bundle([nothing_to_run(program)], CellText("cell 1", f"\n{TWICE}"))

    assert "● <b>remark</b></span> the program compiles; to run @twice, add" in bundle["text/html"]
    assert 'bold">func.func</span> @twice' in bundle["text/html"]
    assert bundle["text/plain"].startswith("cell 1:2:1: remark: the program compiles;")


def test_a_compiled_function_takes_values_by_name(cell, notebook) -> None:
    program = (
        "func.func @main(%a: i64) -> i64 {\n  %b = arith.addi %a, %a : i64\n  return %b : i64\n}"
    )
    cell(f"%%tfrt --in a=21 -o b\n{program}")
    assert notebook.user_ns["b"].result(60) == 42


def test_a_program_is_kept_and_called_by_others(cell, notebook) -> None:
    assert cell(f"%%tfrt --as arithmetic\n{TWICE}") == ""
    assert notebook.user_ns["arithmetic"].twice(21).result() == 42
    shown = cell(f"%%tfrt --with arithmetic -o two\n{CALLS_TWICE}")
    assert ("@main: done" in shown, "@twice: done" in shown) == (True, False)
    assert notebook.user_ns["two"].result() == 2
    cell(f"%%tfrt --with arithmetic -f twice --in x=5 -o ten\n{CALLS_TWICE}")
    assert notebook.user_ns["ten"].result() == 10


def test_a_traced_program_is_called_by_others(cell, notebook) -> None:
    cell(
        "import tfrt_nb as tfrt\n@tfrt.program\n"
        "def twice(x: tfrt.i32) -> tfrt.i32:\n    return x + x"
    )
    cell(f"%%tfrt --with twice -o two\n{CALLS_TWICE}")
    assert notebook.user_ns["two"].result(60) == 2


def test_two_programs_with_one_function_are_an_error_at_the_call(cell) -> None:
    cell(f"%%tfrt --as first\n{TWICE}")
    cell(f"%%tfrt --as second\n{TWICE}")
    shown = cell(f"%%tfrt --with first,second\n{CALLS_TWICE}")
    assert ":4:10: error: @twice is defined by first and second" in shown
    unused = cell("%%tfrt --with first,second\nfunc.func @main() { tfrt.return }")
    assert "@main: done" in unused


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        ("nothing", ["nothing"]),
        ("number", ["number", "int"]),
        ("kep", ["kep", "did you mean kept?"]),
        ("untyped", ["untyped", "no types", "untyped.trace(tfrt.i32)"]),
    ],
)
def test_a_name_that_is_no_program_is_one_line(
    cell, notebook, names: str, parts: list[str]
) -> None:
    cell(f"%%tfrt --as kept\n{TWICE}")
    notebook.user_ns |= {"number": 3, "untyped": tfrt.program(lambda x: x)}
    shown = cell(f"%%tfrt --with {names}\n{CALLS_TWICE}")
    assert len(shown.splitlines()) == 1
    assert [part for part in ["--with", *parts] if part not in shown] == []


def test_a_file_runs_with_the_options_of_a_cell(cell, notebook, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sum.mlir").write_text("﻿" + SUM.replace("\n", "\r\n"), encoding="utf-8")
    shown = cell("%tfrt sum.mlir --in pieces=20+1 --in people=1 -o total --as kept")
    assert "@main: done" in shown
    assert notebook.user_ns["total"].result() == 22
    (tmp_path / "sum.bef").write_bytes(notebook.user_ns["kept"].bef)
    shown = cell("%tfrt sum.bef --in pieces=4 --in people=5 -o total")
    assert "pieces, people were taken in this order" in shown
    assert notebook.user_ns["total"].result() == 9


def test_a_mistake_in_a_file_is_shown_in_its_line(cell, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.mlir").write_text("func.func @main() {\n  tfrt.return %z : i32\n}\n")
    (tmp_path / "wrong.bef").write_bytes(b"\x0b\xef\x00\x01")
    (tmp_path / "wrong.txt").write_bytes(b"\xff\xfe")
    shown = cell("%tfrt wrong.mlir")
    assert "wrong.mlir:2:15: error" in shown
    assert "^^" in shown
    assert "wrong.bef" in cell("%tfrt wrong.bef")
    for line in ("wrong.txt", "no_such.mlir", ".", ""):
        shown = cell(f"%tfrt {line}")
        assert (len(shown.splitlines()), line in shown) == (1, True)


@pytest.mark.parametrize("stage", ["mlir", "bef"])
def test_a_host_program_has_two_stages(cell, stage: str) -> None:
    shown = cell(f"%%tfrt --emit {stage}\n{TWICE}")
    assert "tfrt.add.i32" in shown
    if stage == "bef":
        assert shown.startswith("000000  0b ef 00 ")
        assert "%1 = tfrt.add.i32 %0, %0" in shown
    shown = cell(f"%%tfrt --emit llvm\n{TWICE}")
    assert ("compiled functions" in shown, "@twice" in shown) == (True, True)
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("text", ["\n\n", "\r\n", "// only a remark\n", "﻿"])
def test_an_empty_cell_compiles(cell, text: str) -> None:
    said = (
        "the program compiles; it has no function to run: write one, as in 'func.func @main() "
        "{ tfrt.return }'"
    )
    assert cell(f"%%tfrt\n{text}") == f"remark: {said}\n"


def test_what_no_utf8_has_is_a_diagnostic(cell) -> None:
    assert "error" in cell("%%tfrt\nfunc.func @main() { tfrt.return } \ud800")
