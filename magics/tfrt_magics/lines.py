"""Line magics that complement `%%tfrt`."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import traitlets
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class

from tfrt_magics.inputs import file_name, program_of
from tfrt_magics.options import ENGINES
from tfrt_magics.session import Session
from tfrt_nb.documents.escapes import clean
from tfrt_runtime.diagnostics import TfrtError, error, meant
from tfrt_runtime.host.queues.queue_names import parse_work_queue

if TYPE_CHECKING:
    from tfrt_nb.programs import Program

MAX_EXPLAINED = 20
"""If at most this many kernels match, they are listed with their documentation."""


class _Parser(argparse.ArgumentParser):
    # Argparse's own method would print the message and end the kernel.
    def error(self, message: str) -> NoReturn:
        raise TfrtError(error(message))


def _graph_parser() -> _Parser:
    parser = _Parser(prog="%tfrt_graph", add_help=False, allow_abbrev=False)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--dot", metavar="FILE")
    parser.add_argument("--engine", choices=ENGINES, default="own")
    parser.add_argument("--window", action="store_true")
    return parser


@magics_class
class LineMagics(Magics):
    """`%tfrt_kernels`, `%tfrt_graph`, `%tfrt_trace`, `%tfrt_leaks`, `%tfrt_reset`, and
    `%tfrt_config`.
    """

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._shell = shell
        self._session = session

    @line_magic
    def tfrt_kernels(self, line: str) -> None:
        """List the kernels that a program may use, with their signatures.

        `%tfrt_kernels add` lists kernels with `add` in their names, `%tfrt_kernels tfrt.*.i32`
        lists kernels that match, and `%tfrt_kernels tfrt.add.i32` explains one kernel.  The
        notebook's own kernels are included.
        """
        print(kernels_text(line.strip()))

    @line_magic
    def tfrt_graph(self, line: str) -> None:
        """Show which values the operations of a program pass to each other.

        `%tfrt_graph` shows the last program, and `%tfrt_graph NAME` a program that `--as` named.
        `--dot FILE` writes the graph in the DOT language, `--engine dot` lets Graphviz lay it out,
        and `--window` opens it in xdot's window.
        """
        # Imported here because pictures need numpy, which takes longer to import than all of
        # `%load_ext`.
        from tfrt_magics.views.graph import graphviz_picture, open_window
        from tfrt_nb.documents.picture import MAX_NODES, image, own_picture

        try:
            options = _graph_parser().parse_args(shlex.split(line))
            graph = self._program(options.name).graph()
            if options.dot is not None:
                try:
                    Path(file_name(options.dot)).write_text(graph.dot, "utf-8", "replace")
                except OSError as wrong:
                    raise TfrtError(
                        error(f"cannot write '{options.dot}': {wrong.strerror}")
                    ) from None
                print(f"written: {clean(options.dot)}")
            elif options.window:
                open_window(graph.dot)
                print("xdot's window opens")
            else:
                count = len(graph.document["operations"])
                if count > MAX_NODES:
                    text = f"{count} operations are too many for a picture; --dot FILE writes them"
                    raise TfrtError(error(text))
                is_own = options.engine == "own"
                picture = own_picture(graph.document) if is_own else graphviz_picture(graph.dot)
                # The text, and a picture that even an untrusted notebook shows.
                bundle = {"text/html": image(picture), "text/plain": graph.dot.rstrip()}
                self._shell.display_pub.publish(bundle)
        except (TfrtError, ValueError) as problem:
            raise _usage("%tfrt_graph", problem) from None

    def _program(self, name: str | None) -> Program:
        """Return the program that has the Python name `name`, or the last program."""
        last = self._session.last_program
        found = last if name is None else program_of(name, self._shell.user_ns)
        if found is None:
            raise TfrtError(error("no cell has defined a program yet"))
        return found

    @line_magic
    def tfrt_trace(self, line: str) -> None:
        """Write a trace of the last run to a file that Perfetto opens: `%tfrt_trace FILE`."""
        run = self._session.last_run
        try:
            words = shlex.split(line) or [""]
            if len(words) > 1 or not words[0] or words[0].startswith("-"):
                found = f", found {line.strip()}" if words[0] else ""
                raise TfrtError(error(f"expected a file name{found}"))
            path = words[0]
            if run is None:
                raise TfrtError(error("no cell has run a program yet"))
            # Imported here because %load_ext must not load the compiler.
            from tfrt_nb.documents.trace import write_trace

            kernels = write_trace(file_name(path), run.job.logs())
        except (TfrtError, ValueError) as problem:
            raise _usage("%tfrt_trace", problem) from None
        print(
            f"written: {clean(path)}, {kernels} kernel{'s' * (kernels != 1)}; open it at "
            f"ui.perfetto.dev"
        )

    @line_magic
    def tfrt_leaks(self, line: str) -> None:
        """List the tokens, values, and groups that compiled programs have left behind.

        For each object, the list shows the operation that made it, its place, its state, and its
        holders. While a cell runs (`--no-wait`), the list includes the objects that it uses. With
        `%config TFRT.check_references = False`, the list has only groups.
        """
        _refuse_arguments("%tfrt_leaks", line)
        objects = self._session.live_objects()
        if not objects:
            print("no async object is left over")
            return
        # Imported here because %load_ext must not load the runtime.
        from tfrt_magics.bridge.compiled import holders

        for one in objects:
            made = f"{one.kind} of '{one.maker}'" if one.maker else str(one.kind)
            print(f"{one.location or 'somewhere'}: {made}, {holders(one)}")

    @line_magic
    def async_leaks(self, line: str) -> None:
        """Run `%tfrt_leaks` under its other name."""
        self._shell.run_line_magic("tfrt_leaks", line)

    @line_magic
    def tfrt_reset(self, line: str) -> None:
        """Cancel all runs, and close every host that the notebook opened.

        The next cell opens new hosts.  Results that are available can still be read.
        """
        _refuse_arguments("%tfrt_reset", line)
        self._session.close()
        print("%%tfrt: every run is stopped and every host is closed")

    @line_magic
    def tfrt_config(self, line: str) -> None:
        """List the settings of cells; `%tfrt_config timeout` lists one, and `%tfrt_config
        timeout=2` sets it.
        """
        try:
            if "=" in line:
                set_one(self._session.settings, line)
            else:
                print(settings_text(self._session.settings, line.strip()))
        except TfrtError as problem:
            raise _usage("%tfrt_config", problem) from None


def _refuse_arguments(magic: str, line: str) -> None:
    if words := line.strip():
        raise UsageError(clean(f"{magic} takes no arguments, found {words!r}"))


def _usage(magic: str, problem: TfrtError | ValueError) -> UsageError:
    """Return a one-line error about a magic's line."""
    text = problem.diagnostics[0].message if isinstance(problem, TfrtError) else str(problem)
    return UsageError(clean(f"{magic}: {text}"))


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Return the sorted names that match `pattern`.

    A pattern without wildcards matches the name that equals it or, if no such name exists, all
    names that contain it.
    """
    listed = sorted(names)
    if pattern in listed:
        return [pattern]
    wanted = pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    return [name for name in listed if fnmatchcase(name, wanted)]


def kernels_text(pattern: str) -> str:
    """List the kernels that match the pattern, with their signatures.

    If only a few match, add their documentation.
    """
    from tfrt_nb.cli.examples import run_example
    from tfrt_nb.dialects.catalog import similar_operations
    from tfrt_nb.language.operations import all_entries, entry, kernel_names, names
    from tfrt_runtime.kernels.users.user import USER_FUNCTIONS

    entries = list(all_entries(matching(kernel_names(), pattern)))
    if not entries and "." in pattern:  # search the dialects of compiled functions
        dialect = names(pattern.partition(".")[0] + ".")
        entries = [one for name in matching(dialect, pattern) if (one := entry(name))]
    if not entries:
        near = similar_operations(pattern) if "." in pattern else []
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"no kernel's name contains {pattern!r}{hint}"
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


def settings_text(settings: traitlets.HasTraits, wanted: str = "") -> str:
    """Return a list of all settings, or only the setting `wanted`, with values and purposes.

    Raises:
        TfrtError: if the setting does not exist. The message is one line that names the setting.
    """
    names = [_setting(settings, wanted)] if wanted else sorted(settings.traits(config=True))
    return "\n".join(
        f"{name} = {getattr(settings, name)!r}\n    {settings.traits()[name].help}"
        for name in names
    )


def set_one(settings: traitlets.HasTraits, line: str) -> None:
    """Set a setting from a line `NAME=VALUE`.

    Raises:
        TfrtError: if the setting does not exist or cannot have the value. The message is one line
            that names the setting.
    """
    name, _, word = (part.strip() for part in line.partition("="))
    _setting(settings, name)
    try:
        value = ast.literal_eval(word)
    # A word without quotes, such as `mstd:2`, is a string.
    except (SyntaxError, ValueError):
        value = word
    # The trait accepts any string, and a cell would report an invalid one only later.
    if name == "work_queue":
        parse_work_queue(str(value))
    try:
        setattr(settings, name, value)
    except traitlets.TraitError as problem:
        text = str(problem).partition("\n")[0]
        # Our message already names the setting; the rest of the text says what was expected and
        # what was found.
        told = re.sub(r"^The (value of the )?'\w+' trait of a TFRT instance ", "", text)
        raise TfrtError(error(f"{name}={word}: {told.rstrip('.')}")) from None


def _setting(settings: traitlets.HasTraits, name: str) -> str:
    """Return `name` if it is the name of a setting.

    Raises:
        TfrtError: if no setting has that name. The message is one line.
    """
    names = sorted(settings.traits(config=True))
    if name not in names:
        hint = meant(name, names, f"there are {', '.join(names)}")
        raise TfrtError(error(f"there is no setting {name!r}; {hint}"))
    return name
