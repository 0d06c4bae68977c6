"""Test that plain programs get the same records without the IR, and others are left alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.tfrt_nb.source.damage import damaged

from tfrt_nb.compiled.division import divide
from tfrt_nb.convert import plain_text
from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.nesting import deep_stack
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_nb.source.plain.program import MAX_REMEMBERED
from tfrt_nb.source.plain.reader import _MEMORY, read_plain
from tfrt_nb.source.spans import SourceText
from tfrt_runtime.bef.records import BefModule, collector_paused
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import Diagnostic, TfrtError
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS, kernel

TESTS = Path(__file__).parents[2]
CORPUS = sorted(TESTS.rglob("*.mlir"))

PLAIN = """\
// A comment
func.func @main(%n: i32, %c: !tfrt.chain) -> (!tfrt.chain, i32, i32) {
  %x = tfrt.constant.i32 -7
  %f = tfrt.constant.f32 1.5
  %d:2 = tfrt.div.i32 %n, %x // %another, 1

  %q, %r = tfrt.div.i32 %d#0, %x
  %s = "tfrt.minus.i32"(%d, %d#1) : (i32, i32) -> i32
  %c1 = tfrt.print.i32 %s,%c
\t%t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %c2 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c1 0.0 : f32
  tfrt.add.i32 %n, %n
  %y:2 = "golden.op"(%c1, %s, %s) {text = "a, b", value = [1 : i32]} : (!tfrt.chain, i32, i32) -> (i1, f64)
  %z = tfrt.call @twice(%q) : (i32) -> i32
  %m = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %late = tfrt.add.i32 %z, %r
  tfrt.return %m, %late, %n : !tfrt.chain, i32, i32
}

func.func @twice(%0: i32) -> i32 {
  %1 = tfrt.add.i32 %0, %0
  %2 = tfrt.constant.i32 -7
  tfrt.return %1 : i32
}

func.func private @nothing() {
  tfrt.return
} // the end
func.func @sync() -> i32 attributes {tfrt.sync} {
  %1 = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %2 = "tfrt.add_s.i32"(%1, %1) : (i32, i32) -> i32
  tfrt.return %2 : i32
}"""  # noqa: E501


NESTED = """\
func.func @main(%n: i32, %t: i1, %u: i1, %c: !tfrt.chain) -> i32 {
  %one = tfrt.constant.i32 1 loc("model/layer.py":1:2)
  %x = tfrt.add.i32 %n, %one loc("model/layer.py":10:2) // a comment
  %y = tfrt.add.i32 %x, %n loc("other.py":300:70)
  %z, %s = tfrt.if %t, %x, %y : (i32, i32) -> (i32, i32) {
    %1 = tfrt.minus.i32 %x, %y loc("other.py":7:7)
    %2 = "golden.op"(%1) {text = "50% of // it"} : (i32) -> i32
    tfrt.return %1, %2 : i32, i32
  } else  { // the other way

    %r = tfrt.repeat.i32 %x, %y : i32 {
      %w = tfrt.add.i32 %y, %y
      tfrt.return %w : i32
    }
    tfrt.return %r, %x : i32, i32
  }
  tfrt.if %u, %c : (!tfrt.chain) -> () {
    tfrt.return
  }
  tfrt.if %t, %u : (i1) -> () {
    tfrt.return
  } else {
    %not = tfrt.constant.i1 0
    tfrt.return
  }
  tfrt.if %t, %t : (i1) -> () {
    tfrt.return
  }
  %done = tfrt.parallel_for.i32 %n to %z fixed %one, %c, %s : !tfrt.chain, i32 {
    %c1 = tfrt.print.i32 %n, %c
    tfrt.return %c1 : !tfrt.chain
  }
  %k = tfrt.cond %t @main @other (%n, %t, %u, %done) : (i32, i1, i1, !tfrt.chain) -> (i32)
  tfrt_test.do.async %k : (i32) -> () {
    tfrt.return
  }
  tfrt.return %k : i32 loc("model/layer.py":12:2)
}
func.func private @other(%n: i32, %t: i1, %u: i1, %c: !tfrt.chain) -> i32 {
  %k = tfrt.if %u, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    tfrt.return %n : i32
  }
  tfrt.return %k : i32
}
"""


ONE_LINE = """\
func.func @main(%n: i32, %t: i1, %c: !tfrt.chain) -> i32 {
  %x = tfrt.if %t, %n : (i32) -> i32 { tfrt.return %n : i32 } else { %y = tfrt.add.i32 %n, %n  tfrt.return %y : i32 }
  %z = tfrt.if %t, %x : (i32) -> i32 {tfrt.return %x : i32} else {%y = tfrt.add.i32 %x, %x  tfrt.return %y : i32} // %n
  %q, %r = tfrt.if %t, %n, %z : (i32, i32) -> (i32, i32) {
    tfrt.return %n, %z : i32, i32
  }else{
    %d:2 = tfrt.div.i32 %n, %z
    tfrt.return %d#0, %d#1 : i32, i32
  }
    tfrt.if %t, %c : (!tfrt.chain) -> () { %one = tfrt.constant.i32 1 %c1 = tfrt.print.i32 %one, %c tfrt.return }
  tfrt.if %t, %c : (!tfrt.chain) -> () { tfrt.return } else {tfrt.return}
  %sum = tfrt.repeat.i32 %q, %r : i32 { %1, %2 = tfrt.div.i32 %r, %r  %3 = tfrt.add.i32 %1, %2  tfrt.return %3 : i32 }
  "golden.op"(%n) {text = "{ return }", value = [1 : i32]} : (i32) -> ()
  tfrt_test.do.async %sum : (i32) -> () { tfrt.return }
  tfrt.return %sum : i32
}
"""  # noqa: E501


LIKE = """\
func.func @main(%n: i32, %t: i1, %c: !tfrt.chain) -> i32 {
  %v0 = tfrt.if %t, %n : (i32) -> i32 { tfrt.return %n : i32 } else { %y = tfrt.add.i32 %n, %n  tfrt.return %y : i32 }
  %v10 = tfrt.if %t, %v0 : (i32) -> i32 { tfrt.return %v0 : i32 } else { %y = tfrt.add.i32 %v0, %v0  tfrt.return %y : i32 }
  %v200 = tfrt.if %t, %v10 : (i32) -> i32 { tfrt.return %v10 : i32 } else { %other = tfrt.add.i32 %v10, %v10  tfrt.return %other : i32 } // one
  %v4 = tfrt.if %t, %n, %v200 : (i32, i32) -> i32 { tfrt.return %n : i32 } else { tfrt.return %v200 : i32 }
  %v5 = tfrt.if %t, %v4, %n : (i32, i32) -> i32 { tfrt.return %n : i32 } else { tfrt.return %v4 : i32 }
  %v6 = tfrt.repeat.i32 %v4, %v200 : i32 { %1, %2 = tfrt.div.i32 %v200, %v200  %3 = tfrt.add.i32 %1, %2  tfrt.return %3 : i32 }
  %v7 = tfrt.if %t, %v6 : (i32) -> i32 {
      %v8 = tfrt.repeat.i32 %v6, %v6 : i32 { %one, %two = tfrt.div.i32 %v6, %v6  %x = tfrt.add.i32 %one, %two  tfrt.return %x : i32 }
      %v9 = tfrt.repeat.i32 %v8, %v6 : i32 { %one, %two = tfrt.div.i32 %v6, %v6  %x = tfrt.add.i32 %one, %two  tfrt.return %x : i32 }
    tfrt.return %v9 : i32
  } else {
    tfrt.return %v6 : i32
  }
  tfrt.if %t, %c : (!tfrt.chain) -> () { tfrt.return }
  tfrt.if %t, %t : (i1) -> () { tfrt.return }
  tfrt.if %t, %c : (!tfrt.chain) -> () { tfrt.return }
  tfrt.return %v7 : i32
}
"""  # noqa: E501
"""Lines with regions, some of which differ only in names."""
REPEATED = "".join(
    [
        (
            "func.func @main(%n: i32, %c: !tfrt.chain) -> (i32, !tfrt.chain) {\n  %v0 = "
            "tfrt.constant.i32 1\n"
        ),
        *(f"  %v{i} = tfrt.add.i32 %v{i - 1}, %n // a comment\n\n" for i in range(1, 9)),
        *(
            f"    tfrt.add.i32 %v{i}, %v1\n// {i % 2}\n  %c{i} = tfrt.new.chain\n"
            for i in range(2, 9)
        ),
        "  %p8 = tfrt.print.i32 %v8, %c\n",
        *(
            f'  %p{i} = "tfrt.print.i32"(%v1, %p{i - 1}) : (i32, !tfrt.chain) -> !tfrt.chain\n'
            for i in range(9, 14)
        ),
        "  %t = tfrt.constant.i1 1\n  %w = tfrt.if %t, %n : (i32) -> i32 {\n",
        *(f"    %x{i} = tfrt.add.i32 %n, %n\n" for i in range(4)),
        "    tfrt.return %x3 : i32\n  } else {\n",
        *(f"    %x{i} = tfrt.add.i32 %n, %n\n" for i in range(4)),
        "    tfrt.return %x3 : i32\n  }\n\n\n  tfrt.return %w, %p13 : i32, !tfrt.chain\n}\n\n\n\n",
        "func.func @sums(%a: i32) -> i32 {\n  %v0 = tfrt.add.i32 %a, %a\n",
        *(f"  %v{i} = tfrt.add.i32 %v{i - 1}, %v{i - 1}\n" for i in range(1, 9)),
        "  tfrt.return %v8 : i32\n}",
    ]
)
"""Adjacent lines that differ only in names."""
WHOLE = {
    "plain": PLAIN,
    "nested": NESTED,
    "one line": ONE_LINE,
    "like": LIKE,
    "repeated": REPEATED,
}


def plain_records(text: str, name: str) -> BefModule | None:
    """Return the records made without the IR; None for a program that is not plain."""
    with collector_paused(), deep_stack():
        program = read_plain(SourceText(text, name))
    return None if program is None else plain_text.plain_records(program)


def full_way(text: str, name: str) -> BefModule | tuple[Diagnostic, ...] | None:
    """Return the records or the errors of a program; None for one with compiled functions."""
    try:
        host, code = divide(parse_module(text, name))
        return to_records(host) if code is None else None
    except TfrtError as error:
        return error.diagnostics


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_plain_program_is_the_same_both_ways(text: str) -> None:
    records = plain_records(text, "plain.mlir")

    assert records is not None
    assert records == full_way(text, "plain.mlir")


def test_a_long_program_is_the_same_both_ways() -> None:
    random_ = random.Random(1)
    values, lines = ["%n", "%v0"], ["%v0 = tfrt.constant.i32 1"]
    for index in range(1, 20_000):
        first, second = random_.choices(values[-50:], k=2)
        name = f"%v{index}"
        lines.append(
            random_.choice(
                [
                    f"{name} = tfrt.add.i32 {first}, {second}",
                    f'{name} = "tfrt_test.async_add.i32"({first}, {second}) : (i32, i32) -> i32',
                    f"    {name} = tfrt.constant.i32 {index % 300}",
                    f"// a comment\n\n{name} = tfrt.call @main({first}) : (i32) -> i32",
                ]
            )
        )
        values.append(name)
    body = "\n".join([*lines, f"tfrt.return {values[-1]} : i32"])
    text = f"func.func @main(%n: i32) -> i32 {{\n{body}\n}}\n"
    records = plain_records(text, "long.mlir")

    full = full_way(text, "long.mlir")
    assert records is not None
    assert isinstance(full, BefModule)
    assert write_bef(records) == write_bef(full)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: str(path.relative_to(TESTS)))
def test_the_corpus_is_the_same_both_ways(path: Path) -> None:
    records = plain_records(path.read_text(), path.name)

    assert records in (None, full_way(path.read_text(), path.name))


OTHERS = [
    "\n",
    "\n",
    ",",
    ":",
    "%",
    "#1",
    " // ",
    '"',
    "{",
    "}",
    "%x",
    "i32",
    "tfrt.return",
    "loc(unknown)",
]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("whole", WHOLE.values(), ids=WHOLE)
def test_damaged_programs_are_the_same_both_ways(whole: str, seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(20):
        text = damaged(whole, random_, OTHERS)
        records = plain_records(text, "damaged.mlir")

        assert records is None or records == full_way(text, "damaged.mlir"), text


def function(*lines: str) -> str:
    return "\n".join(["func.func @main(%a: i32, %c: !tfrt.chain) {", *lines, "}"])


ADDS = [f"  %v{i} = tfrt.add.i32 %v{i - 1}, %a" for i in range(1, 9)]
ADDS[0] = "  %v1 = tfrt.add.i32 %a, %a"


@pytest.mark.parametrize(
    "text",
    [
        function(*ADDS, "  %x = tfrt.add.i32 %v8, %c", "tfrt.return"),
        function(*ADDS, "  %x = tfrt.add.i32 %v8, %v9", "tfrt.return"),
        function(*ADDS, "  %v3 = tfrt.add.i32 %v8, %a", "tfrt.return"),
        function(*ADDS, "  %x = tfrt.add.i32 %y, %a", "  %y = tfrt.add.i32 %a, %a", "tfrt.return"),
        function(*ADDS, "  %x = tfrt.add.i32 %x, %a", "tfrt.return"),
        function(*ADDS, "  %8x = tfrt.add.i32 %a, %a", "tfrt.return"),
        function(*ADDS, "  % = tfrt.add.i32 %a, %a", "tfrt.return"),
        function(*ADDS, "  %x#0 = tfrt.add.i32 %a, %a", "tfrt.return"),
        function(*ADDS) + "\n" + "\n".join(ADDS),
        function("tfrt.return") + "\n" + "\n".join(ADDS),
        function("%x = tfrt.add.i32 %a, %b", "tfrt.return"),
        function("%x = tfrt.add.i32 %a, %c", "tfrt.return"),
        function("%x = tfrt.add.i32 %a, %a", "%y = tfrt.add.i32 %a, %c", "tfrt.return"),
        function("%x = tfrt.add.i32 %x, %a", "tfrt.return"),
        function("%x = tfrt.add.i32 %y, %a", "%y = tfrt.add.i32 %a, %a", "tfrt.return"),
        function("%a = tfrt.add.i32 %a, %a", "tfrt.return"),
        function("%x, %x = tfrt.div.i32 %a, %a", "tfrt.return"),
        function("%x, %y = tfrt.add.i32 %a, %a", "tfrt.return"),
        function("%x:2, %y = tfrt.div.i32 %a, %a", "tfrt.return"),
        function("%x = tfrt.call @other(%a) : (i32) -> i32", "tfrt.return"),
        function("%x = tfrt.call @main(%a) : (i32) -> i32", "tfrt.return"),
        function("tfrt.return", "tfrt.return"),
        function("tfrt.return %a : i32"),
        function("%x = tfrt.return"),
        function("%x ="),
        function("%x = // nothing", "tfrt.return"),
        function("tfrt.unknown %a", "tfrt.return"),
        function(),
        function("tfrt.return") + function("tfrt.return"),
        function("tfrt.return") + "\n%x = // nothing",
        function("tfrt.return").replace("%c:", "%a:"),
        function("tfrt.return").replace(") {", ") -> i32, i32 {"),
        function("tfrt.return %a : i32").replace(") {", ") -> i32 attributes {tfrt.sync} {"),
    ],
)
def test_what_is_wrong_is_left_to_the_parser_that_says_why(text: str) -> None:
    assert plain_records(text, "wrong.mlir") is None
    with pytest.raises(TfrtError):
        Program.from_source(text, "wrong.mlir")


@pytest.mark.parametrize(
    "text",
    [
        function("%x = tfrt.add.i32 %a,", "  %a", "tfrt.return"),
        function("%x = tfrt.add.i32 %a, %a", "loc(unknown)", "tfrt.return"),
        function("%x = tfrt.add.i32 %a, %a loc(unknown)", "tfrt.return"),
        function('%x = "tfrt_test.sum"(%a)', " : (i32) -> i32", "tfrt.return"),
        function(
            "tfrt_test.do.async %a : (i32) -> () {", "tfrt.return", "} loc(unknown)", "tfrt.return"
        ),
        function("tfrt_test.do.async %a : (i32) -> () { tfrt.return } loc(unknown)", "tfrt.return"),
        function(
            "tfrt_test.do.async %a : (i32) -> () { tfrt_test.do.async %a : (i32) -> () { "
            "tfrt.return } tfrt.return }",
            "tfrt.return",
        ),
        "module {\n" + function("tfrt.return") + "\n}",
        "!alias = i32\n" + function("tfrt.return").replace("%a: i32", "%a: !alias"),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_parser(text: str) -> None:
    assert plain_records(text, "other.mlir") is None
    assert isinstance(full_way(text, "other.mlir"), BefModule)


def test_a_plain_program_has_a_module_when_it_is_asked_for() -> None:
    program = Program.from_source(PLAIN, "plain.mlir")

    assert program._module is not None
    assert to_records(program._module) == plain_records(PLAIN, "plain.mlir")
    assert program._named_values()[1, 1] == "%1"


# What earlier sources have taught


def test_a_line_of_an_earlier_text_may_have_another_number_of_operands() -> None:
    for operands in ("%a", "%a, %c", "%a"):
        text = function(f"%done = tfrt.print.i32 {operands}", "tfrt.return")
        records = plain_records(text, "prints.mlir")

        assert records is not None
        assert records == full_way(text, "prints.mlir")


@pytest.mark.parametrize("kind", ["i1", "i8", "i16", "i32", "i64", "ui32", "ui64", "f32", "index"])
@pytest.mark.parametrize("name", ["tfrt.constant", "tfrt.constant_s", "users.constant"])
def test_a_constant_like_one_of_an_earlier_text_has_a_number_of_its_own(
    name: str, kind: str
) -> None:
    text = f"func.func @main() {{\n  %a = {name}.{kind} NUMBER\n  tfrt.return\n}}"
    powers = [2**bits + more for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64) for more in (-1, 0)]
    for number in ["1", "01", "-1", "0x7", "1.0", *map(str, powers)]:
        program = text.replace("NUMBER", number)
        full = full_way(program, "constants.mlir")
        found = plain_records(program, "constants.mlir")
        assert found == full if isinstance(full, BefModule) else found is None


def test_an_alias_of_an_earlier_text_is_not_known_to_a_later_one() -> None:
    text = function('"golden.alias"(%a) : (i32) -> !alias', "tfrt.return")
    assert isinstance(full_way(f"!alias = i32\n{text}", "alias.mlir"), BefModule)
    assert plain_records(f"!alias = i32\n{text}", "alias.mlir") is None
    assert plain_records(f"{text}\n!alias = i32", "alias.mlir") is None

    assert plain_records(text, "later.mlir") is None
    with pytest.raises(TfrtError, match="undefined symbol alias '!alias'"):
        Program.from_source(text, "later.mlir")


def test_a_call_like_that_of_an_earlier_text_is_checked_for_the_functions_of_its_own() -> None:
    call = function("%x = tfrt.call @only_here(%a) : (i32) -> i32", "tfrt.return")
    callee = "func.func @only_here(%a: i32) -> i32 {\n  tfrt.return %a : i32\n}"
    assert plain_records(f"{call}\n{callee}", "calls.mlir") is not None

    assert plain_records(call, "later.mlir") is None
    assert plain_records(f"{call}\n{callee.replace('i32', 'i64')}", "later.mlir") is None


@pytest.fixture
def remembered() -> Iterator[Callable[[Callable[..., object]], object]]:
    """Register a function as the kernel `remembered.price`, replacing the previous one."""
    yield kernel("remembered.price")
    del USER_FUNCTIONS["remembered.price"]
    del USER_KERNELS["remembered.price"]


def test_the_short_form_of_a_users_kernel_has_the_types_of_its_present_annotations(
    remembered: Callable[[Callable[..., object]], object],
) -> None:
    def price_in_cents(price: int) -> int:
        return price

    def price_in_euros(price: int) -> float:
        return price / 100

    text = function("%x = remembered.price %a", "tfrt.return")
    types = []
    for price in (price_in_cents, price_in_euros):
        remembered(price)
        records = plain_records(text, "shop.mlir")
        assert records is not None
        types.append(records.functions[0].register_types)

    assert types == [("i32", "!tfrt.chain", "i32"), ("i32", "!tfrt.chain", "f64")]


def test_what_texts_have_taught_is_bounded() -> None:
    for start in range(0, 5 * MAX_REMEMBERED, MAX_REMEMBERED):
        lines = [f"%x{n} = tfrt.constant.i32 {start + n}" for n in range(MAX_REMEMBERED)]
        assert plain_records(function(*lines, "tfrt.return"), "bounded.mlir") is not None

    assert len(_MEMORY.shapes) <= 2 * MAX_REMEMBERED
