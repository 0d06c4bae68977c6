"""The sources of the documentation: pages of this folder, the tutorials, and a reference made from the code.

`python docs/generate.py --python` writes the page about Python into the repository.
`python docs/generate.py FOLDER` writes all of them; `make docs` then lets Sphinx make the site.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from enum import Enum
from functools import cached_property
from html import escape
from inspect import Parameter, cleandoc, getdoc, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import numpy as np

import tfrt_nb
from advice import advice_on, table_of_advice
from examples import RUN, board_script, run_examples, with_board
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
from tfrt_runtime.kernels.tensor import btf
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS

HERE = Path(__file__).parent
ROOT = HERE.parent
NOTEBOOKS = ROOT / "notebooks"
DIALECTS = ("func", "scf", "cf", "arith", "math", "memref", "linalg", "ub")
SHORT = 12
"""A family of more kernels than this is folded."""


def write_sources(folder: Path, examples: str = "*.md") -> None:
    """Write all sources of the site into the folder, which is emptied before.

    The examples of the pages whose names match `examples` are run, the README's among them.
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
    shutil.copy(HERE / "page.css", folder / "_static")
    # Not a page of the site: it runs, and stays as it is.
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
    listed = "\n".join(PAGES)
    (reference / "index.md").write_text(
        "# Reference\n\nMade from the code. {ref}`The index <genindex>` has every kernel, operation, pass, Python name, magic and C function;"
        f" the search finds them, too.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def _copy_tutorials(folder: Path) -> None:
    """The notebooks, with links between them as links between pages."""
    folder.mkdir()
    names = sorted(path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
    for name in names:
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)  # type: ignore[no-untyped-call]
        notebook.metadata.language_info["pygments_lexer"] = "tfrt-cell"
        for output in (one for cell in notebook.cells for one in cell.get("outputs", ())):
            if RUN in output.get("data", {}):
                output.data = {"text/html": with_board(output.data)}
        nbformat.write(notebook, folder / name)  # type: ignore[no-untyped-call]
    shutil.copy(NOTEBOOKS / "glossary.md", folder)
    listed = "\n".join([*(name.removesuffix(".ipynb") for name in names), "glossary"])
    (folder / "index.md").write_text(
        "# Tutorials\n\nEach takes at most twenty minutes: a question, short cells, predictions that"
        " you type before you run, and three exercises that check themselves. Open them with"
        f" `tfrt-nb tutorials`, or with `make lab` in a checkout.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def _copy_benchmarks(folder: Path) -> None:
    """What is measured and how, with the results that were saved last."""
    benchmarks = ROOT / "benchmarks"
    shutil.copytree(benchmarks / "results", folder, ignore=shutil.ignore_patterns("*.json"))
    text = (benchmarks / "README.md").read_text(encoding="utf-8").replace("(results/", "(")
    # Sources are no pages of the site.
    for name in ("requirements.txt", "cases.py"):
        text = text.replace(f"[{name}]({name})", f"`benchmarks/{name}`")
    listed = "```{toctree}\n:hidden:\n\nresults\n```"
    (folder / "index.md").write_text(f"{text}\n{listed}\n", encoding="utf-8")


def kernels() -> str:
    """Every kernel with its types, meaning and an example, which is run."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for one in all_entries([name for name in kernel_names() if name not in USER_FUNCTIONS]):
        groups[one.name.partition(".")[0].partition(" ")[0]].append(one)
    parts = [
        "# Kernels",
        f"{sum(map(len, groups.values()))} kernels, by the first part of their names. {_ABOUT_KERNELS}",
    ]
    with TemporaryDirectory() as folder, chdir(folder):
        for rank in range(6):
            values = np.array([0, 5]).reshape([2, 1, 1, 1, 1][:rank]) if rank else np.array(5)
            for word in (dtype.name.lower() for dtype in btf.READABLE):
                file = btf.btf(btf.dense(values, word), btf.sparse(values, word))
                Path(f"{word}.{rank}.btf").write_bytes(file)
        # First those that programs are made of.
        for group, entries in sorted(groups.items(), key=lambda one: (one[0] != "tfrt", one[0])):
            parts.append(f"## {group}")
            for family, members in _families(entries):
                parts.append(_family(family, members))
    return "\n\n".join(parts) + "\n"


def _families(entries: list[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Entries that have one text: `tfrt.add.i32` and its like."""
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
    entries = _indexed(*(one.name for one in members))
    parts = [f"### `{name}`", entries, members[0].text, lines]
    parts.append(f"```mlir\n{shown.example}\n```\n\n```text\n{run_example(shown.example)}\n```")
    # As HTML: a thousand programs are too many for Sphinx to colour.
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
    """The table of scalar operations: what each computes for which types, and when it is an error."""
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
        "# Numbers\n\nThe kernel of an operation has the type at the end of its name: `tfrt.add.i32`, in sync"
        " functions `tfrt.add_s.i32`; a cast has two, `tfrt.cast.i32_to_f64`. Traced functions use them for"
        f" Python's operators.\n\n{rules}\n\n" + "\n".join(lines) + "\n"
    )


def async_dialect() -> str:
    """The operations of the async dialect and the passes of a run, with what they do to programs that are run."""
    parts = ["# The async dialect", _ABOUT_STEPS, "## Operations"]
    for one in all_entries(names("async.")):
        parts.append(
            f"### `{one.name}`\n\n{_indexed(one.name)}\n\n{one.text}\n\n```text\n{one.line}\n```"
        )
        if one.example:
            printed = run_example(one.example) or "(no output)"
            parts.append(f"```mlir\n{one.example}\n```\n\n```text\n{printed}\n```")
        parts += filter(None, [step_of(one.name)])
    parts.append(
        "## Passes of a run\n\nIn their order. `tfrt-nb opt FILE -p NAME` runs one of them; `%%tfrt --emit`"
        " shows what the program is after them, without the shortcuts of `-O1`."
    )
    described = {step.name for step in pipeline.executable_pipeline(level=0).passes}
    listed = {step.name: step for step in pipeline.executable_pipeline().passes}
    for name, step in listed.items():
        module = sys.modules[type(step).__module__]
        text = cleandoc(getdoc(module) or getdoc(type(step)) or "")
        title = f"### `{name}`" + ("" if name in described else " (a shortcut, `-O1`)")
        change = changed(name)
        shown = f"\n\nIn a program that was run:\n\n{change}" if change else ""
        parts.append(f"{title}\n\n{_indexed(name)}\n\n{_prose(text)}{shown}")
    parts.append("## Passes that no run needs\n\n`tfrt-nb opt` runs them by name.")
    parts += [
        f"### `{name}`\n\n{_indexed(name)}\n\n{_prose(text)}\n\n{example}"
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
            parts.append(
                f"**`{one.name}`**\n{_indexed(one.name)}\n\n`{one.line}`\n\n{text}".strip()
            )
    return "\n\n".join(parts) + "\n"


def _in_short(text: str) -> str:
    """The first paragraph of a text, in one line, without links that lead out."""
    first = text.strip().partition("\n\n")[0]
    return "" if "](http" in first or "```" in first else " ".join(first.split())


def _indexed(*names: str) -> str:
    """Entries of the site's index, which its search finds first."""
    return f"```{{index}} {', '.join(f'!{name}' for name in names)}\n```"


def _prose(text: str) -> str:
    """A docstring as Markdown: indented lines are a program, but below `Args:` and `Raises:` a list."""
    lines: list[str] = []
    inside = is_list = False
    for line in text.splitlines():
        is_code = line.startswith("    ")
        if is_code and is_list:
            name, colon, rest = line.strip().partition(": ")
            starts = colon and not line.startswith("     ")
            lines.append(f"- `{name}`: {rest}" if starts else f"  {line.strip()}")
            continue
        if line.strip():
            is_list = line in ("Args:", "Raises:")
        if is_code != inside and line.strip():
            lines.append("```text" if is_code else "```")
            inside = is_code
        lines.append(line.removeprefix("    ") if is_code else f"{line}\n" if is_list else line)
    return "\n".join([*lines, *(["```"] if inside else [])])


LINE = 70
"""A signature that is longer has a line for each parameter."""
PYTHON = {
    "Programs and runs": "Program Execution Batch call call_each default_host set_default_host last_run",
    "Values": "AsyncValue unavailable gather wait_for",
    "Programs from functions": "program TracedProgram cond repeat while_loop parallel_for map recover in_order min max",
    "Kernels": "kernel external KernelFrame KernelRegistry KernelError BlockingWarning",
    "Types": "i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 f32 f64 index tensor out",
    "Hosts": "HostContext ConcurrentWorkQueue DaskWorkQueue HostAllocator MallocAllocator LeakCheckAllocator"
    " ResourceContext",
    "Errors": "TfrtError CancelledError TimeoutError",
    "Traces": "Tracing TracingSink Activity ChromeSink Level",
    "Exercises": "exercise grade Answer Code Names",
}
"""The public names by what they are for, in the order in which one needs them."""


IN_REPOSITORY = HERE / "python_reference.md"
"""The page about Python as one reads it in a checkout.  Not a page of the site, which has it with an index."""


def python_reference() -> str:
    """The page about Python without what only Sphinx understands."""
    page = re.sub(r"```\{index\}.*?```\n\n", "", python_api(), flags=re.DOTALL)
    page = page.replace(" {ref}`The index <genindex>` is alphabetical.", "")
    return f"{page.rstrip()}\n"


def python_api() -> str:
    """Every public name of the package, with signatures and docstrings.

    Raises:
        ValueError: if a public name is missing in `PYTHON`.
    """
    parts = [
        "# Python",
        "All names are those of `import tfrt_nb as tfrt`. {ref}`The index <genindex>` is alphabetical.",
    ]
    named = {name: getattr(tfrt_nb, name) for name in tfrt_nb.__all__}
    shown = {
        name: thing
        for name, thing in named.items()
        if callable(thing) and not name.endswith("_ipython_extension")
    }
    if missing := shown.keys() - set(" ".join(PYTHON.values()).split()):
        raise ValueError(f"public names without a place in the reference: {missing}")
    for topic, listed in PYTHON.items():
        parts.append(f"## {topic}")
        for name in listed.split():
            if name in shown:
                parts += _python_name(name, shown[name])
    return "\n\n".join(parts) + "\n"


def _python_name(name: str, thing: Any) -> Iterator[str]:
    """The sections of a public name: its own, and those of the members of a class."""
    yield f"### `{name}`\n\n{_indexed(name)}\n\n{_described(name, thing)}"
    package = thing.__module__.rpartition(".")[0]
    bases = thing.__mro__ if isinstance(thing, type) else ()
    # A base that is public itself has a section of its own, with the members of its bases.
    public = [base for base in bases[1:] if base.__name__ in tfrt_nb.__all__]
    elsewhere = {one for base in public for one in base.__mro__}
    for member, value in (
        (member, value)
        for base in bases
        if base is thing or (base.__module__.startswith(package) and base not in elsewhere)
        for member, value in vars(base).items()
    ):
        is_shown = callable(value) or isinstance(value, property | cached_property)
        # `dir` of a class may leave out what is for the runtime's own modules.
        if not member.startswith("_") and member in dir(thing) and is_shown and getdoc(value):
            whole = f"{name}.{member}"
            yield f"#### `{whole}`\n\n{_indexed(whole)}\n\n{_described(member, value)}"


def _described(name: str, thing: Any) -> str:
    if isinstance(thing, property | cached_property):
        return _prose(cleandoc(getdoc(thing) or ""))
    try:
        shown = f"{name}{_typed(thing)}"
    except (TypeError, ValueError):
        shown = name
    return f"```python\n{shown}\n```\n\n{_prose(cleandoc(getdoc(thing) or ''))}"


class _Written(str):
    """An annotation as its file has it."""

    __slots__ = ()
    __repr__ = str.__str__


def _typed(thing: Any) -> str:
    """The parameters with their types, each on a line of its own where they are long."""
    found = signature(thing)
    parameters = [
        one.replace(annotation=_written(one.annotation), default=_default(one.default))
        for name, one in found.parameters.items()
        if name != "self"
    ]
    returned = found.empty if isinstance(thing, type) else _written(found.return_annotation)
    shown = str(found.replace(parameters=parameters, return_annotation=returned))
    if len(shown) <= LINE or not parameters:
        return shown
    end = shown.rindex(") -> ") if ") -> " in shown else len(shown) - 1
    lines, depth = [""], 0
    for character in shown[1:end]:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            lines.append("")
        else:
            lines[-1] += character
    rows = "".join(f"    {line.strip()},\n" for line in lines)
    return f"(\n{rows}{shown[end:]}"


def _default(value: Any) -> Any:
    """A default as one would write it; `...` for a function, which has no short form."""
    if isinstance(value, Enum):
        return _Written(f"{type(value).__name__}.{value.name}")
    is_object = value is not Parameter.empty and repr(value).startswith("<")
    return _Written("...") if is_object else value


def _written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def magics() -> str:
    """What `%%tfrt?` and the other magics say of themselves."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tfrt_nb")
    parts = ["# Magics", "`%load_ext tfrt_nb` brings them."]
    for kind, sign in (("cell", "%%"), ("line", "%")):
        for name, magic in sorted(shell.magics_manager.magics[kind].items()):
            if name.startswith(("tfrt", "async_")):
                text = cleandoc(getattr(magic, "__doc__", None) or "")
                # The help of a magic with options is a literal block.
                helped = text.removeprefix("::\n\n")
                shown = _prose(text) if helped == text else f"```text\n{helped}\n```"
                parts.append(f"## `{sign}{name}`\n\n{_indexed(f'{sign}{name}')}\n\n{shown}")
    shell.run_line_magic("unload_ext", "tfrt_nb")
    return "\n\n".join(parts) + "\n"


def command_line() -> str:
    """What `tfrt-nb COMMAND --help` says."""
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
    """The bytes of a small program, with what they mean."""
    from tfrt_nb.cli.main import main

    path = HERE / "shop.mlir"
    printed = io.StringIO()
    # The file has the path as it is given here.
    with redirect_stdout(printed), chdir(HERE):
        main(["run", path.name, "--emit", "bef"])
    return (
        "# A BEF file, annotated\n\nTutorial [07](../tutorials/07_bef.ipynb) explains the idea. Numbers are in"
        " groups of seven bits, the highest first, where they vary in length; in the bodies of functions they have"
        " 32 bits, the lowest byte first. Sections that a reader does not know are skipped.\n\n"
        f"```mlir\n{path.read_text()}```\n\n```text\n{printed.getvalue()}```\n"
    )


def runtime_abi() -> str:
    """The C functions that compiled coroutines call."""
    from tfrt_runtime.native.coroutines import async_abi
    from tfrt_runtime.native.memory import EXPORTS

    parts = [
        "# The ABI of the async runtime",
        _prose(cleandoc(getdoc(async_abi) or "")),
        _ABOUT_ABI,
    ]
    for name, one in sorted(
        EXPORTS.items(), key=lambda one: (not one[0].startswith("mlir"), one[0])
    ):
        text = cleandoc(getdoc(one.function) or "")
        named = zip(one.parameters, signature(one.function).parameters, strict=True)
        line = f"{one.returns} {name}({', '.join(map(' '.join, named))})"
        parts.append(f"## `{name}`\n\n{_indexed(name)}\n\n```c\n{line}\n```\n\n{_prose(text)}")
    return "\n\n".join(parts) + "\n"


def errors() -> str:
    """What is said about programs that are wrong: those that the tests keep."""
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
        ("failing", "Failing in the run"),
    ):
        parts.append(f"## {title}\n\nA line `// -----` divides programs of their own.")
        for path in sorted((ROOT / "tests" / "programs" / folder).glob("*.mlir")):
            said = path.with_suffix(".out").read_text()
            parts.append(_mistake(path.stem, path.read_text(), said))
    return "\n\n".join(parts) + "\n"


_ABOUT_KERNELS = """\
Each has an example, with what `tfrt-nb run` prints for it; `%tfrt_kernels NAME` shows it in a notebook."""

_ABOUT_OPERATIONS = """\
They mean what they mean in MLIR; a text says more where that is needed. What is in parentheses are operands, behind the arrow results, in
braces attributes. An operation that cannot be compiled where it stands is an error at its line. Tasks, tokens and groups are on
[a page of their own](async_dialect.md)."""

_ABOUT_STEPS = """\
An example is a whole program, with what `tfrt-nb run` prints. Lines that begin with `-` and `+` are what a pass of a run
takes out and puts in. Each program was run at `-O0` and at `-O1`, with the same outcome."""

_ABOUT_ABI = """\
`ptr` is an address: of a token, a value or a group, of a coroutine's frame, or of the function that resumes it. An object is
made with two references, one for the code around and one for its producer, which emplacing it or setting its error drops.

[Call the runtime from C](../howto/port.md#call-the-runtime-from-c) says how C code links against these functions.

The RFC of the async dialect has other names for them:

| RFC | here |
|---|---|
| `MLIR_AsyncRT_CreateHandle` | `mlirAsyncRuntimeCreateToken`, `mlirAsyncRuntimeCreateValue` |
| `MLIR_AsyncRT_EmplaceHandle` | `mlirAsyncRuntimeEmplaceToken`, `mlirAsyncRuntimeEmplaceValue` |
| `MLIR_AsyncRT_SyncAwait` | `mlirAsyncRuntimeAwaitToken`, `mlirAsyncRuntimeAwaitValue` |
| `MLIR_AsyncRT_Await` | `mlirAsyncRuntimeAwaitTokenAndExecute`, `mlirAsyncRuntimeAwaitValueAndExecute` |
| `MLIR_AsyncRT_Call` | `mlirAsyncRuntimeExecute` |
| `MLIR_AsyncRT_DefaultRuntime` | none: a function finds the runtime by its thread, so no runtime is passed |
"""

_ABOUT_ERRORS = """\
Each program is one of the tests, and each message is compared there. A message says what was found, where, and often
what to write; below each is what to do. To find yours, search this page for its words."""


def _mistake(name: str, program: str, said: str) -> str:
    title = name.replace("_", " ").capitalize()
    # A message without advice stops the site: the list grows with the messages.
    advice = "\n".join(f"- {one}" for one in advice_on(said))
    return f"### {title}\n\n```mlir\n{program.rstrip()}\n```\n\n```text\n{said.rstrip()}\n```\n\n{advice}"


def misconceptions() -> str:
    """Wrong answers that learners give, each with the hint that it gets, from the exercises."""
    parts = [
        "# Misconceptions, and the exercise that reveals each",
        "The list is made from the exercises: what a learner answers, and what the exercise says then.",
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
