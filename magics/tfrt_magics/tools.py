"""What the line magics do, apart from reading their line: lists, files, windows."""

from __future__ import annotations

import ast
import difflib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import traitlets

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.queues.queue_names import parse_work_queue

MAX_EXPLAINED = 20
"""So many kernels are listed with their documentation."""


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match `pattern`, are it, or contain it when it has no wildcard, in order."""
    listed = sorted(names)
    if pattern in listed:
        return [pattern]
    wanted = pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    return [name for name in listed if fnmatchcase(name, wanted)]


def kernels_text(pattern: str) -> str:
    """The kernels of that pattern with their signatures; few of them with documentation."""
    from tfrt_nb.cli.examples import run_example
    from tfrt_nb.dialects.catalog import similar_operations
    from tfrt_nb.language.operations import all_entries, entry, kernel_names, names
    from tfrt_runtime.kernels.users.user import USER_FUNCTIONS

    entries = list(all_entries(matching(kernel_names(), pattern)))
    if not entries and "." in pattern:  # operations of the dialects for compiled functions
        dialect = names(pattern.partition(".")[0] + ".")
        entries = [one for name in matching(dialect, pattern) if (one := entry(name))]
    if not entries:
        near = similar_operations(pattern) if "." in pattern else []
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"no kernel's name has {pattern!r} in it{hint}"
    if len(entries) == 1:
        (one,) = entries
        has_run = one.example and one.name not in USER_FUNCTIONS
        ran = run_example(one.example) if has_run else ""
        return f"{one.full}\n\n{ran}".rstrip()
    if len(entries) > MAX_EXPLAINED:
        return "\n".join(one.line for one in entries)
    return "\n".join(
        f"{one.line}\n    {one.text.partition(chr(10))[0]}" if one.text else one.line
        for one in entries
    )


def write_text(path: str, text: str) -> None:
    """Write a file.

    Raises:
        TfrtError: in one line that names it.
    """
    try:
        Path(file_name(path)).write_text(text, encoding="utf-8", errors="replace")
    except OSError as problem:
        raise TfrtError(error(f"cannot write '{path}': {problem.strerror}")) from None


def file_name(text: str) -> str:
    """The name of a file that a user wrote, with the home folder for `~`.

    Raises:
        TfrtError: in one line, if no file can have that name.
    """
    try:
        name = str(Path(text).expanduser())
        if not text or b"\0" in os.fsencode(name):
            raise ValueError
    except (ValueError, RuntimeError):
        raise TfrtError(error(f"'{text}' is not the name of a file")) from None
    return name


def open_window(dot: str) -> None:
    """Show a DOT text in xdot's window, which is a process of its own and outlives the cell.

    Raises:
        TfrtError: in one line that says what is missing.
    """
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise TfrtError(error("--window needs a display: DISPLAY is not set"))
    try:
        import xdot
    except ImportError:
        raise TfrtError(error("--window needs xdot: pip install 'tfrt-nb[xdot]'")) from None
    folder = str(Path(xdot.__file__).parents[1])
    python = next(_pythons_with_gtk(folder), None)
    if python is None:
        text = (
            "--window needs GTK 3 for Python: pip install 'tfrt-nb[xdot]', for which the machine"
            " needs libcairo2-dev, libgirepository1.0-dev and gir1.2-gtk-3.0; or apt install"
            " python3-gi python3-gi-cairo gir1.2-gtk-3.0"
        )
        raise TfrtError(error(text))
    with tempfile.NamedTemporaryFile("w", suffix=".dot", delete=False, encoding="utf-8") as file:
        file.write(dot)
    code = (
        f"import sys, os; sys.path.append({folder!r}); from xdot.__main__ import main;"
        f" sys.argv[1:] = [{file.name!r}]; main(); os.unlink({file.name!r})"
    )
    window = subprocess.Popen(
        [python, "-c", code],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Without a wait the process would be left over when its window is closed.
    threading.Thread(target=window.wait, daemon=True).start()


def _pythons_with_gtk(folder: str) -> Iterator[str]:
    """Interpreters that can open xdot's window: this one, or the system's with Debian's packages."""
    check = (
        f"import sys; sys.path.append({folder!r}); import gi; gi.require_version('Gtk', '3.0');"
        " import xdot.ui.window"
    )
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists():
            done = subprocess.run([python, "-c", check], capture_output=True, check=False)
            if done.returncode == 0:
                yield python


def settings_text(settings: traitlets.HasTraits, wanted: str = "") -> str:
    """The settings, or the one that is wanted, each with its value and what it is for.

    Raises:
        TfrtError: in one line that names the setting that does not exist.
    """
    lines = []
    for name in [_setting(settings, wanted)] if wanted else sorted(settings.traits(config=True)):
        lines.append(f"{name} = {getattr(settings, name)!r}\n    {settings.traits()[name].help}")
    return "\n".join(lines)


def set_one(settings: traitlets.HasTraits, line: str) -> None:
    """Read `NAME=VALUE` and set it.

    Raises:
        TfrtError: in one line that names the setting, or the value that it cannot have.
    """
    name, _, word = (part.strip() for part in line.partition("="))
    _setting(settings, name)
    try:
        value = ast.literal_eval(word)
    except (SyntaxError, ValueError):
        value = word
    if name == "work_queue":
        parse_work_queue(str(value))
    try:
        setattr(settings, name, value)
    except traitlets.TraitError as problem:
        text = str(problem).partition("\n")[0]
        # The setting is named already; what remains is what was expected, and what was found.
        told = re.sub(r"^The (value of the )?'\w+' trait of a TFRT instance ", "", text)
        raise TfrtError(error(f"{name}={word}: {told.rstrip('.')}")) from None


def _setting(settings: traitlets.HasTraits, name: str) -> str:
    """The name of a setting.

    Raises:
        TfrtError: in one line, if there is none.
    """
    names = sorted(settings.traits(config=True))
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise TfrtError(error(f"there is no setting {name!r}; {hint}"))
    return name
