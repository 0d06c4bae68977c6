"""Test the programs in `tests/programs/source`, which say themselves what should happen.

The first line names the action: `print`, `print --head`, or `errors`, which shows why the program
is rejected.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.report import render_all
from tfrt_nb.source import SourceError, parse_module

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "source").glob("*.mlir"))


def outcome(path: Path) -> str:
    text = path.read_text()
    command = text.partition("\n")[0].removeprefix("// RUN: ")
    if command == "errors":
        with pytest.raises(SourceError) as caught:
            parse_module(text, path.name)
        return render_all(caught.value.diagnostics, text)
    assert command in ("print", "print --head")
    return print_module(parse_module(text, path.name), head=command == "print --head")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_outcome_is_what_the_program_says(path: Path) -> None:
    options = Options(match_filename=str(path))
    checks = Parser(options, io.StringIO(path.read_text()), *pattern_for_opts(options))
    complaints = io.StringIO()
    with redirect_stderr(complaints):
        code = Matcher(options, FInput(path.name, outcome(path)), checks).run()

    assert code == 0, complaints.getvalue()


@pytest.mark.parametrize("text", ["", "// only a comment", "\n\n"])
def test_an_empty_text_is_an_empty_module(text: str) -> None:
    assert not parse_module(text, "text").body.block.ops
