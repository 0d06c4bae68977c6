"""Test a program's document: ids, names, and places, for any source of the program."""

from __future__ import annotations

import itertools
import json

import pytest

from tfrt_nb import Program
from tfrt_nb.documents.picture import layout
from tfrt_nb.documents.program import ProgramDocument, program_document
from tfrt_nb.source import parse_module

PLAIN = """\
func.func @main(%n: i32) -> i32 {
  %a, %b = "x.y"(%n) : (i32) -> (i32, i32)
  %two:2 = "x.y"(%n) : (i32) -> (i32, i32)
  %c0 = tfrt.new.chain  // not the end: }
  tfrt.print.i32 %two#1, %c0
  tfrt.return %a : i32
}

func.func @other() -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %c0 = tfrt.new.chain

  tfrt.return %one, %c0 : i32, !tfrt.chain
}
"""
NESTED = """\
func.func @loop() -> i32 {
  %rounds = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %count = tfrt.repeat.i32 %rounds, %one : i32 {
    %next = tfrt.add.i32 %one, %one
    tfrt.return %next : i32
  }
  tfrt.return %count : i32
}
func.func @quick(%x: i32) -> i32 attributes {tfrt.sync} {
  %y = tfrt.add_s.i32 %x, %x
  tfrt.return %y : i32
}
func.func @tasks() -> i64 {
  %six = arith.constant 6 : i64
  %t0, %left = async.execute -> !async.value<i64> {
    %x = arith.muli %six, %six : i64
    async.yield %x : i64
  }
  %a = async.await %left : !async.value<i64>
  return %a : i64
}
async.func @later() -> !async.token {
  return
}
"""


def column(document, rows, key):
    return [row[key] for row in document[rows]]


REGIONS = """\
func.func @main(%t: i1, %n: i32, %c: !tfrt.chain) -> (i32, i32) {
  %one = tfrt.constant.i32 1 loc("other//file.py":7:2)  // a remark
  %a, %b:2 = tfrt.if %t, %n, %one : (i32, i32) -> (i32, i32, i32) {  // {
    %x = tfrt.add.i32 %n, %one
    tfrt.return %x, %n, %n : i32, i32, i32
  } else {
    %y = tfrt.repeat.i32 %one, %n : i32 {
      tfrt.return %n : i32
    }
    tfrt.return %one, %n, %y : i32, i32, i32
  }
  tfrt.if %t, %c, %one : (!tfrt.chain, i32) -> () {
    tfrt.print.i32 %one, %c
    tfrt.return
  }
  tfrt.return %a, %b#1 : i32, i32
}
"""


ONE_LINE = """\
func.func @main(%t: i1, %n: i32) -> (i32, i32) {
  %a, %b:2 = tfrt.if %t, %n : (i32) -> (i32, i32, i32) { %x = tfrt.add.i32 %n, %n  tfrt.return %x, %n, %n : i32, i32, i32 } else {%y:2 = tfrt.div.i32 %n, %n %z = tfrt.add.i32 %y#0, %y#1 tfrt.return %z, %y#0, %y#1 : i32, i32, i32}  // {
  %c = tfrt.repeat.i32 %a, %n : i32 { tfrt.return %n : i32 }
  tfrt.return %a, %c : i32, i32
}
"""  # noqa: E501


@pytest.mark.parametrize("text", [PLAIN, REGIONS, ONE_LINE], ids=["lines", "regions", "one line"])
def test_a_plain_program_is_read_off_its_lines_as_off_its_module(text):
    program = Program.from_source(text, "p")
    assert program._plain is not None
    plain, names = ProgramDocument(program), program._named_values()
    program._plain, program._names = None, None
    full = ProgramDocument(program)
    assert plain.data == full.data == program_document(parse_module(text, "p"))
    assert (plain.kernels, plain.registers) == (full.kernels, full.registers)
    assert names == program._named_values()


def test_a_document_has_ids_names_and_places_in_the_order_of_the_text():
    document = program_document(Program.from_source(PLAIN, "p"))
    for rows in document.values():
        assert [row["id"] for row in rows] == list(range(len(rows)))
    assert column(document, "values", "name") == [
        *("%n", "%a", "%b", "%two#0", "%two#1", "%c0", ""),
        *("%one", "%c0"),
    ]
    printed = document["operations"][3]
    assert printed["text"] == "tfrt.print.i32 %two#1, %c0"
    assert (printed["line"], printed["column"], printed["end_line"], printed["end_column"]) == (
        *(5, 3),
        *(5, 29),
    )
    assert printed["operands"] == [4, 5]
    assert column(document, "values", "chain") == [*[False] * 5, True, True, False, True]
    functions = document["functions"]
    assert [(row["line"], row["end_line"]) for row in functions] == [(1, 7), (9, 14)]
    assert functions[0]["arguments"] == [0] and functions[1]["results"] == [7, 8]
    assert functions[1]["result_types"] == ["i32", "!tfrt.chain"]
    assert json.loads(json.dumps(document)) == document


def test_functions_of_all_kinds_and_regions_are_in_one_document():
    program = Program.from_source(NESTED, "n")
    document = ProgramDocument(program)
    data = document.data
    assert column(data, "functions", "kind") == ["host", "sync", "func", "async"]
    loop, body = data["operations"][2:4]
    assert (body["parent"], body["region"], body["line"]) == (loop["id"], 0, 5)
    assert loop["regions"] == [{"arguments": [3], "results": [4]}]
    assert loop["text"] == "%count = tfrt.repeat.i32 %rounds, %one : i32"
    value = data["values"][3]
    assert (value["name"], value["type"], value["op"]) == ("%one", "i32", None)
    execute = next(row for row in data["operations"] if row["kernel"] == "async.execute")
    assert (
        document.places["n", execute["line"], execute["column"] + len("%t0, %left = ")]
        == execute["id"]
    )


def test_names_and_lines_are_short_and_can_be_seen():
    text = (
        'func.func @"\u202emain"() -> i32 {\n'
        f"  %{'a' * 500} = tfrt.constant.i32 1\n"
        f'  %b = tfrt.add.i32 %{"a" * 500}, %{"a" * 500} {{x = "{"<b>" * 500}"}}\n'
        "  tfrt.return %b : i32\n}\n"
    )
    document = program_document(Program.from_source(text))
    (function,) = document["functions"]
    assert function["name"] == "\\u202emain"
    assert document["values"][0]["name"] == f"%{'a' * 158}…{'a' * 40}"
    assert [len(one["text"]) for one in document["operations"]] == [200, 200]
    assert document["operations"][1]["operands"] == [0, 0]


def test_kernels_and_registers_of_the_file_are_found_in_the_text():
    program = Program.from_source(NESTED, "n")
    document = ProgramDocument(program)
    names = [kernel.name for function in program.file.functions for kernel in function.kernels]
    operations = document.data["operations"]
    assert [operations[number]["kernel"] for number in document.kernels] == names
    for function, registers in zip(program.file.functions, document.registers, strict=True):
        for kernel in function.kernels:
            for register in kernel.results:
                maker = document.data["values"][registers[register]]["op"]
                assert operations[maker]["kernel"] == kernel.name


@pytest.mark.parametrize("text", [PLAIN, NESTED])
def test_a_file_has_the_same_document_but_for_names_and_columns(text):
    program = Program.from_source(text, "n")
    there, back = program_document(program), program_document(Program.from_bef(program.bef, "n"))
    for rows, keys in (
        ("functions", ("name", "kind", "line", "arguments", "results", "result_types")),
        ("operations", ("kernel", "line", "operands", "results", "parent", "regions")),
        ("values", ("type", "chain", "op")),
    ):
        for key in keys:
            assert column(there, rows, key) == column(back, rows, key), key
    assert back["operations"][0]["text"]


def test_a_file_without_text_numbers_its_values():
    document = program_document(Program.from_bef(Program.from_source(PLAIN, "p").bef, "p"))
    assert column(document, "values", "name")[:4] == ["%0", "%1", "%2", "%3"]
    assert document["operations"][3]["text"] == "%6 = tfrt.print.i32 %4, %5"


def test_deep_regions_need_no_deep_stack():
    depth = 300
    head = "func.func @main() -> i32 {\n  %n = tfrt.constant.i32 1\n"
    body = "tfrt.return %n : i32"
    for _ in range(depth):
        body = f"%r = tfrt.repeat.i32 %n, %n : i32 {{\n{body}\n}}\ntfrt.return %r : i32"
    document = program_document(Program.from_source(f"{head}{body}\n}}\n", "deep"))
    assert len(document["operations"]) == depth + 1
    assert len(layout(document)["boxes"]) == depth + 1


def test_a_picture_has_sources_above_their_users_and_regions_inside():
    document = program_document(Program.from_source(NESTED, "n"))
    picture = layout(document)
    makers = column(document, "values", "op")
    for row in document["operations"]:
        for value in row["operands"]:
            maker = makers[value]
            if maker is not None and document["operations"][maker]["parent"] == row["parent"]:
                bottom = picture["y"][maker] + picture["h"][maker]
                assert bottom <= picture["y"][row["id"]]
    boxes = {(box["function"], box["op"], box["region"]): box for box in picture["boxes"]}
    for row in document["operations"]:
        box = boxes[row["function"], row["parent"], row["region"]]
        number = row["id"]
        assert box["x"] <= picture["x"][number]
        assert picture["x"][number] + picture["w"][number] <= box["x"] + box["w"]
        assert picture["y"][number] + picture["h"][number] <= box["y"] + box["h"]
    tops = [box for box in picture["boxes"] if box["op"] is None]
    assert all(a["y"] + a["h"] < b["y"] for a, b in itertools.pairwise(tops))


def test_no_two_operations_of_a_body_overlap():
    lines = "".join(f"  %v{i} = tfrt.constant.i32 {i}\n" for i in range(50))
    adds = "".join(f"  %s{i} = tfrt.add.i32 %v{i}, %v{49 - i}\n" for i in range(50))
    text = f"func.func @main() {{\n{lines}{adds}  tfrt.return\n}}\n"
    picture = layout(program_document(Program.from_source(text, "wide")))
    corners = sorted(zip(picture["y"], picture["x"], picture["w"], strict=True))
    for (y, x, width), (below, right, _) in itertools.pairwise(corners):
        assert y != below or x + width <= right


CROSSED = """func.func @main(%x: i32) -> i32 {
  %a = tfrt.add.i32 %x, %x
  %b = tfrt.mul.i32 %x, %x
  %c = tfrt.add.i32 %b, %x
  %d = tfrt.mul.i32 %a, %b
  %e = tfrt.add.i32 %c, %d
  tfrt.return %e : i32
}
"""


def test_neighbors_swap_where_their_edges_would_cross():
    picture = layout(program_document(Program.from_source(CROSSED, "crossed")))
    a, b, c, d, _ = picture["x"]
    assert (a < b) == (d < c)


def test_what_compiled_code_calls_is_in_order_though_it_shares_no_value():
    text = """func.func @main() {
  %t = async.execute {
    async.yield
  }
  %u = async.execute {
    async.yield
  }
  call @printNewline() : () -> ()
  async.await %t : !async.token
  call @printNewline() : () -> ()
  return
}
func.func private @printNewline()
"""
    document = program_document(Program.from_source(text, "ordered"))
    lines = column(document, "operations", "line")
    picture = layout(document)
    # Two tasks are not ordered: they run at the same time.
    assert [[lines[one], lines[two]] for one, two in picture["order"]] == [[8, 9], [9, 10]]
    first, second, third = (picture["y"][lines.index(line)] for line in (8, 9, 10))
    assert first < second < third


def test_many_kernels_of_one_layer_share_a_box_without_overlap():
    lines = "".join(f"  %v{i} = tfrt.constant.i32 {i}\n" for i in range(50))
    adds = "".join(f"  %s{i} = tfrt.add.i32 %v{i}, %v{49 - i}\n" for i in range(50))
    text = f"func.func @main() {{\n{lines}{adds}  %end = tfrt.add.i32 %s0, %s1\n  tfrt.return\n}}\n"
    picture = layout(program_document(Program.from_source(text, "wide")), grouped=True)
    assert [group["ops"] for group in picture["groups"]] == [[*range(50)], [*range(50, 100)]]
    for group in picture["groups"]:
        corners = sorted((picture["y"][op], picture["x"][op]) for op in group["ops"])
        for (y, x), (below, right) in itertools.pairwise(corners):
            assert y != below or x + picture["w"][0] <= right
        for y, x in corners:
            assert group["x"] <= x and x + picture["w"][0] <= group["x"] + group["w"]
            assert group["y"] < y and y + picture["h"][0] <= group["y"] + group["h"]
    first, second = picture["groups"]
    assert first["y"] + first["h"] < second["y"]


def test_an_empty_program_has_an_empty_picture():
    assert layout({"functions": [], "operations": [], "values": []})["x"] == []
