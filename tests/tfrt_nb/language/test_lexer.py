"""Test the colors of programs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, String

from tfrt_nb.language.lexer import TfrtLexer

ROOT = Path(__file__).parents[3]
TEXT = """%%tfrt --in x=1
// a remark
func.func @main(%x: i32) -> !tfrt.chain {
  %six = tfrt.constant.i32 6
  %q:2 = "demo.later"(%six) {ms = 1 : i32, w = "text"} : (i32) -> memref<4x?xf32>
  ^bb0(%t: tensor<2xi64>):
}
"""


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("%%tfrt", Name.Function),
        ("// a remark", Comment),
        ("func.func", Name.Builtin),
        ("@main", Name.Function),
        ("%six", Name.Variable),
        ("i32", Keyword.Type),
        ("!tfrt.chain", Keyword.Type),
        ("tfrt.constant.i32", Name.Builtin),
        ("6", Number),
        ('"demo.later"', Name.Function),
        ('"text"', String),
        ("^bb0", Name.Label),
        ("f32", Keyword.Type),
    ],
)
def test_each_part_has_its_kind(part: str, kind: object) -> None:
    tokens = list(TfrtLexer().get_tokens(TEXT))
    assert any(text == part and token in kind for token, text in tokens), tokens
    assert not any(token is Error for token, _ in tokens)
    assert "".join(text for _, text in tokens) == TEXT


def test_pygments_and_nbconvert_find_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pygments.lexers"] == {
        "tfrt": "tfrt_nb.language.lexer:TfrtLexer"
    }
    assert '"%%tfrt": "tfrt"' in (ROOT / "magics/nbconvert.json").read_text()
