"""Write the sources of the documentation: this folder's pages, the tutorials, and the reference.

The reference is generated from the code.

`python docs/generate.py --python` writes the page about Python into the repository.
`python docs/generate.py FOLDER` writes all sources; `make docs` then has Sphinx build the site.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from html import escape
from inspect import cleandoc, getdoc, signature
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import numpy as np

from advice import advice_on, table_of_advice
from btf_files import btf, dense, sparse
from examples import OUTPUT, PROGRAM, RUN, board_script, run_examples, with_board
from python_names import HERE, IN_REPOSITORY, indexed, prose, python_api, python_reference
from steps import by_name, changed, step_of
from tfrt_nb.cli.examples import run_example
from tfrt_nb.cli.main import build_parser
from tfrt_nb.exercises.exercise import exercises
from tfrt_nb.language.operations import Entry, all_entries, kernel_names, names
from tfrt_nb.passes import pipeline
from tfrt_nb.programs import Program
from tfrt_nb.report import render_all
from tfrt_runtime import scalars
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.kernels.tensor.btf import READABLE
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS

ROOT = HERE.parent
NOTEBOOKS = ROOT / "notebooks"
DIALECTS = ("func", "scf", "cf", "arith", "math", "memref", "linalg", "ub")
SHORT = 12
"""A family with more kernels than this is folded."""


def write_sources(folder: Path, examples: str = "*.md") -> None:
    """Write all sources of the site into the folder, whose previous content is removed.

    Examples run only on pages whose names match `examples`; the README is such a page.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(
        HERE,
        folder,
        ignore=shutil.ignore_patterns("*.py", "*.js", "*.css", "__pycache__", IN_REPOSITORY.name),
    )
    shutil.copy(HERE / "conf.py", folder)
    (folder / "_static").mkdir()
    (folder / "_static" / "boards.js").write_text(board_script(), encoding="utf-8")
    for name in ("page.css", "python.js"):
        shutil.copy(HERE / name, folder / "_static")
    # The README is not a page of the site: its examples run, and the copy is deleted.
    readme = Path(shutil.copy(ROOT / "README.md", folder))
    run_examples(sorted(folder.rglob(examples)), {folder / "guide.md": HERE / "guide"})
    readme.unlink()
    _copy_tutorials(folder / "tutorials")
    _copy_benchmarks(folder / "speed")
    shutil.copy(ROOT / "CONTRIBUTING.md", folder / "contributing.md")
    (folder / "misconceptions.md").write_text(misconceptions(), encoding="utf-8")
    reference = folder / "reference"
    reference.mkdir()
    for name, make in PAGES.items():
        (reference / f"{name}.md").write_text(make(), encoding="utf-8")
    pages = "\n".join(
        f"- {{doc}}`{name}`: {str(make.__doc__).partition(chr(10))[0]}"
        for name, make in PAGES.items()
    )
    listed = "\n".join(PAGES)
    (reference / "index.md").write_text(
        "# Reference\n\nThese pages are generated from the code. {ref}`The index <genindex>` "
        "lists every kernel, operation, pass, Python name, magic, and C function;"
        f" the search finds them, too.\n\n{pages}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def _copy_tutorials(folder: Path) -> None:
    """Copy the notebooks; links between them become links between pages."""
    folder.mkdir()
    names = sorted(path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
    for name in names:
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)  # type: ignore[no-untyped-call]
        notebook.metadata.language_info["pygments_lexer"] = "tfrt-cell"
        for cell in notebook.cells:
            cell.source = cell.source.replace("(tutorials.ipynb)", "(index.md)")
        for output in (one for cell in notebook.cells for one in cell.get("outputs", ())):
            if RUN in output.get("data", {}):
                output.data = {"text/html": with_board(output.data)}
        nbformat.write(notebook, folder / name)  # type: ignore[no-untyped-call]
    for path in (NOTEBOOKS / "glossary.md", *NOTEBOOKS.glob("*.svg")):
        shutil.copy(path, folder)
    listed = "\n".join([*(name.removesuffix(".ipynb") for name in names), "glossary"])
    (folder / "index.md").write_text(
        "# Tutorials\n\nA tutorial takes at most twenty minutes, and a project takes an hour. Each "
        "has a question, short cells, predictions that you type before you run a cell, and "
        "exercises that check your answers. Open them with "
        f"`tfrt-nb tutorials`, or with `make lab` in a checkout.\n\n![Four ways to wait, compared: "
        "asyncio, futures, Dask, and tfrt-nb](tutorials.svg)\n\n```{toctree}\n:maxdepth: "
        f"1\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def _copy_benchmarks(folder: Path) -> None:
    """Copy the description of the benchmarks, and the results that were saved last."""
    benchmarks = ROOT / "benchmarks"
    shutil.copytree(benchmarks / "results", folder, ignore=shutil.ignore_patterns("*.json"))
    text = (benchmarks / "README.md").read_text(encoding="utf-8").replace("(results/", "(")
    # The site has no pages for source files.
    for name in ("requirements.txt", "cases.py"):
        text = text.replace(f"[{name}]({name})", f"`benchmarks/{name}`")
    listed = "```{toctree}\n:hidden:\n\nresults\n```"
    (folder / "index.md").write_text(f"{text}\n{listed}\n", encoding="utf-8")


def kernels() -> str:
    """Every kernel with its types, its meaning, and an example with its output."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for one in all_entries([name for name in kernel_names() if name not in USER_FUNCTIONS]):
        groups[one.name.partition(".")[0].partition(" ")[0]].append(one)
    parts = [
        "# Kernels",
        (
            f"{sum(map(len, groups.values()))} kernels, by the first part of their names. "
            f"{_ABOUT_KERNELS}"
        ),
    ]
    with TemporaryDirectory() as folder, chdir(folder):
        for rank in range(6):
            values = np.array([0, 5]).reshape([2, 1, 1, 1, 1][:rank]) if rank else np.array(5)
            for word in (dtype.name.lower() for dtype in READABLE):
                file = btf(dense(values, word), sparse(values, word))
                Path(f"{word}.{rank}.btf").write_bytes(file)
        # Start with the kernels that most programs consist of.
        for group, entries in sorted(groups.items(), key=lambda one: (one[0] != "tfrt", one[0])):
            parts.append(f"## {group}")
            for family, members in _families(entries):
                parts.append(_family(family, members))
    return "\n\n".join(parts) + "\n"


def _families(entries: list[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield each family, such as `tfrt.add`: the entries that share a description."""
    found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for one in entries:
        found[".".join(one.name.split(".")[:2]), one.text].append(one)
    for (name, _), members in sorted(found.items()):
        yield name, members


def _family(name: str, members: list[Entry]) -> str:
    lines = "\n".join(["```text", *(one.line for one in members), "```"])
    if len(members) > SHORT:
        lines = f"<details><summary>{len(members)} kernels</summary>\n\n{lines}\n\n</details>"
    shown = next((one for one in members if ".i32" in one.name), members[0])
    entries = indexed(*(one.name for one in members))
    parts = [f"### `{name}`", entries, members[0].text, lines]
    parts.append(
        f"{PROGRAM}\n```mlir\n{shown.example}\n```\n\n"
        f"{OUTPUT}\n```text\n{run_example(shown.example)}\n```"
    )
    # As HTML, because a thousand programs are too many for Sphinx to highlight.
    others = "".join(
        f"<details><summary>{escape(one.name)}</summary><pre>{escape(one.example)}\n\n"
        f"{escape(run_example(one.example))}</pre></details>"
        for one in members
        if one is not shown
    )
    if others:
        summary = f"<summary>Examples of the others: {len(members) - 1}</summary>"
        parts.append(f"```{{raw}} html\n<details>{summary}{others}</details>\n```")
    return "\n\n".join(parts)


def numbers() -> str:
    """The scalar operations: what each computes, for which types, and when it is an error."""
    lines = ["| operation | in Python | types | gives | meaning |", "|---|---|---|---|---|"]
    for one in scalars.FAMILIES:
        is_cast = one is scalars.CASTS
        types = "any two" if is_cast else ", ".join(one.types)
        like = "the second type" if is_cast else "the type"
        gives = ", ".join(result.replace("{}", like) for result in one.results)
        python = f"`{one.python}`".replace("|", "\\|") if one.python else ""
        lines.append(f"| `tfrt.{one.name}` | {python} | {types} | {gives} | {one.text} |")
    rules = cleandoc(scalars.__doc__ or "").split("\n\n")[-1]
    return (
        "# Numbers\n\nThe name of an operation's kernel ends with the type: `tfrt.add.i32`, or "
        "`tfrt.add_s.i32` in sync functions. A cast has two types: `tfrt.cast.i32_to_f64`. "
        "Traced functions use these kernels for Python's "
        f"operators.\n\n{rules}\n\n" + "\n".join(lines) + "\n"
    )


def async_dialect() -> str:
    """The operations of the async dialect, and what each pass of a run does to programs."""
    parts = ["# The async dialect", _ABOUT_STEPS, "## Operations"]
    for one in all_entries(names("async.")):
        parts.append(
            f"### `{one.name}`\n\n{indexed(one.name)}\n\n{one.text}\n\n```text\n{one.line}\n```"
        )
        if one.example:
            printed = run_example(one.example) or "(no output)"
            parts.append(f"```mlir\n{one.example}\n```\n\n```text\n{printed}\n```")
        parts += filter(None, [step_of(one.name)])
    parts.append(
        "## Passes of a run\n\nThe passes are listed in the order in which they run. `tfrt-nb opt "
        "FILE -p NAME` runs one of them; `%%tfrt --emit` shows the program after all of them, "
        "without the shortcuts of `-O1`."
    )
    described = {step.name for step in pipeline.executable_pipeline(level=0).passes}
    listed = {step.name: step for step in pipeline.executable_pipeline().passes}
    for name, step in listed.items():
        module = sys.modules[type(step).__module__]
        text = cleandoc(getdoc(module) or getdoc(type(step)) or "")
        title = f"### `{name}`" + ("" if name in described else " (a shortcut, `-O1`)")
        change = changed(name)
        shown = f"\n\nWhat it changes in an example:\n\n{change}" if change else ""
        parts.append(f"{title}\n\n{indexed(name)}\n\n{prose(text)}{shown}")
    parts.append("## Passes that no run needs\n\nOnly `tfrt-nb opt` runs these, by name.")
    parts += [
        f"### `{name}`\n\n{indexed(name)}\n\n{prose(text)}\n\n{example}"
        for name, text, example in by_name()
        if name not in listed
    ]
    return "\n\n".join(parts) + "\n"


def operations() -> str:
    """The operations of MLIR's other dialects that compiled functions may use."""
    parts = ["# Operations of compiled functions", _ABOUT_OPERATIONS]
    for dialect in DIALECTS:
        parts.append(f"## `{dialect}`")
        for one in all_entries(names(f"{dialect}.")):
            text = _in_short(one.text)
            parts.append(f"**`{one.name}`**\n{indexed(one.name)}\n\n`{one.line}`\n\n{text}".strip())
    return "\n\n".join(parts) + "\n"


def _in_short(text: str) -> str:
    """Return a docstring's first paragraph in one line, or "" if it has code or external links."""
    first = text.strip().partition("\n\n")[0]
    return "" if "](http" in first or "```" in first else " ".join(first.split())


def magics() -> str:
    """The help texts of `%%tfrt` and of the other magics."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tfrt_nb")
    parts = ["# Magics", "`%load_ext tfrt_nb` provides them."]
    for kind, sign in (("cell", "%%"), ("line", "%")):
        for name, magic in sorted(shell.magics_manager.magics[kind].items()):
            if name.startswith(("tfrt", "async_")):
                text = cleandoc(getattr(magic, "__doc__", None) or "")
                # The help of a magic with options is a literal block.
                helped = text.removeprefix("::\n\n")
                shown = prose(text) if helped == text else f"```text\n{helped}\n```"
                parts.append(f"## `{sign}{name}`\n\n{indexed(f'{sign}{name}')}\n\n{shown}")
    shell.run_line_magic("unload_ext", "tfrt_nb")
    return "\n\n".join(parts) + "\n"


def command_line() -> str:
    """The output of `tfrt-nb COMMAND --help` for each command."""
    parser = build_parser()
    parts = ["# Command line", f"```text\n{parser.format_help()}```"]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parts += [
                f"## `tfrt-nb {name}`\n\n```text\n{command.format_help()}```"
                for name, command in action.choices.items()
            ]
    return "\n\n".join(parts) + "\n"


def bef() -> str:
    """The bytes of a small program, with their meaning."""
    from tfrt_nb.cli.main import main

    path = HERE / "shop.mlir"
    printed = io.StringIO()
    # The file contains the path that is given here, so that path must be relative.
    with redirect_stdout(printed), chdir(HERE):
        main(["run", path.name, "--emit", "bef"])
    return (
        "# A BEF file, annotated\n\nTutorial [11](../tutorials/11_bef.ipynb) explains the idea. "
        "Numbers of variable length are stored in groups of seven bits, the highest group first. "
        "In the bodies of functions, numbers have 32 bits, the lowest byte first. A reader skips "
        "sections that it does not know."
        f"\n\n```mlir\n{path.read_text()}```\n\n```text\n{printed.getvalue()}```\n"
    )


def runtime_abi() -> str:
    """The C functions that compiled coroutines call."""
    from tfrt_runtime.native.coroutines import async_abi
    from tfrt_runtime.native.memory import EXPORTS

    parts = [
        "# The ABI of the async runtime",
        prose(cleandoc(getdoc(async_abi) or "")),
        _ABOUT_ABI,
    ]
    for name, one in sorted(
        EXPORTS.items(), key=lambda one: (not one[0].startswith("mlir"), one[0])
    ):
        text = cleandoc(getdoc(one.function) or "")
        named = zip(one.parameters, signature(one.function).parameters, strict=True)
        line = f"{one.returns} {name}({', '.join(map(' '.join, named))})"
        parts.append(f"## `{name}`\n\n{indexed(name)}\n\n```c\n{line}\n```\n\n{prose(text)}")
    return "\n\n".join(parts) + "\n"


def errors() -> str:
    """Programs with mistakes, taken from the tests, and the messages about them."""
    parts = [
        "# Errors, with programs that cause them",
        _ABOUT_ERRORS,
        table_of_advice(),
        "## One mistake in a host program",
    ]
    for path in sorted((ROOT / "tests" / "golden" / "tfrt").glob("reject_*.mlir")):
        text = path.read_text()
        try:
            Program.from_source(text, path.name).load()
        except TfrtError as problem:
            said = render_all(problem.diagnostics, text)
            parts.append(_mistake(path.stem.removeprefix("reject_"), text, said))
    for folder, title in (
        ("rejected", "Refused before the run"),
        ("failing", "Failures during the run"),
    ):
        parts.append(f"## {title}\n\nA line `// -----` separates independent programs.")
        for path in sorted((ROOT / "tests" / "programs" / folder).glob("*.mlir")):
            said = path.with_suffix(".out").read_text()
            parts.append(_mistake(path.stem, path.read_text(), said))
    return "\n\n".join(parts) + "\n"


_ABOUT_KERNELS = """\
Each has an example with the output of `tfrt-nb run`; in a notebook, `%tfrt_kernels NAME` shows
it."""

_ABOUT_OPERATIONS = """\
These operations mean the same as in MLIR; a description is given where more needs to be said.
Operands are in parentheses, results follow the arrow, and attributes are in braces. An operation
that cannot be compiled is an error at its line. Tasks, tokens, and groups have [their own
page](async_dialect.md)."""

_ABOUT_STEPS = """\
Each example is a whole program, with the output of `tfrt-nb run`. Where the effect of a pass is
shown, lines that start with `-` are removed, and lines that start with `+` are added. Each program
was run at `-O0` and at `-O1`, with the same outcome."""

_ABOUT_ABI = """\
A `ptr` is the address of a token, a value, or a group; of a coroutine's frame; or of the function
that resumes the coroutine. A new object has two references: one for the code that creates it, and
one for its producer. Emplacing the object, or setting its error, drops the producer's reference.

[Call the runtime from C](../howto/port.md#call-the-runtime-from-c) says how C code links against
these functions.

The async dialect's RFC uses other names for some of these functions:

| RFC | here |
|---|---|
| `MLIR_AsyncRT_CreateHandle` | `mlirAsyncRuntimeCreateToken`, `mlirAsyncRuntimeCreateValue` |
| `MLIR_AsyncRT_EmplaceHandle` | `mlirAsyncRuntimeEmplaceToken`, `mlirAsyncRuntimeEmplaceValue` |
| `MLIR_AsyncRT_SyncAwait` | `mlirAsyncRuntimeAwaitToken`, `mlirAsyncRuntimeAwaitValue` |
| `MLIR_AsyncRT_Await` | `mlirAsyncRuntimeAwaitTokenAndExecute`, `mlirAsyncRuntimeAwaitValueAndExecute` |
| `MLIR_AsyncRT_Call` | `mlirAsyncRuntimeExecute` |
| `MLIR_AsyncRT_DefaultRuntime` | none: a function finds the runtime by its thread, so no runtime is passed |
"""  # noqa: E501  # a row of a table is a line

_ABOUT_ERRORS = """\
Each program is a test, which checks the message word for word. A message says what was found and
where, and often what to write instead; advice follows below each message. To find your message,
search this page for its words."""


def _mistake(name: str, program: str, said: str) -> str:
    title = name.replace("_", " ").capitalize()
    # A message without advice stops the build, so every message has some.
    advice = "\n".join(f"- {one}" for one in advice_on(said))
    return (
        f"### "
        f"{title}\n\n```mlir\n{program.rstrip()}\n```\n\n```text\n{said.rstrip()}\n```\n\n{advice}"
    )


def misconceptions() -> str:
    """Return a page of the wrong answers in the exercises, each with the hint that it gets."""
    parts = [
        "# Misconceptions, and the exercise that reveals each",
        (
            "This list is generated from the exercises: each wrong answer is followed by the hint "
            "that the exercise gives."
        ),
    ]
    for one in exercises():
        rows = [
            f"- `{' / '.join(text.split(chr(10)))}` → {one.grade(text).hint.partition(chr(10))[0]}"
            for text in one.wrong
            if len(text) < 80
        ]
        if rows:
            parts.append(f"## {one.name}\n\n{one.task}\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


PAGES = {
    "kernels": kernels,
    "numbers": numbers,
    "async_dialect": async_dialect,
    "operations": operations,
    "magics": magics,
    "command_line": command_line,
    "python": python_api,
    "bef": bef,
    "runtime_abi": runtime_abi,
    "errors": errors,
}


if __name__ == "__main__":
    if sys.argv[1:] == ["--python"]:
        IN_REPOSITORY.write_text(python_reference(), encoding="utf-8")
    else:
        write_sources(Path(sys.argv[1]))
