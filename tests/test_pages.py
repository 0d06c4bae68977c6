"""Test the page's modules as one module for JupyterLab: it exports what its sources export."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tfrt_pages

MAX_BYTES = 190_000


def test_all_of_it_is_small_and_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    tfrt_pages.write_pages(folder)
    assert sum(path.stat().st_size for path in folder.rglob("*.js")) < MAX_BYTES
    code = (folder / "static" / "extension.js").read_text()
    assert re.search(r"^import ", code, re.MULTILINE) is None
    assert code.count("export ") == 1
    if node := shutil.which("node"):
        module = tmp_path / "module.mjs"
        module.write_text(code)
        subprocess.run([node, "--check", str(module)], check=True)


@pytest.mark.parametrize(("kind", "most"), [("board", 150_000), ("values", 30_000)])
def test_a_widget_is_one_module_with_a_default_export(kind: str, most: int, tmp_path: Path) -> None:
    tfrt_pages.write_widgets(tmp_path)
    code = (tmp_path / f"{kind}_widget.js").read_text()
    assert len(code) < most  # each widget has its own copy
    assert re.search(r"^import ", code, re.MULTILINE) is None
    assert re.findall(r"^export .*", code, re.MULTILINE) == ["export default {"]
    assert re.search(r"innerHTML|insertAdjacentHTML|\beval\(|new Function|fetch\(", code) is None
    if node := shutil.which("node"):
        module = tmp_path / "module.mjs"
        module.write_text(code)
        subprocess.run([node, "--check", str(module)], check=True)


def test_two_modules_with_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nconst x = b;\n')
    (tmp_path / "b.js").write_text("const x = 1;\nexport const b = x;\n")
    with pytest.raises(ValueError, match="both declare x"):
        tfrt_pages.joined(tmp_path / "a.js")


@pytest.mark.parametrize(
    "declaration",
    [
        "const a = f(1, [2]),\n  x = 3;",
        'let y = "x, z;",\n  x;',
        "const { z, w: x = y } = v;",
        "const [z, x] = v;",
        "const y = /[(,]/.exec(`;${x}`), // x = 1,\n  x = 2;",
        "export async function x(y) {}",
    ],
)
def test_a_name_that_a_list_or_a_pattern_declares_is_found(
    tmp_path: Path, declaration: str
) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nconst x = b;\n')
    (tmp_path / "b.js").write_text(f"{declaration}\nexport const b = 1;\n")
    with pytest.raises(ValueError, match="both declare x"):
        tfrt_pages.joined(tmp_path / "a.js")


def test_what_is_no_declaration_at_the_top_level_is_no_name() -> None:
    code = (
        'const a = ({ x = 1, y }) => {\n  x = [y, x];\n  const y = "x";\n},\n  b = { x, y: x };\n'
    )
    assert list(tfrt_pages.declared(code)) == ["a", "b"]


def test_a_form_that_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import * as dom from "./dom.js";\n')
    with pytest.raises(ValueError, match="unknown form: import"):
        tfrt_pages.joined(tmp_path / "a.js")
