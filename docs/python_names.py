"""Write the reference of the public Python names: signatures and docstrings, by topic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from inspect import Parameter, cleandoc, getdoc, signature
from pathlib import Path
from typing import Any

import tfrt_nb

HERE = Path(__file__).parent


def indexed(*names: str) -> str:
    """Return entries for the site's index, which the search lists first."""
    return f"```{{index}} {', '.join(f'!{name}' for name in names)}\n```"


def prose(text: str) -> str:
    """Convert a docstring to Markdown.

    Indented lines become a program, or a list below `Args:` and `Raises:`.
    """
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
"""A longer signature has a line for each parameter."""
PYTHON = {
    "Programs and "
    "runs": "Program opt Execution Batch call call_each default_host set_default_host last_run "
    "board",
    "Values": "AsyncValue unavailable gather wait_for",
    "Programs from "
    "functions": "program TracedProgram cond repeat while_loop parallel_for map recover in_order "
    "min max",
    "Kernels": "kernel external KernelFrame KernelRegistry KernelError BlockingWarning",
    "Types": "i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 f32 f64 index tensor out",
    "Hosts": "HostContext ConcurrentWorkQueue DaskWorkQueue HostAllocator MallocAllocator "
    "LeakCheckAllocator ResourceContext",
    "Errors": "TfrtError CancelledError TimeoutError",
    "Traces": "Tracing TracingSink Activity ChromeSink Level",
    "Exercises": "exercise grade Answer Code Names",
}
"""The public names by topic, in the order in which a user needs them."""


IN_REPOSITORY = HERE / "python_reference.md"
"""The page about Python for readers of a checkout. The site has its own version, with an index."""


def python_reference() -> str:
    """Return the page about Python without the directives that only Sphinx understands."""
    page = re.sub(r"```\{index\}.*?```\n\n", "", python_api(), flags=re.DOTALL)
    page = page.replace(" {ref}`The index <genindex>` is alphabetical.", "")
    return f"{page.rstrip()}\n"


def python_api() -> str:
    """Every public Python name with its signature and its docstring.

    Raises:
        ValueError: if a public name is missing in `PYTHON`.
    """
    parts = [
        "# Python",
        (
            "Import the package as `import tfrt_nb as tfrt` to use these names. "
            "{ref}`The index <genindex>` is alphabetical."
        ),
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
    """Yield the sections of a public name and, if it is a class, of its members."""
    yield f"### `{name}`\n\n{indexed(name)}\n\n{_described(name, thing)}"
    package = thing.__module__.rpartition(".")[0]
    bases = thing.__mro__ if isinstance(thing, type) else ()
    # A public base has its own section, which includes the members of its bases.
    public = [base for base in bases[1:] if base.__name__ in tfrt_nb.__all__]
    elsewhere = {one for base in public for one in base.__mro__}
    for member, value in (
        (member, value)
        for base in bases
        if base is thing or (base.__module__.startswith(package) and base not in elsewhere)
        for member, value in vars(base).items()
    ):
        is_shown = callable(value) or isinstance(value, property | cached_property)
        # A class's `dir` may leave out names that are only for the runtime's own modules.
        if not member.startswith("_") and member in dir(thing) and is_shown and getdoc(value):
            whole = f"{name}.{member}"
            yield f"#### `{whole}`\n\n{indexed(whole)}\n\n{_described(member, value)}"


def _described(name: str, thing: Any) -> str:
    if isinstance(thing, property | cached_property):
        return prose(cleandoc(getdoc(thing) or ""))
    try:
        shown = f"{name}{_typed(thing)}"
    except (TypeError, ValueError):
        shown = name
    return f"```python\n{shown}\n```\n\n{prose(cleandoc(getdoc(thing) or ''))}"


class _Written(str):
    """An annotation as written in the source."""

    __slots__ = ()
    __repr__ = str.__str__


def _typed(thing: Any) -> str:
    """Return the signature with its types; if it is long, with a line for each parameter."""
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
    """Return a default as a user would write it; `...` for an object that has no short form."""
    if isinstance(value, Enum):
        return _Written(f"{type(value).__name__}.{value.name}")
    is_object = value is not Parameter.empty and repr(value).startswith("<")
    return _Written("...") if is_object else value


def _written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation
