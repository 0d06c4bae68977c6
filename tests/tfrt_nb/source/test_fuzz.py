"""Test that any text is a program, or a list of mistakes with their places."""

from __future__ import annotations

import random
import re
from io import StringIO
from pathlib import Path

import pytest
from xdsl.printer import Printer

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.source import SourceError, parse_module
from tfrt_runtime.diagnostics import Location

GOLDEN = Path(__file__).parents[2] / "golden"
PROGRAMS = [
    text
    for folder in ("tfrt", "async")
    for path in sorted((GOLDEN / folder).rglob("*.mlir"))
    if len(text := path.read_text(encoding="utf-8")) < 5000
]


TOKEN = re.compile(r'[A-Za-z_][\w$.]*|%[\w$.#-]+|"[^"\n]*"|[0-9.]+|\S')
STRANGE: list[str] = [
    *'"{}(<[*\t\0é',
    *("#x", "!y", "0x", "-", "1.", "1e9999", "9" * 40, "@", "%", "^bb0:", "loc(", "//", "\ud800"),
    *("tensor<", "dense<", "i0", "i99999999", "ui7", "f128", "affine_map<", "#corert.shape<"),
]
ROUNDS = 3000
CHUNKS = 12


def generic_form(text: str) -> str:
    """Return the program with every operation in quotes, or unchanged if it is not valid."""
    stream = StringIO()
    try:
        Printer(stream, print_generic_format=True).print_op(parse_module(text, "text"))
    except SourceError:
        return text
    return stream.getvalue()


def damaged(text: str, random_: random.Random) -> str:
    """Return `text` cut off, or with some tokens omitted, swapped, doubled, or replaced."""
    if random_.random() < 0.2:
        return text[: random_.randrange(len(text) + 1)]
    for _ in range(random_.choice([1, 1, 1, 2, 5])):
        tokens = list(TOKEN.finditer(text))
        if tokens:
            text = _with_one_change(text, random_.choice(tokens), tokens, random_)
    return text


def _with_one_change(
    text: str, token: re.Match[str], tokens: list[re.Match[str]], random_: random.Random
) -> str:
    before, after = text[: token.start()], text[token.end() :]
    match random_.choice(["drop", "drop", "exchange", "double", "strange"]):
        case "drop":
            return before + after
        case "exchange":
            return before + random_.choice(tokens).group() + after
        case "double":
            return f"{before}{token.group()} {token.group()}{after}"
    return before + random_.choice(STRANGE) + after


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_programs_are_read_or_refused_with_a_place(chunk: int) -> None:
    for seed in range(chunk, ROUNDS, CHUNKS):
        random_ = random.Random(seed)
        text = random_.choice(PROGRAMS)
        text = damaged(generic_form(text) if random_.random() < 0.3 else text, random_)
        try:
            module = parse_module(text, "damaged")
        except SourceError as error:
            assert error.diagnostics
            assert all(isinstance(each.location, Location) for each in error.diagnostics), seed
        else:
            printed = print_module(module)
            assert print_module(parse_module(printed, "printed")) == printed, seed
