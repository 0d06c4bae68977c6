"""Test completion, explanation, and definitions in a program that is being written."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS
from tfrt_nb.language.answers import (
    Place,
    complete,
    definition,
    explain,
    references,
    rename,
    signature,
)
from tfrt_nb.language.operations import entry, kernel_names, names
from tfrt_nb.language.scan import scan
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS, kernel

HEAD = (
    "func.func @main(%n: i32) -> i32 {\n  %six = tfrt.constant.i32 6\n  %big = "
    "tfrt.constant.i64 7\n"
)
TAIL = (
    "\n  %later = tfrt.constant.i32 1\n  tfrt.return %six : i32\n}\nfunc.func @twice(%x: i32) "
    "-> i32 { tfrt.return %x : i32 }\n"
)


@pytest.fixture(autouse=True)
def later() -> Iterator[None]:
    """A user's kernel."""

    @kernel("lang.later")
    def function(x: int, *, ms: int, word: str = "now") -> tuple[int, str]:
        """Add one, later."""
        return x + ms, word

    yield
    del USER_FUNCTIONS["lang.later"]
    del USER_KERNELS["lang.later"]


def at_mark(text: str) -> tuple[str, int]:
    before, mark, after = text.partition("¦")
    assert mark
    return before + after, len(before)


def offered(line: str) -> dict[str, str]:
    """Return the completions at the mark in a line of @main, with their types or kinds."""
    found = complete(*at_mark(f"{HEAD}  {line}{TAIL}"))
    return {one.text: one.type or one.kind for one in found}


def test_values_that_are_there_have_their_types() -> None:
    assert offered("%b = tfrt.add.i32 %¦") == {"%big": "i64", "%six": "i32", "%n": "i32"}
    assert offered("%b = tfrt.add.i32 %s¦") == {"%six": "i32"}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%b = tfrt.constant.i3¦", {"tfrt.constant.i32": "() -> i32"}),
        (
            "retu¦",
            {
                "return": "ends a compiled function and returns its results",
                "kernel.return": "operation",
                "tfrt.return": "operation",
            },
        ),
        ("%b = tfrt.call @tw¦", {"@twice": "(i32) -> i32"}),
        ('%b = "lang.la¦', {"lang.later": "(int) -> (int, str)"}),
        ('%b = "lang.later"(%six) {m¦', {"ms": "int"}),
        ('%b = "lang.later"(%six) {ms = 1 : i64, w¦', {"word": "str = 'now'"}),
        (
            '%b = "lang.later"(%six) {ms = 1 : i¦',
            dict.fromkeys(("i1", "i8", "i16", "i32", "i64"), "type"),
        ),
        ("%b = tfrt.merge.chains %six, %n : !tfrt.ch¦", {"!tfrt.chain": "type"}),
        ("%b = tfrt.add.i32 ¦", {"%n": "i32", "%six": "i32", "%big": "i64"}),
        ("%b = tfrt.add.i32 %six, ¦", {"%n": "i32", "%six": "i32", "%big": "i64"}),
        ("%b = tfrt.add.i32 %six, %six ¦", {}),
        ("%b = arith.cmpi s¦", dict.fromkeys(("slt", "sle", "sgt", "sge"), "predicate")),
        ("tfrt.ret¦", {"tfrt.return": "operation"}),
        ("%b = arith.addi¦", {"arith.addi": "(lhs, rhs) -> result"}),
        ("%b = ari¦", {"arith.": "dialect"}),
        ("// tfrt.ad¦", {}),
        ('%b = tfrt_test.get_string {value = "tfrt.ad¦', {}),
    ],
)
def test_what_fits_the_place_is_offered(line: str, wanted: dict[str, str]) -> None:
    assert offered(line) == wanted


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("%x = tfrt.ad¦", ["tfrt.add.i32", "tfrt.add_s.i32"]),
        ("%f = tfrt.constant.f32 1.0\n%x = tfrt.ad¦", ["tfrt.add.f32", "tfrt.add.i32"]),
        ("%x = tfrt.constant.i¦", ["tfrt.constant.i32", "tfrt.constant.i1"]),
        ("%x = ad¦", ["tfrt.add.i32", "tfrt.add_s.i32"]),
        ("%f = tfrt.constant.f32 1.0\n%x = tfrt.add.i32 %six, %¦", ["%six", "%n", "%f"]),
        ("%f = tfrt.constant.f32 1.0\ntfrt.return %¦", ["%six", "%n", "%f"]),
    ],
)
def test_what_takes_the_types_in_scope_comes_first(lines: str, wanted: list[str]) -> None:
    head = "func.func @main(%n: i32) -> i32 {\n%six = tfrt.constant.i32 6\n"
    found = [one.text for one in complete(*at_mark(head + lines + "\n}"))]
    assert found[: len(wanted)] == wanted


def test_kinds_are_words() -> None:
    words = {
        "%b = tfrt.add.i¦": "kernel",
        '%b = "lang.la¦': "kernel",
        "%b = arith.addi¦": "operation",
        "%b = tfrt.add.i32 %¦": "value",
        "%b = tfrt.call @tw¦": "function",
        "%b = tfrt.merge.chains %six, %n : !tfrt.ch¦": "type",
        "retur¦": "keyword",
        "%b = ari¦": "dialect",
    }
    kinds = {line: complete(*at_mark(f"{HEAD}  {line}{TAIL}"))[0].kind for line in words}
    assert kinds == words


TWO = """func.func @first(%n: i32) -> i32 {
  %six = tfrt.add.i32 %n, %n
  %m:2 = tfrt.repeat.i32 %n, %six, %n : i32, i32 {
    %six = tfrt.add.i32 %six, %n
    tfrt.return %six, %n : i32, i32
  }
  %x = tfrt.add.i32 %m#0, %m#1
  tfrt.return %six : i32  // %six
}
func.func @second(%six: i32) -> i32 {
  %a = tfrt.call @first(%six) : (i32) -> (i32)
  tfrt.return %a : i32
}
"""


@pytest.mark.parametrize(
    ("at", "lines"),
    [
        ("%m#1", [3, 7, 7]),
        ("%six : i32  //", [2, 3, 4, 8]),
        ("%six, %n : i32, i32\n  }", [4, 5]),
        ("%six) :", [10, 11]),
        ("@first(%six)", [1, 11]),
        ("tfrt.add", []),
    ],
)
def test_all_uses_of_a_name_are_found(at: str, lines: list[int]) -> None:
    places = references(TWO, TWO.index(at) + 1)
    assert [TWO.count("\n", 0, one.start) + 1 for one in places] == lines
    assert len({TWO[one.start : one.end] for one in places}) == bool(lines)


def test_a_renamed_program_is_the_same_program() -> None:
    for at, name in (("%m:2", "%pair"), ("%n: i32", "total"), ("@first", "@f.1")):
        spelling, places = rename(TWO, TWO.index(at) + 1, name)
        renamed = TWO
        for place in reversed(places):
            renamed = renamed[: place.start] + spelling + renamed[place.end :]
        assert renamed.count(spelling) == len(places) > 2 - (at == "@first")
        again, back = rename(renamed, places[0].start + 1, TWO[places[0].start : places[0].end])
        assert len(back) == len(places) and again == TWO[places[0].start : places[0].end]


@pytest.mark.parametrize(
    ("at", "name", "said"),
    [
        ("%n", "%six", "%six is already defined: line 2"),
        ("@first", "second", "@second is already defined: line 10"),
        ("%n", "a b", "'a b' is not a name: write letters, digits, and _, as in %sum_2"),
        ("%n", "1x", "'1x' is not a name"),
        ("tfrt.add", "x", "the cursor is not at a value or a function"),
    ],
)
def test_a_name_that_cannot_be_is_refused(at: str, name: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        rename(TWO, TWO.index(at) + 1, name)


def test_a_part_of_a_name_finds_the_operation() -> None:
    assert {"tfrt.maximum.i32", "tfrt.maximum.f64"} <= offered("%b = maxim¦").keys()


def test_values_of_regions_stay_in_them() -> None:
    text = (
        "func.func @main(%n: i32) -> i32 {\n  %outer = tfrt.constant.i32 1\n"
        "  %m = tfrt.repeat.i32 %n, %n : i32 {\n"
        "    %inner = tfrt.add.i32 %n, %n\n    %x = tfrt.add.i32 %¦\n    tfrt.return %inner : i32\n"
        "  }\n  %y = tfrt.add.i32 %|\n}"
    )
    inside = complete(*at_mark(text.replace("|", "")))
    outside = complete(*at_mark(text.replace("¦", "").replace("|", "¦")))
    assert [one.text for one in inside] == ["%inner", "%n"]
    assert [one.text for one in outside] == ["%m", "%outer", "%n"]
    assert {one.type for one in outside} == {"i32"}


def test_values_around_a_region_are_seen_as_operands_or_by_compiled_code() -> None:
    branches = """func.func @main(%yes: i1, %n: i32) -> i32 {
  %outer = tfrt.constant.i32 1
  %m = tfrt.if %yes, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %x = tfrt.add.i32 %¦
"""
    assert {one.text for one in complete(*at_mark(branches))} == {"%yes", "%n"}
    task = "func.func @f(%n: i64) {\n  %t = async.execute {\n    %x = arith.addi %¦\n"
    assert {one.text for one in complete(*at_mark(task))} == {"%n"}


def test_types_are_read_from_every_form() -> None:
    text = """func.func @main() -> i64 {
  %c = arith.constant 41 : i64
  %t, %v = async.execute -> !async.value<i64> {
    async.yield %c : i64
  }
  %l:2 = "x.y"(%c) : (i64) -> (i64, memref<4xf32>)
  %r = async.await %v : !async.value<i64>
  %p = arith.cmpi slt, %c, %r : i64
  %w = arith.trunci %c : i64 to i32
  scf.for %i = %a to %b step %c iter_args(%k = %c) -> (i64) {
  ^bb0(%arg: i64, %q: memref<4x?xf32>):
    scf.yield
  }
  scf.parallel (%x, %y) = (%a, %a) to (%b, %b) step (%c, %c) {
    scf.reduce
  }
}"""
    assert {value.name: value.type for value in scan(text).values} == {
        "%c": "i64",
        "%t": "!async.token",
        "%v": "!async.value<i64>",
        "%l#0": "i64",
        "%l#1": "memref<4xf32>",
        "%r": "i64",
        "%p": "i1",
        "%w": "i32",
        "%i": "index",
        "%k": "i64",
        "%arg": "i64",
        "%q": "memref<4x?xf32>",
        "%x": "index",
        "%y": "index",
    }


@pytest.mark.parametrize("loop", ["scf.parallel", "async.parallel_for"])
def test_the_indices_of_a_parallel_loop_are_known_inside_it(loop: str) -> None:
    text = f"""func.func @f(%n: index) {{
  {loop} (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {{
    %x = arith.addi %i, %¦j : index
  }}
}}
"""
    source, cursor = at_mark(text)

    assert {one.text for one in complete(source, cursor)} == {"%n", "%i", "%j"}
    assert rename(source, cursor, "k")[1] == [
        Place(found.start(), found.end()) for found in re.finditer("%j", source)
    ]
    after = source.replace("\n}\n", "\n  %y = arith.addi %¦\n}\n")
    assert {one.text for one in complete(*at_mark(after))} == {"%n"}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("%p = tfrt.m¦ul.i32 %six, %six", ["tfrt.mul.i32  (i32, i32) -> i32", "The product"]),
        ('%p = "lang.la¦ter"(%six) {ms = 1 : i64}', ["lang.later", "Add one, later.", "ms: int"]),
        ('%p = "lang.later"(%six) {m¦s = 1 : i64}', ["ms: int", "lang.later"]),
        ("%p = tfrt.mul.i32 %s¦ix, %six", ["%six: i32", "line 2: %six = tfrt.constant.i32 6"]),
        ("%p = tfrt.call @twi¦ce(%six)", ["@twice  (i32) -> i32", "line 8"]),
        ("%p = tfrt.addd.i3¦2 %six", ["tfrt.addd.i32 is unknown; did you mean tfrt.add.i32?"]),
        ('%p = "lang.latr¦"(%six)', ["did you mean lang.later?"]),
        ("%p = tfrt.add.i32 %nowher¦e", ["%nowhere is not defined here"]),
        ("%p = async.exe¦cute", ["async.execute", "A task"]),
        ("%p = tfrt.ca¦ll @twice(%six)", ["By default, the call is strict"]),
    ],
)
def test_what_stands_somewhere_is_explained(line: str, parts: list[str]) -> None:
    found = explain(*at_mark(f"{HEAD}  {line}{TAIL}")) or ""
    assert [part for part in parts if part not in found] == []


def test_remarks_and_marks_are_not_explained() -> None:
    assert explain("// tfrt.add.i32", 5) is None
    assert explain("  = ", 1) is None
    assert explain("", 0) is None


def test_definitions_are_found() -> None:
    text, cursor = at_mark(f"{HEAD}  %p = tfrt.call @twice(%s¦ix){TAIL}")
    place = definition(text, cursor)
    assert place is not None
    assert (text[place.start : place.end], place.start) == ("%six", text.index("%six"))
    place = definition(text, text.index("@twice(%six)") + 2)
    assert place is not None
    assert text[place.start :].startswith("@twice(%x: i32)")
    assert definition(text, text.index("tfrt.call")) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%",
        '"',
        "@",
        "%x =",
        "func.func @",
        "func.func @f(",
        "{{{",
        "}}}",
        "%a:99999999999 = x.y",
        "\ud800%",
        "%x = tfrt.add.i32 %x, %x : (((",
        "(" * 2000,
    ],
)
def test_no_text_is_too_strange(text: str) -> None:
    for cursor in (0, len(text) // 2, len(text), len(text) + 5):
        complete(text, cursor)
        explain(text, cursor)
        definition(text, cursor)


def test_each_kernel_says_what_it_does() -> None:
    own = set(kernel_names()) - USER_FUNCTIONS.keys()
    without = [name for name in sorted(own) if not getattr(entry(name), "text", "")]
    assert without == []


def test_each_operation_of_another_dialect_says_what_it_does() -> None:
    found = [name for dialect in UPSTREAM_DIALECTS for name in names(f"{dialect}.")]
    known = {name: one for name in found if (one := entry(name)) is not None}
    assert {"arith.addi", "scf.for", "memref.load", "async.execute"} <= set(known)
    assert [name for name, one in known.items() if not one.text] == []


def test_the_table_has_the_users_kernels_and_dialects() -> None:
    assert "lang.later" in names("lang.")
    assert "async.execute" in names("async.")
    assert entry("no.such") is None
    found = entry("lang.later")
    assert found is not None
    assert found.line == "lang.later  (int) -> (int, str)  {ms: int, word: str = 'now'}"
    assert found.example == "%x, %y = lang.later %a {ms = 1 : i64}"


@pytest.mark.parametrize(
    ("line", "label", "active"),
    [
        ("%b = tfrt.add.i32 ¦", "tfrt.add.i32  (i32, i32) -> i32", "i32 15"),
        ("%b = tfrt.add.i32 %n,¦ %n", "tfrt.add.i32  (i32, i32) -> i32", "i32 20"),
        ("%b = tfrt.add.i32 %n, %n, ¦", "tfrt.add.i32  (i32, i32) -> i32", ""),
        ("demo.wait.i32 %n {¦", "demo.wait.i32  (i32) -> i32  {seconds: f64}", "seconds: f64 30"),
        (
            "demo.wait.i32 %n {seconds = 1¦}",
            "demo.wait.i32  (i32) -> i32  {seconds: f64}",
            "seconds: f64 30",
        ),
        (
            "%b = lang.later %n¦",
            "lang.later  (int) -> (int, str)  {ms: int, word: str = 'now'}",
            "int 13",
        ),
        (
            '%b = lang.later %n {word = "a"¦',
            "lang.later  (int) -> (int, str)  {ms: int, word: str = 'now'}",
            "word: str = 'now' 43",
        ),
        ("%b = tfrt.call @twice(¦", "@twice  (i32) -> i32", "i32 9"),
        ("%b = tfrt.call @twice(%n) : (i32¦", "@twice  (i32) -> i32", ""),
        ("tfrt.return ¦", "tfrt.return  (i32) -> ()", "i32 14"),
        (
            "arith.addi %n, ¦",
            "arith.addi  (lhs, rhs) -> result  {overflowFlags: attribute}",
            "rhs 18",
        ),
    ],
)
def test_what_an_operation_takes_is_said_while_it_is_written(
    line: str, label: str, active: str
) -> None:
    found = signature(*at_mark(f"{HEAD}  {line}{TAIL}"))
    assert found is not None
    begin, end = (0, 0) if found.active is None else found.parts[found.active]
    part = f"{found.label[begin:end]} {begin}" if end else ""
    assert (found.label, part) == (label, active)


@pytest.mark.parametrize("line", ["%b = tfrt.ad¦", "%b = tfrt.nothing ¦", "// tfrt.add.i32 ¦", "¦"])
def test_where_no_operation_is_written_nothing_is_said(line: str) -> None:
    assert signature(*at_mark(f"{HEAD}  {line}{TAIL}")) is None
