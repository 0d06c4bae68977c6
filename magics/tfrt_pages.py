"""The page's modules as JupyterLab and the documentation get them: joined into one, without comments and spaces.

No npm: the sources are modules that a browser runs as they are. This is no part of the packages; the build of a
wheel runs it, and so do the documentation and the tests.
"""

from __future__ import annotations

import re
import shutil
import string
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

HERE = Path(__file__).parent
BOARD = HERE / "tfrt_magics" / "views" / "static"
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
DECLARATION = re.compile(
    r"^(?:export )?(?:async )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE
)
SECOND = re.compile(r"^const [^=\n]+ = [^,\n]+, (\w+) = ", re.MULTILINE)
"""The second name of a declaration, which is one of short constants."""
LOCAL = re.compile(
    r"\b(?:const|let) (\w+)\b|\b(?:const|let) \[([\w, ]+)\]|\(([\w, ]+)\) =>|function\*? \w*\(([\w, ]+)\)"
)
"""What a function declares, or takes as its arguments."""
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<template>`)
    |(?P<space>\s+)
    |(?P<word>[\w$#]+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
PATTERN = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
SHORTER = {
    "const": ("word", "let"),
    "true": ("other", "!0"),
    "false": ("other", "!1"),
    "undefined": ("word", "void 0"),
}
SAID = {"createPlugins", "createBoard", "Store", "unpack", "css"}
"""Names by which others know the module: JupyterLab's entry, a page that is exported, and `_strip`."""
GLOBALS = {"null": "$", "Math": "$_", "Object": "_$", "Number": "$$", "Infinity": "__"}
"""What JavaScript has and a joined module uses often; it begins with these names."""
PROPERTY = r"(?<!\.\.)\.NAME\b|\bNAME:|(?:(?<!\$)\{|,)NAME[,}]|[{,};]NAME\([^()]*\)\{"
"""Where NAME may be a property of something, in stripped code; some other places look the same."""
DIGITS = string.digits + string.ascii_letters
BEFORE_PATTERN = set("(,=:[!&|?{};+-*%<>~^") | {"", "return", "typeof", "case"}


def stripped(code: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """A JavaScript module without comments and without spaces that mean nothing.

    Its statements end in semicolons: ends of lines mean nothing.  `names` get others, wherever they are.
    """
    return _strip(code, 0, "", names)[0].strip("\n") + "\n"


def short_names(code: str) -> dict[str, str]:
    """Short names for what a joined module and its functions declare, but not for what is a property's name somewhere.

    A name is another one in all of the module, so that scopes stay as they are.  The commonest names get the shortest.
    """
    text = stripped(code)
    local = (name for found in LOCAL.findall(code) for name in re.findall(r"\w+", " ".join(found)))
    declared = dict.fromkeys([*DECLARATION.findall(code), *SECOND.findall(code), *local])
    own = [name for name in declared if len(name) > 3 and name not in SAID]
    free = [name for name in own if not re.search(PROPERTY.replace("NAME", name), text)]
    uses = Counter(re.findall(r"\w+", text))
    free.sort(key=lambda name: -uses[name])
    return {name: f"${_digits(place)}" for place, name in enumerate(free)}


def _digits(number: int) -> str:
    """A number in as few characters as names may have."""
    before, last = divmod(number, len(DIGITS))
    return (_digits(before) if before else "") + DIGITS[last]


def _strip(code: str, at: int, end: str, names: Mapping[str, str]) -> tuple[str, int]:
    """The code from `at` to the brace that is not opened in it, or to its end; and where that is."""
    parts: list[str] = []
    last, space, depth = "", "", 0
    begun = [""]  # how the statement begins that is read, in each bracket around
    ended = ""  # how the one before it began
    while at < len(code):
        if code[at] == "/" and last in BEFORE_PATTERN and (found := PATTERN.match(code, at)):
            kind, token = "text", found[0]
        else:
            match = TOKEN.match(code, at)
            assert match is not None
            kind, token = str(match.lastgroup), match[0]
        at += len(token)
        if last != ".":  # no name of a property
            # Shorter, and the same to a module that loads.
            kind, token = SHORTER.get(token, (kind, token))
        if kind == "word" and (last != "." or parts[-3:] == [".", ".", "."]):
            token = names.get(token, token)
        if kind in ("space", "comment"):
            space = " "
            continue
        if token == "." and last == "0" and code[at].isdigit():
            parts.pop()
        if token == end and depth == 0:
            return "".join(parts), at
        depth += (token == "{") - (token == "}")
        if kind == "template":
            is_style = "".join(parts[-2:]) == "css="
            token, at = _template(code, at, names)
            if is_style:
                token = re.sub(r"\s*([{};:,>])\s+|\s+(?=[{}])", r"\1", token).replace(";}", "}")
        if token == ">" and parts[-2:] == [")", "="] and _is_lone(parts[-5:-2]):
            parts[-4:-1] = [parts[-3]]
        words = re.fullmatch(r"[\w$#]", last[-1:]) and re.match(r"[\w$#]", token)
        signs = last + token in ("++", "--") or (last[-1:] == "/" and token[0] == "/")
        if (token == "}" and last == ";") or (token in ("}", "]") and last == ","):
            parts.pop()
        if token in ("(", "[", "{"):
            begun[-1] = begun[-1] or token
            begun.append("")
        elif token in (")", "]", "}"):
            begun.pop()
        elif token == ";":
            ended, begun[-1] = begun[-1], ""
        elif not begun[-1]:
            begun[-1] = token
            if token == ended == "let" and last == ";":  # one declaration of several names
                parts[-1], last, space = ",", ",", ""
                continue
        if space and (words or signs):
            parts.append(" ")
        parts.append(token)
        last, space = token, ""
    return "".join(parts), at


def _is_lone(parts: list[str]) -> bool:
    """Whether these end in `(` and a word, so that a function behind needs no brackets."""
    before, bracket, word = ["", *parts][-3:]
    return bracket == "(" and bool(re.fullmatch(r"[\w$]+", word)) and not before[-1:].isalnum()


def _template(code: str, at: int, names: Mapping[str, str]) -> tuple[str, int]:
    """A template behind its first quote, with the code in it stripped."""
    parts = ["`"]
    while code[at] != "`":
        if code.startswith("${", at):
            inner, at = _strip(code, at + 2, "}", names)
            parts.append("${" + inner + "}")
        else:
            size = 2 if code[at] == "\\" else 1
            parts.append(code[at : at + size])
            at += size
    return "".join(parts) + "`", at + 1


def write_pages(folder: Path) -> None:
    """Write what JupyterLab serves into `folder`, which is made anew.  All modules become one."""
    shutil.rmtree(folder, ignore_errors=True)
    source = HERE / "labextension"
    (folder / "static").mkdir(parents=True)
    for path in (source / "package.json", source / "install.json"):
        shutil.copy(path, folder)
    entry = source.resolve() / "static" / "extension.js"
    first = entry.with_name("remoteEntry.js").read_text("utf-8")
    (folder / "static" / "remoteEntry.js").write_text(stripped(first, short_names(first)), "utf-8")
    code = joined(entry)
    shorter = ",".join(f"{name}={known}" for known, name in GLOBALS.items())
    text = f"let {shorter};{stripped(code, short_names(code) | GLOBALS)}"
    (folder / "static" / "extension.js").write_text(text, "utf-8")


def joined(entry: Path) -> str:
    """A module and all that it imports as one, which exports what the module does.

    Raises:
        ValueError: if two modules declare one name, as they share a scope; at other imports than of names.
    """
    codes: dict[Path, str] = {}
    pending = [(entry, False)]
    while pending:
        path, is_ready = pending.pop()
        if path in codes:
            continue
        code = path.read_text("utf-8")
        if is_ready:
            codes[path] = IMPORT.sub("", code)
            if left := re.search(r"^(import|export [*{d]).*", codes[path], re.MULTILINE):
                raise ValueError(f"{path.name}: a form that this does not know: {left[0]}")
            continue
        pending.append((path, True))
        # The board is beside its Python; what uses it sees it in its own folder.
        for name in IMPORT.findall(code):
            inside = path.parent / name
            found = inside if inside.exists() else BOARD / inside.name
            pending.append((found.resolve(), False))
    owners: dict[str, Path] = {}
    for path, code in codes.items():
        for name in DECLARATION.findall(code) + SECOND.findall(code):
            if (other := owners.setdefault(name, path)) is not path:
                raise ValueError(f"{path} and {other} both declare {name}")
    parts = [
        code if path == entry else re.sub("^export ", "", code, flags=re.MULTILINE)
        for path, code in codes.items()
    ]
    return "".join(parts)
