"""The project's prose avoids phrases that make a native reader stop."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("runtime", "tfrt_nb", "magics", "docs", "benchmarks", "notebooks", "examples", "tests")

NO_NAME = r"(?<!= behind)(?<!return stands)(?! ?[][=(),:{}*+-]|[.]\w| if | is not )"
"""Excludes uses as the name of a variable."""

PHRASES = {
    "behind (say: after)": rf"behind{NO_NAME}",
    "stands (say: is, appears)": rf"(?:stands?|stood)(?!-| for| in for| still|ing){NO_NAME}",
    "in the place of (say: instead of)": r"in the place of|in (?:its|their) place",
    "also when (say: even if)": r"also (?:when|where|without|if|while)",
    "so many (say: that many, or name the number)": r"so (?:many|often|long)(?! as)",
    "gives back (say: returns, frees)": r"(?:gives?|gave|given|giving) (?:on|back|up|away)",
    "hangs on (say: depends on)": r"hangs? (?:on|off)",
    "looks for work (say: searches, checks)": r"look(?:s|ed|ing)? (?:for work|again)",
    "is none (say: is not a valid X)": r"(?:it|which|that|who|path|text|value|function|object) "
    r"(?:is|are) (?-i:none)(?! of)",
    "crooked memory (say: non-contiguous)": r"crooked memory|how-?manieth",
    "is no good (say: is invalid)": r"(?:is|are|was|were) (?:no good|not right)",
    "belongs into (say: belongs in)": r"belongs? into",
    "letter box (say: mailbox)": r"letter[ -]?box(?:es)?",
    "a text (say: a string, a source)": r"a text(?! stream)",
    "number of the columns (say: column count)": r"number of the \w+s",
    "whether there is one (say: whether one exists)": r"whether there (?:is|are|was|were)",
    "any more (say: no longer, anymore)": r"any more",
    "a run begins (say: starts)": r"(?:runs?|programs?|threads?|kernels?|tasks?|workers?|hosts?"
    r"|coroutines?|calls?|functions?) (?:that |which )?(?:begins?|began|(?:has|have) begun)"
    r"(?! with| end| ?[(=])",
    "a ticket (say: a handle)": r"tickets?",
    "half-way (say: halfway)": r"half-way",
}
"""Phrases to avoid, what to say instead, and how to find them.

Some are not listed, because only a reader can judge them: "ends" of programs, "has none", "box"
(the tutorials' word for an AsyncValue), "texts", "whatever", "all the same", and most relative
clauses without a noun.
"""

IN_PRODUCT = {
    "for ever (say: forever)": r"for ever",
    "within: (say: inside the block)": r"(?-i:Within): ",
    "anew (say: again, a new X)": r"anew|afresh",
    "in vain (say: and finds nothing, and fails)": r"in vain",
    "comes along (say: is included)": r"(?:comes?|came) along",
    "what stands for (name the thing)": r"what (?:stands|is) for",
    "nobody (say: no thread, no reader)": r"(?<!%)(?:nobody|whoever)(?! (?:came|is woken))",
    "functions of Python (say: Python functions)": r"functions? of (?:Python|numpy|C)(?! API)",
    "code of users (say: users' code)": r"code of (?:the )?users?(?!')",
    "gives the GIL away (say: releases)": r"(?:gives?|gave) the GIL away",
    "first asked for (say: on first use)": r"first asked for",
    "British spelling": r"behaviours?|neighbour\w*|favour\w*|honour\w*|catalogues?|\w*colours?\w*"
    r"|(?:normal|optim|sanit|serial|organ|recogn|vector|minim|maxim|summar|visual|synchron|special"
    r"|token|emphas)is(?:e|ed|es|er|ers|ation)|analys(?:e|ed|ing)",
}
"""Phrases that the product's own prose avoids; lessons, notebooks, and tests may still use them."""
OF_OTHERS = {"docs/howto/editors.md", "docs/howto/board.md", "docs/howto/publish.md"}
OF_OTHERS |= {"docs/howto/places.md", "docs/teachers.md"}
"""Pages whose prose has not yet been revised with these phrases in mind."""

HEADLESS = re.compile(r"\s*(?:What|That of|Of an?|Of the) ")
"""Starts of docstrings whose reader has to find out what they describe."""
NOT_READ = {"lessons"}
"""Folders whose docstrings may still start like that: learners read those of the tutorials."""

PERMITTED = (
    r"(?:leaves?|leaving|left)\b[^.;:]{0,60} behind",
    r"behind the bars of what ran",
    r"memory \*behind\* a tensor",
    r"object behind a handle",
    r"NOTE, to hang on another one",
)
"""Idiomatic uses of the same words."""


BREAK = re.compile(
    r"""(?:\\n)?["'`]\s*[,+]?\s*\n\s*[+]?\s*[rf]*["'`]  # between parts of a string, lines of a cell
    |\s*\n\s*(?:[#*>]+|//+)?\s*  # between lines of text or of a comment
    |\s+""",
    re.VERBOSE,
)


def prose_files() -> list[Path]:
    """Return the documents at the top, and all sources except other authors' texts in `golden`."""
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    return [
        *ROOT.glob("*.md"),
        *(
            path
            for path in sources
            if path.suffix in {".py", ".js", ".md", ".ipynb"}
            and not {"golden", "node_modules", ".ipynb_checkpoints"} & {*path.parts}
            and path != Path(__file__)
        ),
    ]


def in_one_line(text: str) -> str:
    """Return a source with each comment, string, and paragraph in one line."""
    return re.sub(" +", " ", BREAK.sub(" ", text))


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The project's sources, each in one line, without permitted phrases."""
    permitted = re.compile("|".join(PERMITTED))
    return {
        str(path.relative_to(ROOT)): permitted.sub("", in_one_line(path.read_text("utf-8")))
        for path in prose_files()
    }


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_sentence_says(phrase: str, texts: dict[str, str]) -> None:
    pattern = re.compile(rf"\b(?:{PHRASES[phrase]})\b", re.IGNORECASE)
    found = [
        f"{name}: …{text[max(0, hit.start() - 60) : hit.end() + 40]}…"
        for name, text in texts.items()
        for hit in pattern.finditer(text)
    ]
    assert len(texts) > 800 and found == []


@pytest.mark.parametrize("phrase", IN_PRODUCT)
def test_no_sentence_of_the_product_says(phrase: str, texts: dict[str, str]) -> None:
    pattern = re.compile(rf"\b(?:{IN_PRODUCT[phrase]})(?!\w)", re.IGNORECASE)
    product = {
        name: text
        for name, text in texts.items()
        if name.endswith((".py", ".md"))
        and ("/" not in name or name.startswith(("runtime/", "tfrt_nb/", "magics/", "docs/")))
        and "lessons" not in name
        and name not in OF_OTHERS
    }
    found = [
        f"{name}: …{text[max(0, hit.start() - 60) : hit.end() + 40]}…"
        for name, text in product.items()
        for hit in pattern.finditer(text)
    ]
    assert len(product) > 300 and found == []


def test_a_docstring_starts_with_the_thing_that_it_describes() -> None:
    modules = [
        path
        for folder in ("runtime/tfrt_runtime", "tfrt_nb/tfrt_nb", "magics")
        for path in (ROOT / folder).rglob("*.py")
        if not NOT_READ & {*path.relative_to(ROOT).parts}
    ]
    bodies = [
        (path, body)
        for path in modules
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(body := getattr(node, "body", None), list)
    ]
    found = [
        f"{path.relative_to(ROOT)}:{one.lineno}: {one.value.value[:60]}"
        for path, body in bodies
        for one in body
        if isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Constant)
        and HEADLESS.match(str(one.value.value))
    ]
    assert len(modules) > 200 and found == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# in the\n    # place of", id="a comment"),
        pytest.param('    """In the\n    place of', id="a docstring"),
        pytest.param('("in the "\n    f"place of {x}")', id="parts of a string"),
        pytest.param("/**\n * In the\n * place of", id="a comment of JavaScript"),
        pytest.param("x = `in the ` +\n  `place of`", id="a sum of JavaScript"),
        pytest.param('"In the\\n",\n    "place of"', id="lines of a notebook's cell"),
        pytest.param("> in the\n> place of", id="a quotation"),
    ],
)
def test_a_phrase_is_found_across_lines(text: str) -> None:
    assert re.search("in the place of", in_one_line(text), re.IGNORECASE)
