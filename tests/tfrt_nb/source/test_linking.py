"""Test functions of other programs: `Program.from_source(libraries=...)`."""

from __future__ import annotations

import pickle

import pytest

from tfrt_nb import Program, TfrtError

USES_HELP = """func.func @twice(%x: i32) -> i32 {
  %y = tfrt.call @help(%x) : (i32) -> i32
  %z = tfrt.add.i32 %y, %y
  tfrt.return %z : i32
}
func.func @help(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @unused() -> i32 {
  %x = tfrt.constant.i32 0
  tfrt.return %x : i32
}"""
OWN_HELP = """func.func @main(%x: i32) -> i32 {
  %two = tfrt.call @twice(%x) : (i32) -> i32
  %more = tfrt.call @help(%two) : (i32) -> i32
  tfrt.return %more : i32
}
func.func @help(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""


@pytest.fixture
def linked() -> Program:
    library = Program.from_source(USES_HELP, "library")
    return Program.from_source(OWN_HELP, "own", libraries={"lib": library})


def test_names_keep_what_they_mean_in_their_own_program(linked) -> None:
    assert linked.run(3).result() == 12
    assert {one.name: one.location.source for one in linked.functions} == {
        "main": "own",
        "help": "own",
        "twice": "library",
        "lib.help": "library",
    }


def test_a_function_of_a_library_does_not_run_by_itself() -> None:
    one = "func.func @one() -> i32 {\n  %x = tfrt.constant.i32 1\n  tfrt.return %x : i32\n}"
    two = (
        "func.func @two() -> i32 {\n  %x = tfrt.call @one() : () -> i32\n  tfrt.return %x : i32\n}"
    )
    three = two.replace("@one", "@two").replace("@two()", "@three()", 1)
    first = Program.from_source(one, "first")
    second = Program.from_source(two, "second", libraries={"lib": first})

    program = Program.from_source(three, "third", libraries={"lib": second})

    assert second.run().result() == program.run().result() == program.one().result() == 1
    assert [one.name for one in program._own_functions] == ["three"]


def test_programs_without_names_are_told_apart() -> None:
    one = Program("func.func @one(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")
    text = (
        "func.func @two(%x: i32) -> i32 {\n  %y = tfrt.call @one(%x) : (i32) -> i32\n  "
        "tfrt.return %y : i32\n}"
    )
    two = Program.from_source("\n" + text, libraries={"one": one})

    assert [one.name for one in two._own_functions] == ["two"]
    assert two.run(5).result() == pickle.loads(pickle.dumps(two)).run(5).result() == 5


def test_a_misspelt_function_of_a_library_is_suggested() -> None:
    libraries = {"lib": Program.from_source(USES_HELP, "library")}
    with pytest.raises(TfrtError, match="there is no function '@twicee'") as caught:
        Program.from_source(OWN_HELP.replace("@twice", "@twicee"), "own", libraries=libraries)
    (problem,) = caught.value.diagnostics
    words, hint = (one.message for one in problem.notes)
    assert words == "'tfrt.call' op 'twicee' does not reference a valid function"
    assert hint == "did you mean '@twice' of lib?"


def test_a_linked_program_is_pickled_and_printed_whole(linked) -> None:
    assert pickle.loads(pickle.dumps(linked)).run(3).result() == 12
    assert Program.from_source(linked.mlir).run(3).result() == 12


def test_a_linked_program_is_a_library_itself(linked) -> None:
    text = (
        "func.func @f(%x: i32) -> i32 {\n  %y = tfrt.call @main(%x) : (i32) -> i32\n  "
        "tfrt.return %y : i32\n}"
    )
    assert Program.from_source(text, libraries={"outer": linked}).run(3).result() == 12
    from_file = Program.from_bef(linked.bef, "file.bef")
    assert Program.from_source(text, libraries={"outer": from_file}).run(3).result() == 12


def test_compiled_functions_come_along() -> None:
    text = "func.func @g(%a: i64) -> i64 {\n  %b = arith.addi %a, %a : i64\n  return %b : i64\n}"
    library = Program.from_source(text, "library")
    host = (
        "func.func @main(%a: i64) -> i64 {\n  %r = tfrt.call @g(%a) : (i64) -> i64\n  "
        "tfrt.return %r : i64\n}"
    )
    assert Program.from_source(host, libraries={"lib": library}).run(4).result() == 8


def test_a_function_in_two_libraries_is_an_error_where_it_is_called() -> None:
    library = Program.from_source(USES_HELP, "library")
    with pytest.raises(TfrtError, match="2:10: error: @twice is defined by a and b"):
        Program.from_source(OWN_HELP, "own", libraries={"a": library, "b": library})
