"""Bundle page modules for JupyterLab, the documentation, exported boards, and widgets.

npm is not needed, because a browser can run the sources as they are. Only comments and indentation
are omitted, because each exported page and each widget contains its module. Nothing is renamed, so
that stack traces show the names in the sources. The build of a wheel runs this module, which is not
part of the packages.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
BOARD = HERE / "tfrt_magics" / "views" / "static"
WIDGETS = HERE / "tfrt_magics" / "live" / "static"
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
DECLARATION = re.compile(
    r"^(?:export )?(?:async )?(const|let|class|function\*?) ([\w{\[]\w*)", re.MULTILINE
)
TOKEN = re.compile(
    r"//.*|/\*[\s\S]*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\[\s\S]|[^`\\])*`"
    r"|/(?=[^*/ ])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/|[\[{(\]}),;]"
)
"""Matches brackets and commas, and tokens that can contain brackets and commas: comments, strings,
and regular expressions.
"""
TARGET = re.compile(r"(?<!= )\b([^\W\d]\w*)\s*(?=[,}\]=]|$)")
"""Matches a name to which a destructuring pattern assigns: in `{ a, b: c = 1 }`, `a` and `c`."""
COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)?\n", re.MULTILINE)
"""Matches a line that is a comment or empty.

No template may depend on such a line, or on indentation.
"""
MARGIN = re.compile(
    r"^ +|(?<=[;,{}()\]]) +// [^\"'`\n]*$|(?<=[(\[,])\n|(?<=;)\n(?!export)", re.MULTILINE
)
"""Matches indentation, a comment at the end of a line, and the end of a line that need not end.

A comment with quotes does not match, because its `//` may be inside a string. Such a comment must
not end with `(`, `[`, `;`, or a comma.
"""


def write_pages(folder: Path) -> None:
    """Write the files that JupyterLab serves to `folder`, which is replaced.

    `package.json` gets the project's version from `pyproject.toml`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    source = HERE / "labextension"
    (folder / "static").mkdir(parents=True)
    for name in ("install.json", "static/remoteEntry.js"):
        shutil.copy(source / name, folder / name)
    package = json.loads((source / "package.json").read_text("utf-8"))
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    package["version"] = project["version"]
    (folder / "package.json").write_text(json.dumps(package, indent=2), "utf-8")
    entry = source.resolve() / "static" / "extension.js"
    (folder / "static" / "extension.js").write_text(joined(entry), "utf-8")


def write_widgets(folder: Path) -> None:
    """Write the module of each kind of widget to `folder`.

    In a wheel, this folder is beside `live.widgets`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for entry in WIDGETS.glob("*.js"):
        (folder / entry.name).write_text(joined(entry), "utf-8")


def declared(code: str) -> Iterator[str]:
    """Yield the names that a module, formatted by Prettier, declares at its top level."""
    for found in DECLARATION.finditer(code):
        if found[1] not in ("const", "let"):
            yield found[2]
            continue
        begin, depth = found.start(2), 0
        for token in TOKEN.finditer(code, begin):
            if token[0].startswith(("//", "/*")) and not code[begin : token.start()].strip():
                begin = token.end()
            elif token[0] in ("(", "[", "{"):
                depth += 1
            elif token[0] in (")", "]", "}"):
                depth -= 1
            elif depth == 0 and token[0] in (",", ";"):
                one = code[begin : token.start()].strip()
                is_pattern = one.startswith(("{", "["))
                end = re.search(r"[}\]] = ", one) if is_pattern else None
                yield from TARGET.findall(one[: end.start()]) if end else re.findall(r"^\w+", one)
                begin = token.end()
                if token[0] == ";":
                    break


def joined(entry: Path) -> str:
    """Join a module and everything that it imports into one module with the same exports.

    Raises:
        ValueError: if two modules declare the same name, because all modules share one scope, or
            if a module uses an unsupported form of import or export. The supported forms are
            `import { names } from "module";`, `export` before a declaration, and, only in `entry`,
            `export default`.
    """
    codes: dict[Path, str] = {}
    pending = [(entry, False)]
    while pending:
        path, is_ready = pending.pop()
        if path in codes:
            continue
        code = path.read_text("utf-8")
        if is_ready:
            codes[path] = COMMENT.sub("", IMPORT.sub("", code))
            refused = r"^(import|export [*{]).*" if path == entry else r"^(import|export [*{d]).*"
            if left := re.search(refused, codes[path], re.MULTILINE):
                raise ValueError(f"{path.name}: unknown form: {left[0]}")
            continue
        pending.append((path, True))
        # The board's modules are beside its Python code, but the extension names them as if they
        # were in its own folder.
        for name in IMPORT.findall(code):
            inside = path.parent / name
            found = inside if inside.exists() else BOARD / inside.name
            pending.append((found.resolve(), False))
    owners: dict[str, Path] = {}
    for path, code in codes.items():
        for name in declared(code):
            if (other := owners.setdefault(name, path)) is not path:
                raise ValueError(f"{path} and {other} both declare {name}")
    parts = [
        code if path == entry else re.sub("^export ", "", code, flags=re.MULTILINE)
        for path, code in codes.items()
    ]
    return MARGIN.sub("", "".join(parts))
