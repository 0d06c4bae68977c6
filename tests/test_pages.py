"""What JupyterLab is served: one module without comments, which says the same as its sources."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import tfrt_pages

MAX_BYTES = 90_000


def test_all_of_it_is_small_and_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    tfrt_pages.write_pages(folder)
    assert sum(path.stat().st_size for path in folder.rglob("*.js")) < MAX_BYTES
    code = (folder / "static" / "extension.js").read_text()
    assert "import{" not in code
    assert code.count("export ") == 1
    if node := shutil.which("node"):
        module = tmp_path / "module.mjs"
        module.write_text(code)
        subprocess.run([node, "--check", str(module)], check=True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("const a = 1; // one\n/* two */ const b = a;", "let a=1,b=a;"),
        ("f(\"// no comment\", '/* nor */');", "f(\"// no comment\",'/* nor */');"),
        ("const p = /[/]\\/\\//g.test(x);", "let p=/[/]\\/\\//g.test(x);"),
        ("x = a / b / c;", "x=a/b/c;"),
        ("const f = (x) => { return x + +y - -z; };", "let f=x=>{return x+ +y- -z};"),
        ("const f = async (x) => x in y;", "let f=async(x)=>x in y;"),
        ("s = `a  ${b ? `c  ${ d }` : {e: 1}.e}  // f`;", "s=`a  ${b?`c  ${d}`:{e:1}.e}  // f`;"),
        ("const css = `\n.a { b: c; }\n`;", "let css=`\n.a{b:c}`;"),
    ],
)
def test_strings_templates_and_patterns_stay(code: str, expected: str) -> None:
    assert tfrt_pages.stripped(code) == expected + "\n"


def test_names_of_modules_become_short_where_no_property_has_them() -> None:
    code = (
        "const total = 1;\nconst count = 2;\nfunction addAll(...total) {"
        ' return `total ${total}` + "total" + x.count; }\nf(...total, { count });\n'
    )
    names = tfrt_pages.short_names(code)
    assert names == {"total": "$0", "addAll": "$1"}
    inner = "f((event) => { const found = event.target; return { found: g(found) }; });\n"
    assert list(tfrt_pages.short_names(inner)) == ["event"]
    taken = (
        "function f(early, later) { const [some, more] = later; return (each, other) => later; }\n"
    )
    assert list(tfrt_pages.short_names(taken)) == [
        "later",
        "early",
        "some",
        "more",
        "each",
        "other",
    ]
    assert tfrt_pages.stripped(code, names) == (
        'let $0=1,count=2;function $1(...$0){return`total ${$0}`+"total"+x.count}f(...$0,{count});\n'
    )


def test_two_modules_with_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nconst x = b;\n')
    (tmp_path / "b.js").write_text("const x = 1;\nexport const b = x;\n")
    with pytest.raises(ValueError, match="both declare x"):
        tfrt_pages.joined(tmp_path / "a.js")


def test_a_form_that_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import * as dom from "./dom.js";\n')
    with pytest.raises(ValueError, match="a form that this does not know: import"):
        tfrt_pages.joined(tmp_path / "a.js")
