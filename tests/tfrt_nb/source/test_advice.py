"""Test messages about learners' mistakes, each with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfrt_nb import Program, TfrtError, kernel
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS


@pytest.fixture(autouse=True)
def price() -> Iterator[None]:
    @kernel("advice.price")
    def function(x: int) -> int:
        return x

    yield
    del USER_FUNCTIONS["advice.price"]
    del USER_KERNELS["advice.price"]


PYTHON = (
    "this is Python, and a program is written in MLIR: '%x = tfrt.constant.i32 3', between"
    " 'func.func @main() {' and '}'"
)


def advice(line: str, type_: str = "i32") -> str:
    """Return the messages and notes about a host program with this line."""
    text = (
        f"func.func @main(%a: {type_}) -> {type_} "
        f"{{\n  {line}\n  tfrt.return %a : {type_}\n}}\nfunc.func @twice(%x: i32) -> i32 "
        f"{{ tfrt.return %x : i32 }}"
    )
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "cell").load()
    return "\n".join(
        f"{one} {[str(each) for each in one.notes]}" for one in caught.value.diagnostics
    )


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("%b = tfrt.sub.i32 %a, %a", "did you mean 'tfrt.minus.i32'?"),
        ("%b = tfrt.eq.i32 %a, %a", "did you mean 'tfrt.equal.i32'?"),
        ("%b = tfrt.max.i32 %a, %a", "did you mean 'tfrt.maximum.i32'?"),
        ("%b = tfrt.mul.f32 %a, %a", "did you mean 'tfrt.multiply.f32'?"),
        ("%b = tfrt.add %a, %a", "did you mean 'tfrt.add.i32'?"),
        ("%b = tfrt.const 3", "did you mean 'tfrt.constant.i32'?"),
        ("%b = arith.addi %a, %a : i32", "write 'tfrt.add.i32'"),
        ("%b = arith.constant 3 : i32", "write 'tfrt.constant.i32'"),
        ("%b = arith.remui %a, %a : i32", "end the function with 'return'"),
        ("%b = tfrt.add.i32(%a, %a) : (i32) -> i32", "without parentheses"),
        ("%b = tfrt.add.i32 %a, %a : i32", "2:28: error: 'tfrt.add.i32' has its types in its name"),
        ('%b = "tfrt.add.i32"(%a, %a) : (i32) -> i32', "1 type listed: write (i32, i32)"),
        ('%b = "advice.prise"(%a) : (i32) -> i32', "did you mean 'advice.price'?"),
        ("%b = advice.price(%a) : (i32) -> i32", "without parentheses"),
        ("%b = tfrt.call @twcie(%a) : (i32) -> i32", "did you mean '@twice'?"),
        ("%b = tfrt.call @other(%a) : (i32) -> i32", "defined functions: @main, @twice"),
    ],
)
def test_a_line_of_a_host_program(line: str, instead: str) -> None:
    assert instead in advice(line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "  %t = async.exec {\n  }",
            [
                "2:8: error: there is no operation 'async.exec'",
                "custom op 'async.exec' is unknown",
                "did you mean 'async.execute'?",
            ],
        ),
        (
            "  scf.forall (%i) in (4) {\n  }",
            [
                "2:3: error: there is no operation 'scf.forall'",
                "custom op 'scf.forall' is unknown",
                "write 'scf.parallel (%i) = (%first) to (%end) step (%step) { ... }' instead",
            ],
        ),
        (
            "  %t = async.qqq",
            [
                "2:8: error: there is no operation 'async.qqq'",
                "custom op 'async.qqq' is unknown",
                "the reference lists the operations of 'async', as does Tab in a notebook",
            ],
        ),
        (
            "  fun %a",
            [
                (
                    "2:3: error: there is no operation 'fun': an operation is written as a dialect "
                    "and a name, as in 'tfrt.add.i32'"
                ),
                "custom op 'fun' is unknown",
            ],
        ),
        (
            "  %m = memref.alloc() : int",
            [
                "2:25: error: 'int' is not a type",
                "expected an attribute",
                "did you mean 'i32'?",
            ],
        ),
        (
            "  %m = memref.alloc() : memref<4x>\n  return",
            [
                "2:34: error: the type of the elements goes here, as in 'memref<4xf32>'",
                "expected shape type",
            ],
        ),
        (
            "  %y = tfrt.call @main() : () ->",
            [
                "3:1: error: a type goes here, such as i32, f32, or !async.token",
                "expected a type",
            ],
        ),
        (
            "  a = tfrt.constant.i32 1",
            [
                "2:3: error: names of values start with '%': write '%a'",
                "custom op 'a' is unknown",
            ],
        ),
        *(
            (f"  {line}", [f"2:3: error: {PYTHON}", f"custom op '{word}' is unknown"])
            for line, word in (
                ("x = 1 + 2", "x"),
                ("x += 1", "x"),
                ("y = max(3, 4)", "y"),
                ("z = np.zeros(3)", "z"),
                ("import math", "import"),
                ("def f(x):", "def"),
                ("foo(3)", "foo"),
                ("a, b = 1, 2", "a"),
            )
        ),
        ("  # first", ["2:3: error: expected a name after '#'; comments begin with '//'"]),
        (
            "  return\n}",
            [
                "4:1: error: this '}' has no '{': the first line of a function ends with '{'",
                "expected an operation; this closes nothing",
            ],
        ),
        (
            "  %a = arith.constant 1.5 : i32\n  return",
            [
                "2:23: error: a whole number is needed here, such as 1",
                "floating point value not valid for specified type",
            ],
        ),
        (
            "  %a = arith.constant 1 : i32\n  %b = async.await %a : i32\n  return",
            [
                (
                    "3:3: error: 'async.await' op operand #0 must be async value type or async token "  # noqa: E501
                    "type, but got 'i32'"
                ),
                "cannot name an operation with no results",
            ],
        ),
        (
            "  %t = async.execute { async.yield }\n  %b = async.await %t : !async.token\n  return",
            [
                (
                    "3:3: error: 'async.await' has no result here: remove the names and the '=' "
                    "before it"
                ),
                "cannot name an operation with no results",
            ],
        ),
        (
            "  tfrt.return\n  %a = tfrt.constant.i32 1",
            [
                (
                    "2:3: error: nothing after 'tfrt.return' would run: remove what follows, or move "  # noqa: E501
                    "it up"
                ),
                "'tfrt.return' op must be the last operation in the parent block",
            ],
        ),
        (
            "  return\n}\nasync.func @g() -> i32 {\n  async.return",
            [
                (
                    "4:1: error: 'async.func' op result type must be async value type or async token "  # noqa: E501
                    "type, but got 'i32'"
                ),
                (
                    "write '!async.value<i32>': an async function returns values that its caller "
                    "awaits"
                ),
            ],
        ),
        (
            (
                "  return\n}\nfunc.func @g(%a: i64) -> i64 {\n  func.call @mian(%a) : (i64) -> ()\n  "  # noqa: E501
                "return %a : i64"
            ),
            [
                "5:3: error: there is no function '@mian'",
                "'func.call' op 'mian' does not reference a valid function",
                "did you mean '@main'?",
            ],
        ),
        (
            (
                "  tfrt.return\n}\nfunc.func @g() -> i32 {\n  %a = tfrt.constant.i32 1\n  return %a "  # noqa: E501
                ": i32"
            ),
            [
                "6:3: error: all functions need to have a tfrt.return",
                (
                    "'tfrt.constant.i32' is a kernel, which makes the function a host program; "
                    "'return' ends compiled functions: write 'tfrt.return'"
                ),
            ],
        ),
    ],
)
def test_one_message_for_one_mistake(text: str, said: list[str]) -> None:
    with pytest.raises(TfrtError) as caught:
        Program.from_source(f"func.func @main() {{\n{text}\n}}", "cell")
    (found,) = caught.value.diagnostics
    assert [str(found).removeprefix("cell:"), *(one.message for one in found.notes)] == said


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("%b = arith.addi %x, %x : f32", ["did you mean 'arith.addf'?"]),
        ("%b = arith.maxsi %x, %x : f32", ["did you mean 'arith.maximumf'?"]),
        ("%b = arith.cmpi slt, %x, %x : f32", ["did you mean 'arith.cmpf'?"]),
        ("%b = arith.divf %i, %i : i32", ["did you mean 'arith.divsi'?"]),
        ("%b = arith.mulf %n, %n : index", ["did you mean 'arith.muli'?"]),
        ("%b = arith.xori %x, %x : f32", []),
        (
            "%b = arith.cmpi less, %i, %i : i32",
            ["predicates are eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge"],
        ),
    ],
)
def test_an_operation_on_other_numbers(line: str, instead: list[str]) -> None:
    text = f"func.func @main(%x: f32, %i: i32, %n: index) {{\n  {line}\n  return\n}}"
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "cell").load()
    notes = [each.message for each in caught.value.diagnostics[0].notes]
    assert [one for one in notes if "-like, but got" not in one] == instead


def test_lines_outside_of_a_function_are_one_mistake() -> None:
    text = "%six = tfrt.constant.i32 6\n%c = tfrt.new.chain\n"
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "cell").load()
    (found,) = caught.value.diagnostics
    assert str(found) == (
        "cell:1:8: error: 'tfrt.constant.i32' is outside of a function: write 'func.func @main() "
        "{' above"
        " it, and '}' below"
    )


def test_a_tensor_in_a_region_of_code_is_given_its_shape() -> None:
    text = """func.func @main(%t: !t.tensor) -> f32 {
  %r = hex.jit_execute(%t) -> f32 {
    %c0 = arith.constant 0 : index
    %x = memref.load %t[%c0] : memref<8xf32>
    tfrt.return %x : f32
  }
  tfrt.return %r : f32
}"""
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "cell")
    assert [str(one) for one in caught.value.diagnostics[0].notes][-1] == (
        "cell:4:22: note: give the tensor its type where the region begins: '(%t: memref<8xf32>)'"
    )
    Program.from_source(text.replace("(%t)", "(%t: memref<8xf32>)"), "cell")
