"""The fast way through a block makes what the parser behind it makes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.random_programs import random_program
from tests.tfrt_nb.source.damage import damaged
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tfrt_nb.dialects import print_module
from tfrt_nb.source import SourceError, parse_module
from tfrt_nb.source.parser import SourceParser
from tfrt_nb.source.spans import definition_span, source_span, value_name
from tfrt_nb.source.statements import StatementParser
from tfrt_nb.source.text import SourceText

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
PROGRAMS = sorted(path for path in GOLDEN.glob("*.mlir") if not path.stem.startswith("reject"))


def facts(operation: Operation) -> tuple[Any, ...]:
    """All that can be seen of an operation."""
    span = source_span(operation)
    assert span is not None
    return (
        type(operation),
        (span.first, span.start, span.end, span.explicit),
        [(value_name(operand), operand.type) for operand in operation.operands],
        [
            (value_name(result), result.type, definition_span(result), result.name_hint)
            for result in operation.results
        ],
        [[(use.operation.name, use.index) for use in result.uses] for result in operation.results],
        operation.attributes,
        operation.properties,
    )


def parse(text: str) -> ModuleOp:
    return SourceParser(SourceText(text, "text")).parse_module()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_plain_lines_make_the_same_operations_as_tokens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text()
    fast = [facts(operation) for operation in parse(text).walk()]
    monkeypatch.setattr(StatementParser, "_read_statements", lambda *_: None)
    slow = [facts(operation) for operation in parse(text).walk()]

    assert fast == slow


@pytest.mark.parametrize(
    "line",
    [
        "%x = tfrt.add.i32 %a,\n %a",
        "%x = tfrt.print.i32 %a\n , %c",
        '%x = "tfrt_test.sum"(%a)\n : (i32) -> i32',
        '%x = "tfrt_test.sum"(%a) : (i32)\n -> i32',
        "%x = tfrt.add.i32 %a, %a\n {note = 1 : i32}",
        "%x = tfrt.add.i32 %a, %a\n loc(unknown)",
        "%x = tfrt.add.i32 %a, %a // a comment\n // and another\n",
        "%x = tfrt.call\n @f(%a, %c) : (i32, !tfrt.chain) -> !tfrt.chain",
        "%x = tfrt.constant.i32 0x10",
        "%x = tfrt.constant.i1 true",
        "%x = tfrt.constant.f32 0x7F800000",
        "%x:2 = tfrt.div.i32 %a, %a",
        "%x, %y = tfrt.div.i32 %a, %a",
        '%x:1, %y = "golden.op"(%a, %c) {value = [1, "}"]} : (i32, !tfrt.chain) -> (i32, f64)',
        "%x = tfrt.add.i32 %a, %a   \t",
    ],
)
def test_a_line_that_goes_on_is_read_to_its_end(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = "@f(%a: i32, %c: !tfrt.chain) -> !tfrt.chain"
    text = f"func {signature} {{\n{line}\ntfrt.return %c : !tfrt.chain\n}}"
    fast = [facts(operation) for operation in parse(text).walk()]
    monkeypatch.setattr(StatementParser, "_read_statements", lambda *_: None)
    slow = [facts(operation) for operation in parse(text).walk()]

    assert fast == slow


def outcome(text: str) -> list[Any]:
    """All operations of the module that `text` is, or all that is wrong with it."""
    try:
        return [facts(operation) for operation in parse_module(text, "text").walk()]
    except SourceError as error:
        return list(error.diagnostics)


def short_form(text: str) -> str:
    """The program with its operations out of quotes, where they can be."""
    return print_module(parse(text))


OTHERS = ["\n", "\n", ",", ":", "%", "#1", " // ", '"', "0x1F"]


@pytest.mark.parametrize("form", [str, short_form], ids=["written", "short"])
def test_random_programs_are_the_same_fast_and_slow(
    form: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [form(random_program(seed)) for seed in range(40)]
    programs += [
        damaged(text, random.Random(seed), OTHERS) for seed, text in enumerate(programs * 5)
    ]
    fast = [outcome(text) for text in programs]
    monkeypatch.setattr(StatementParser, "_read_statements", lambda *_: None)

    for text, expected in zip(programs, fast, strict=True):
        assert outcome(text) == expected, text


def test_time_grows_with_the_size_and_no_stack_does() -> None:
    count = 100_000
    lines = [f"  %v{index + 1} = tfrt.add.i32 %v{index}, %v{index}" for index in range(count)]
    text = "\n".join(
        ["func @f(%v0: i32) -> i32 {", *lines, f"  tfrt.return %v{count} : i32", "}", ""]
    )

    module = parse(text)

    assert sum(1 for _ in module.walk()) == count + 3
