"""Test `tfrt-nb opt`, and the options of other commands that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tfrt_nb.nesting import MAX_NESTING
from tfrt_nb.programs import Program
from tfrt_runtime import scalars
from tfrt_runtime.bef.reader import BefFile

GOLDEN = Path(__file__).parents[2] / "golden"
HOST_PROGRAMS = sorted(
    path
    for path in (GOLDEN / "tfrt").glob("*.mlir")
    if path.with_suffix(".bef").exists() and not path.name.startswith("reject")
)

Opt = Callable[..., tuple[int, str, str]]


@pytest.fixture
def opt(on_text: Opt) -> Opt:
    """A function: `opt(text, *options)` returns status, standard output, and standard error."""
    return partial(on_text, "opt")


TEXT = """func @main(%a: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %a, %a : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
"""


def test_passes_run_and_the_program_is_printed(opt: Opt) -> None:
    text = """func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %y = arith.addi %x, %zero : i32
  %z = arith.muli %y, %y : i32
  return %y : i32
}
"""
    assert opt(text, "-p", "builtin.module(canonicalize,cse,dce)") == (
        0,
        """module {
  func.func @main(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
}
""",
        "",
    )


@pytest.mark.parametrize("path", HOST_PROGRAMS, ids=lambda path: path.stem)
def test_host_programs_are_still_programs_after_all_their_passes(opt: Opt, path: Path) -> None:
    status, text, errors = opt(path.read_text(), "-p", "canonicalize,cse,dce")

    assert (status, errors) == (0, "")
    assert opt(text) == (0, text, "")


def test_the_deepest_programs_are_printed(opt: Opt) -> None:
    deep = MAX_NESTING - 1  # the function has a region, too
    opening, closing = "scf.if %yes {\n", "}\n"
    text = f"func.func @f(%yes: i1) {{\n{opening * deep}{closing * deep}return\n}}\n"

    status, output, problems = opt(text)

    assert (status, problems) == (0, "")
    assert output.count("scf.if") == deep


def test_a_removed_pass_is_named_and_does_nothing(opt: Opt) -> None:
    status, text, warned = opt(TEXT, "-p", "async-elide-coroutines,cse")

    assert (status, text) == opt(TEXT, "-p", "cse")[:2]
    assert warned == (
        "tfrt-nb: warning: the pass 'async-elide-coroutines' was removed and does nothing\n"
    )


def test_remarks_go_to_standard_error(opt: Opt) -> None:
    status, _, errors = opt(TEXT, "--passes", "tfrt-print-stream")

    remark = "remark: stream id: 0, stream cost: 3, parent stream: -1"
    assert status == 0
    assert errors.splitlines()[:3] == [
        f"f.mlir:1:1: {remark}",
        "func @main(%a: !tfrt.chain) -> !tfrt.chain {",
        "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
    ]


@pytest.mark.parametrize(
    ("text", "options", "headline"),
    [
        ("func @main() {", [], "f.mlir:1:15: error: a '}' is missing here"),
        (TEXT.replace("@main", "@main("), [], "f.mlir:1:"),
        (TEXT, ["-p", "nonsense"], "<pipeline>:1:1: error: no pass is named 'nonsense'"),
        (TEXT, ["-p", "canonicalize{deep=true}"], "<pipeline>:1:1: error: "),
    ],
    ids=["a region is open", "a parenthesis", "no such pass", "no such option"],
)
def test_what_is_wrong_has_a_place(opt: Opt, text: str, options: list[str], headline: str) -> None:
    status, output, errors = opt(text, *options)

    assert (status, output) == (1, "")
    assert errors.startswith(headline)


def test_the_threshold_of_streams_is_an_option_of_the_translator(shell) -> None:
    text = """func @main(%v: i32) -> (i32, i32) {
  %a = tfrt.add.i32 %v, %v {_tfrt_cost = 9 : i64}
  %b = tfrt.add.i32 %v, %v {_tfrt_cost = 5 : i64}
  tfrt.return %a, %b : i32, i32
}"""
    shell.write("f.mlir", text)
    seen = []
    for options in ([], ["--tfrt-cost-threshold", "4"], ["--tfrt-cost-threshold", "100"]):
        assert shell("mlir-to-bef", *options, "f.mlir", "-o", "f.bef").status == 0
        [function] = BefFile.load((shell.folder / "f.bef").read_bytes()).functions
        seen.append(len(set(function.streams[1:])))

    assert seen == [1, 2, 1]


def test_a_negative_threshold_is_a_wrong_command_line(shell) -> None:
    outcome = shell("mlir-to-bef", "--tfrt-cost-threshold", "-1", "f.mlir")
    assert "invalid threshold value: '-1'" in outcome.stderr


SPLIT = """func.func @f() -> i32 {
  // expected-error @+1 {{use of undeclared SSA value name}}
  tfrt.return %x : i32
}
// -----
func @g() {
  "no_dialect"() : () -> ()
  tfrt.return
}
"""


def test_a_file_is_split_and_its_diagnostics_are_those_of_its_comments(opt: Opt) -> None:
    assert opt(SPLIT, "--split-input-file", "--verify-diagnostics", "--mlir-print-op-generic") == (
        0,
        """"builtin.module"() ({
  "func.func"() ({
    "no_dialect"() : () -> ()
    "tfrt.return"() : () -> ()
  }) {function_type = () -> (), sym_name = "g"} : () -> ()
}) : () -> ()
""",
        "",
    )


def test_a_comment_that_no_diagnostic_answers_is_an_error_at_its_line(opt: Opt) -> None:
    text = SPLIT.replace("%x", "%y") + "// expected-remark {{never}}\n"
    status, _, said = opt(text, "--split-input-file", "--verify-diagnostics")

    assert status == 1
    assert said.startswith('f.mlir:10:4: error: expected remark "never" was not produced\n')


def test_a_diagnostic_that_no_comment_expects_is_an_error(opt: Opt) -> None:
    status, _, said = opt(SPLIT.replace("undeclared", "other"), "--verify-diagnostics")

    assert status == 1
    assert "f.mlir:3:15: error: unexpected error: '%x' is not defined\n" in said


def test_a_note_of_advice_needs_no_comment(opt: Opt) -> None:
    text = """func @f() {
  // expected-error @+1 {{'missing' does not reference a valid function}}
  tfrt.call @missing() : () -> ()
  tfrt.return
}
"""
    assert opt(text, "--verify-diagnostics") == (0, "", "")


@pytest.mark.parametrize(
    ("written", "options", "printed"),
    [
        ("func", [], "func"),
        ("func.func", [], "func.func"),
        ("func", ["--func-dialect"], "func.func"),
        ("func.func", ["--no-func-dialect"], "func"),
    ],
)
def test_functions_are_printed_as_written_or_as_asked(
    opt: Opt, written: str, options: list[str], printed: str
) -> None:
    status, shown, _ = opt(f"{written} @f() {{\n  tfrt.return\n}}\n", *options)

    assert (status, shown.split("\n")[1]) == (0, f"  {printed} @f() {{")


REFUSED_BY_THE_TRANSLATOR = """func @f() {
  // expected-error @+1 {{function @g not defined}}
  "acme.each"() {body = @g} : () -> ()
  tfrt.return
}
// -----
// expected-error @+1 {{external functions are not allowed}}
func private @g(i32) -> i32
// -----
func @h() {
  // expected-error @+1 {{BEF files cannot encode the 'layout' attribute}}
  "acme.store"() {layout = tensor<?xf32>} : () -> ()
  tfrt.return
}
"""


def test_the_translator_compares_what_it_says_with_comments(shell) -> None:
    command = ("mlir-to-bef", "f.mlir", "-o", "f.bef", "--split-input-file", "--verify-diagnostics")
    shell.write("f.mlir", REFUSED_BY_THE_TRANSLATOR)
    right = shell(*command)
    assert (right.status, right.stderr) == (0, "")

    shell.write("f.mlir", REFUSED_BY_THE_TRANSLATOR.replace("not allowed", "welcome"))
    wrong = shell(*command)
    assert wrong.status == 1
    assert "8:1: error: unexpected error: external functions are not allowed" in wrong.stderr
    text = '7:4: error: expected error "external functions are welcome" was not produced'
    assert text in wrong.stderr
    assert not (shell.folder / "f.bef").exists()


def test_parts_of_a_file_are_no_bef_file(shell) -> None:
    shell.write("f.mlir", REFUSED_BY_THE_TRANSLATOR)
    outcome = shell("mlir-to-bef", "f.mlir", "-o", "f.bef", "--split-input-file")

    assert (outcome.status, (shell.folder / "f.bef").exists()) == (2, False)
    assert "a BEF file holds one program" in outcome.stderr


EDGES = {
    "i1": ((0, 1), (0, 1)),
    **{
        type_: ((-7, 0, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))), (-1, 3, -(2 ** (bits - 1))))
        for type_, bits in {**scalars.BITS, "index": 64}.items()
    },
    "f16": ((-0.0, 1.5, 65504.0, 6e-8), (-0.0, 1.5, -65504.0)),
    "f32": ((-0.0, 1.5, 3.4e38, 1e-45), (-0.0, 1.5, -3.4e38)),
    "f64": ((-0.0, 1.5, 1.7e308, 5e-324), (-0.0, 1.5, -1.7e308)),
}
"""Left and right operands of each type; 3 is a valid shift for all of them."""
COMPARISONS = {
    "equal": ("cmpi eq", "cmpf oeq"),
    "notequal": ("cmpi ne", "cmpf une"),
    "less": ("cmpi slt", "cmpf olt"),
    "lessequal": ("cmpi sle", "cmpf ole"),
    "greater": ("cmpi sgt", "cmpf ogt"),
    "greaterequal": ("cmpi sge", "cmpf oge"),
}
"""How `arith` names the table's comparisons, of integers and of floats."""
OUTSIDE = {
    "i": ["divui", "remui", "maxui", "minui", "cmpi ult", "cmpi ule", "cmpi ugt", "cmpi uge"],
    "f": ["cmpf ueq", "cmpf one", "cmpf ult", "cmpf ord", "maximumf", "minnumf"],
}
"""Operations that the table does not have."""


def in_arith(type_: str) -> dict[str, tuple[scalars.Operation | None, int]]:
    """Return the operations of `arith` on a type.

    Each is mapped to the operation in the table that computes it, and the index of the result.
    """
    word = {"index": "i64", "f16": "f32"}.get(type_, type_)
    found: dict[str, tuple[scalars.Operation | None, int]] = {}
    for family in scalars.ARITHMETIC:
        operation = scalars.OPERATIONS.get(f"tfrt.{family.name}.{word}")
        of_type = [name for name in family.arith if name[-1] == word[0]]
        names = of_type + list(COMPARISONS.get(family.name, ())[word[0] == "f" :][:1])
        if operation is not None:
            found |= {name: (operation, index) for index, name in enumerate(names)}
    return found | {name: (None, 0) for name in OUTSIDE[word[0]] if type_ != "i1"}


def written(number: float) -> str:
    """Return the number as MLIR reads it."""
    return f"{number:.17e}" if isinstance(number, float) else str(number)


def computed(text: str, **options: Any) -> list[str]:
    """Return the results of @main as text, in which NaN equals NaN."""
    execution = Program.from_source(text, "p.mlir").run(**options)
    return [repr(value.result()) for value in execution.results]


@pytest.mark.parametrize("type_", EDGES)
def test_folding_the_executor_and_machine_code_compute_the_same(opt: Opt, type_: str) -> None:
    operations = in_arith(type_)
    calls = [
        (name, a, b)
        for name, (operation, _) in operations.items()
        for a in EDGES[type_][0]
        for b in EDGES[type_][1]
        if not (
            (operation and operation.failure and operation.failure.when(a, b))
            or "ui" in name[3:]
            and b == 0
        )
    ]
    lines, results, types, host, hosts = [], [], [], [], []
    for number, (name, a, b) in enumerate(calls):
        operation, index = operations[name]
        comma = "," if " " in name else ""
        lines += [
            f"%a{number} = arith.constant {written(a)} : {type_}",
            f"%b{number} = arith.constant {written(b)} : {type_}",
            f"%r{number} = arith.{name}{comma} %a{number}, %b{number} : {type_}",
        ]
        types.append("i1" if "cmp" in name else type_)
        results.append(f"%r{number}")
        if types[-1] == "index":
            lines.append(f"%s{number} = arith.index_cast %r{number} : index to i64")
            types[-1], results[-1] = "i64", f"%s{number}"
        if operation is not None:
            word = operation.suffix
            host += [
                (
                    f'%a{number} = "tfrt.constant.{word}"() {{value = {written(a)} : {word}}} : () '
                    f"-> {word}"
                ),
                (
                    f'%b{number} = "tfrt.constant.{word}"() {{value = {written(b)} : {word}}} : () '
                    f"-> {word}"
                ),
                f"%r{number}:{len(operation.results)} = {operation.name} %a{number}, %b{number}",
            ]
            hosts.append((f"%r{number}#{index}", operation.results[index]))
    text = program(lines, results, types)

    status, folded, problems = opt(text, "-p", "canonicalize")

    assert (status, problems) == (0, "")
    by_machine = computed(text)
    assert computed(folded) == by_machine
    if type_ != "f16":
        of_table = [
            found
            for found, (name, *_) in zip(by_machine, calls, strict=True)
            if operations[name][0]
        ]
        names, words = zip(*hosts, strict=True)
        text = program(host, names, words, "tfrt.")
        assert computed(text, tier="interpreter") == of_table
        assert computed(text, tier="compiled") == of_table


def program(
    lines: list[str], results: Sequence[str], types: Sequence[str], dialect: str = ""
) -> str:
    """Return a function @main of a dialect."""
    listed, body = ", ".join(types), "\n  ".join(lines)
    return (
        f"func.func @main() -> ({listed}) {{\n  {body}\n"
        f"  {dialect}return {', '.join(results)} : {listed}\n}}\n"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("", "it has a reduction: 'async-parallel-for{reductions=true}' splits it"),
        (
            "{reductions=true}",
            "only a reduction of numbers that uses nothing but its two arguments",
        ),
    ],
)
def test_a_parallel_loop_that_is_left_alone_says_why(opt: Opt, options: str, why: str) -> None:
    status, _, errors = opt(REDUCTION, "-p", f"async-parallel-for{options}")

    assert status == 0
    assert errors.startswith("f.mlir:3:8: remark: the loop stays as it is")
    assert why in errors
    assert errors.count("remark") == 1


REDUCTION = """func.func @sum(%n: index, %first: i64) -> i64 {
  %one = arith.constant 1 : index
  %s = scf.parallel (%i) = (%one) to (%n) step (%one) init (%first) -> i64 {
    %x = arith.index_cast %i : index to i64
    scf.reduce(%x : i64) {
    ^bb0(%a: i64, %b: i64):
      %c = arith.addi %a, %x : i64
      scf.reduce.return %c : i64
    }
  }
  return %s : i64
}
"""
