"""Test `tfrt-nb run`: which functions run, for how long, and messages about errors and limits."""

from __future__ import annotations

import time

import pytest

SLOW = 60
"""Many more seconds than any step here takes."""

PROGRAM = """func @first() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}
func @second() -> (f32, i1, i64) {
  %x = tfrt.constant.f32 0.5
  %y = tfrt.constant.i1 true
  %z = tfrt.constant.i64 -1
  tfrt.return %x, %y, %z : f32, i1, i64
}
func @takes(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @nothing() {
  tfrt.return
}
"""

ENDLESS = """func @body(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  tfrt.return %x, %yes : i32, i1
}
func @endless() -> i32 {
  %x = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @body(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func @after() -> i32 {
  %x = tfrt.constant.i32 5
  tfrt.return %x : i32
}
"""
HEAD = "func @endless() -> i32 {\n^\n"
LOOP = """e.mlir:8:8: note: it had reached this line
  %r = tfrt.while %yes @body(%x) parallel_iterations(1) : (i32) -> (i32)
       ^
"""

FAILING = """func @f() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
"""


def test_every_function_without_arguments_runs_in_the_order_of_the_file(shell) -> None:
    outcome = shell("run", shell.write("p.mlir", PROGRAM))

    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout == (
        "--- Running 'first':\n'first' returned 1\n"
        "--- Running 'second':\n'second' returned 5.000000e-01,1,-1\n"
        "--- Running 'nothing':\n"
    )


def test_a_file_whose_functions_all_take_arguments_says_how_to_give_them(shell) -> None:
    text = "func.func @scale(%x: i32, %y: f64) -> i32 {\n  tfrt.return %x : i32\n}"

    outcome = shell("run", shell.write("p.mlir", text))

    assert (outcome.status, outcome.stdout) == (0, "")
    assert "every function takes arguments: @scale(i32, f64). To run one:" in outcome.stderr
    assert " --function scale ARGUMENT ..." in outcome.stderr


@pytest.mark.parametrize("text", ["", "// nothing\n", "module {}\n"])
def test_a_file_without_functions_shows_one(shell, text: str) -> None:
    outcome = shell("run", shell.write("empty.mlir", text))

    assert (outcome.status, outcome.stdout) == (0, "")
    assert outcome.stderr.startswith("empty.mlir: note: there is no function to run; write one:")


def test_one_function_can_be_chosen(shell) -> None:
    outcome = shell("run", "--function", "second", shell.write("p.mlir", PROGRAM))

    assert outcome.stdout == "--- Running 'second':\n'second' returned 5.000000e-01,1,-1\n"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            "third",
            "there is no function @third; defined functions: @first, @second, @takes, @nothing",
        ),
        ("takes", "@takes takes 1 argument (i32), found 0"),
        ("", "there is no function @; defined functions: @first, @second, @takes, @nothing"),
    ],
)
def test_a_function_that_cannot_run_is_an_error(shell, function: str, message: str) -> None:
    outcome = shell("run", "--function", function, shell.write("p.mlir", PROGRAM))

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr == f"tfrt-nb: error: {message}\n"


@pytest.mark.parametrize("queue", ["s", "mstd:2", "mstd:1,1", "mstd"])
def test_an_endless_function_is_given_up_and_the_next_one_runs(shell, queue: str) -> None:
    start = time.monotonic()
    outcome = shell(
        "run", "--work-queue", queue, "--timeout", "0.1", shell.write("e.mlir", ENDLESS)
    )
    seconds = time.monotonic() - start

    assert outcome.status == 1
    assert outcome.stdout == (
        "--- Running 'endless':\n'endless' returned <<error: timed out after 0.1 s>>\n"
        "--- Running 'after':\n'after' returned 5\n"
    )
    late = "e.mlir:5:1: error: @endless did not finish within 0.1 s and was cancelled\n" + HEAD
    # A worker that runs the loop may end it late; until then, the place of the loop is unknown.
    assert outcome.stderr in ((late + LOOP,) if queue == "s" else (late, late + LOOP))
    assert seconds < SLOW


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_an_endless_function_that_is_machine_code_is_given_up(shell, queue: str) -> None:
    outcome = shell(
        *("run", "-q", queue, "--timeout", "0.5", "--tier", "compiled", "--function", "endless"),
        shell.write("e.mlir", ENDLESS),
    )

    assert outcome.status == 1
    assert outcome.stderr.startswith(
        "e.mlir:5:1: error: @endless did not finish within 0.5 s and was cancelled\n" + HEAD
    )


def test_a_function_that_leaves_work_behind_is_given_up_as_well(shell) -> None:
    """Its results are available, but a loop that no result needs never ends."""
    text = ENDLESS.replace("tfrt.return %r : i32", "tfrt.return %x : i32")
    outcome = shell("run", "--timeout", "0.1", shell.write("e.mlir", text))

    assert outcome.status == 1
    assert outcome.stdout.startswith("--- Running 'endless':\n'endless' returned 0\n--- Running")
    assert "@endless did not finish within 0.1 s and was cancelled" in outcome.stderr


def test_of_nested_loops_the_inner_one_is_where_the_time_was_over(shell) -> None:
    text = ENDLESS.replace(
        "{\n  %yes",
        "{\n  %many = tfrt.constant.i32 2000000000\n"
        "  %y = tfrt.repeat.i32 %many, %x : i32 {\n    tfrt.return %x : i32\n  }\n  %yes",
        1,
    ).replace("tfrt.return %x, %yes", "tfrt.return %y, %yes")

    outcome = shell("run", "-q", "s", "--timeout", "0.1", shell.write("e.mlir", text))

    assert "e.mlir:3:8: note: it had reached this line\n  %y = tfrt.repeat" in outcome.stderr


@pytest.mark.parametrize("timeout", ["60", "1e308"])
def test_a_function_in_time_is_not_given_up(shell, timeout: str) -> None:
    outcome = shell("run", "--timeout", timeout, shell.write("p.mlir", PROGRAM))

    assert (outcome.status, outcome.stderr) == (0, "")


# --- errors ---


def test_of_many_errors_that_are_alike_ten_are_shown(shell) -> None:
    line = '  %x{} = "tfrt_test.fail"() : () -> i32\n'
    body = "".join(line.format(i) for i in range(3))
    calls = "".join(f"  %y{i} = tfrt.call @f() : () -> i32\n" for i in range(12))
    text = f"func @f() -> i32 {{\n{body}  tfrt.return %x0 : i32\n}}\n"
    text += f"func @main() -> i32 {{\n{calls}  tfrt.return %y0 : i32\n}}\n"
    path = shell.write("p.mlir", text)
    outcome = shell("run", "-q", "s", "--function", "main", path)

    lines = outcome.stderr.splitlines()
    failed = "unexpected error: runtime error: something bad happened"
    assert outcome.status == 1
    for number in (2, 3, 4):
        assert lines.count(f"{path}:{number}:9: error: {failed}") == 10
        assert lines.count(f"{path}:{number}:9: note: 2 more times: {failed}") == 1


def test_an_error_of_a_bef_file_shows_its_source_where_there_is_one(shell) -> None:
    shell.write("f.mlir", FAILING)
    shell("mlir-to-bef", "f.mlir", "-o", "f.bef")
    with_source = shell("run", "f.bef").stderr
    (shell.folder / "f.mlir").unlink()
    without = shell("run", "f.bef").stderr

    headline = "f.mlir:2:8: error: unexpected error: runtime error: something bad happened\n"
    assert with_source == f'{headline}  %x = "tfrt_test.fail"() : () -> i32\n       ^\n'
    assert without == headline


@pytest.mark.parametrize(
    ("comment", "problems"),
    [
        ("// expected-error {{something bad}}", []),
        ("// expected-error{{bad}}", []),
        ("// expected-error @+0 {{bad}}", []),
        ("\n  // expected-error@above {{bad}}", []),
        ("\n  // expected-error@above {{some}}\n  // expected-error @above {{bad}}", ['"bad" was']),
        ("// expected-error {{good}}", ["runtime error: something bad", '"good" was not produced']),
        (
            "// expected-error {{bad}} // expected-error {{bad}}",
            ['expected error "bad" was not produced'],
        ),
    ],
)
def test_expectations_are_checked_line_by_line(shell, comment: str, problems: list[str]) -> None:
    text = FAILING.replace("-> i32\n  tfrt", f"-> i32 {comment}\n  tfrt")
    outcome = shell("run", shell.write("f.mlir", text))
    lines = [line for line in outcome.stderr.splitlines() if ": error: " in line]

    assert outcome.status == (1 if problems else 0)
    assert len(lines) == len(problems)
    assert [text for text, line in zip(problems, lines, strict=True) if text not in line] == []


# --- memory ---

TENSOR = """func @f() -> !tfrt.chain {
  %c = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [1000 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %t, %c 0 : i32
  tfrt.return %c1 : !tfrt.chain
}
"""
LEAK = """func @f() {
  "tfrt_test.memory_leak_one_int32"() : () -> ()
  tfrt.return
}
"""


def test_a_profiled_allocator_reports_at_the_end(shell) -> None:
    outcome = shell("run", "--allocator", "profiled", shell.write("t.mlir", TENSOR))

    assert outcome.status == 0
    assert outcome.stdout.splitlines()[2:] == [
        "HostAllocator profile:",
        "Current number of allocations = 0",
        "Max number of allocations = 1",
        "Total number of allocations = 1",
        "Current number of bytes allocated = 0",
        "Max number of bytes allocated = 4000",
    ]


def test_a_leak_is_reported_and_is_an_error(shell) -> None:
    clean = shell("run", "--allocator", "leak_check", shell.write("t.mlir", TENSOR))
    leak = shell("run", "--allocator", "leak_check", shell.write("l.mlir", LEAK))

    assert (clean.status, leak.status) == (0, 1)
    assert "Memory leak detected: 1 alive allocations, 4 alive bytes" in leak.stdout + leak.stderr
    assert "Memory leak" not in clean.stdout + clean.stderr


def test_a_fixed_size_is_refused_to_who_asks_for_more(shell) -> None:
    text = TENSOR.replace("1000", "200")
    fits = shell("run", "--allocator", "fixed_size", shell.write("t.mlir", text))
    refused = shell("run", "--allocator", "fixed_size", shell.write("r.mlir", TENSOR))

    assert (fits.status, fits.stderr) == (0, "Allocating 864 bytes. 160 remaining.\n")
    assert refused.status == 1
    assert refused.stderr.splitlines()[:2] == [
        "Attempted to allocate 4064 bytes. However current capacity is only 1024.",
        "r.mlir:3:8: error: unexpected error: runtime error: Cannot allocate tensor",
    ]


def test_what_follows_two_dashes_are_arguments(shell) -> None:
    text = "func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}"

    outcome = shell("run", shell.write("p.mlir", text), "--tier", "auto", "--", "-3")

    assert outcome.stdout == "--- Running 'main':\n'main' returned -3\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("p.mlir", "'p.mlir' is not a numpy array: the magic string is not correct"),
        ("nowhere.npy", "cannot read 'nowhere.npy': No such file or directory"),
    ],
)
def test_an_argument_that_is_no_file_of_an_array_says_so(shell, name: str, said: str) -> None:
    text = "func.func @main(%x: !t.tensor) -> !t.tensor {\n  tfrt.return %x : !t.tensor\n}"

    outcome = shell("run", shell.write("p.mlir", text), f"@{name}")

    assert outcome.status == 2
    assert outcome.stderr.startswith(f"tfrt-nb: error: {said}")


def test_one_option_names_several_files_beside_the_program(shell) -> None:
    program = shell.write(
        "p.mlir",
        "func.func @main() -> i32 {\n  %x = tfrt.call @one() : () -> i32\n  tfrt.return %x : "
        "i32\n}",
    )
    one = shell.write(
        "one.mlir",
        "func.func @one() -> i32 {\n  %x = tfrt.constant.i32 1\n  tfrt.return %x : i32\n}",
    )
    code = shell.write("code.py", "print('was run')")

    outcome = shell("run", program, "--with", f"{one},{code}")

    assert outcome.stdout == "was run\n--- Running 'main':\n'main' returned 1\n"
