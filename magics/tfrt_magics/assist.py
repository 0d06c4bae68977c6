"""Help while a user writes a cell: completion, explanations, definitions, and mistakes.

`tfrt_nb.language` handles the program, and this module handles the magic's line. The help has three
entry points: IPython's completer, the kernel's answer to Shift-Tab, and `answer` for the requests
that pages send on the control channel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from string import ascii_letters
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.record import Json
from tfrt_magics.inputs import names_of, programs_of
from tfrt_magics.options import ARGUMENTS, ENGINES, STAGES, OptionError, help_text, parse_options
from tfrt_magics.session import TFRT
from tfrt_magics.views.diagnostics import CellText, diagnostics_json
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error

if TYPE_CHECKING:
    from tfrt_nb.language.answers import Place
    from tfrt_nb.programs import Program

_CELL = re.compile(
    r"(?:[ \t]*\n)*"
    r"(%%tfrt(?:(?!\w)|_check(?!\w)(?=[^\n]*\n(?:.*\n)*?[ "
    r"\t]*(?:func|async\.func|module)\b))[^\n]*)"
)
"""Matches a cell that contains a program, up to the end of the magic's line (the group).

A `%%tfrt_check` cell matches only if it contains a program, because the answer to an exercise may
also be Python code.
"""
_LINE = re.compile(r"[ \t]*%(tfrt|tfrt_kernels|tfrt_graph|tfrt_config)[ \t][^\n]*\Z")

_VALUE = re.compile(
    r"""--in(?:[ \t]+|=)(?:
    (["'])%?[\w$.-]+=(?:(?!\1).)*          # 'x=a + b
    | %?[\w$.-]+=(?:(["'])(?:(?!\2).)*     # x='a + b
    | [^\s"']*))\Z                        # x=a""",
    re.VERBOSE,
)
"""Matches the line before the cursor if the cursor is in the expression of `--in`."""


class Offer(NamedTuple):
    """A completion: its text, a word for its kind, and its type or signature, or ""."""

    text: str
    kind: str
    type: str = ""


Offered = list[Offer]


class _Only(list[SimpleCompletion]):
    """Completions that suppress Python's completions, even if the list is empty.

    IPython suppresses other completions only if the list's length is not 0.
    """

    def __len__(self) -> int:
        return max(1, super().__len__())


class Assistant:
    """Answers questions about the cells of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._undo = ExitStack()

    def install(self) -> None:
        """Handle Tab in the shell and, in a kernel, Shift-Tab."""
        completer = self._shell.Completer

        def match(context: CompletionContext) -> Any:
            before = context.full_text.split("\n")[: context.cursor_line]
            cursor = sum(len(line) + 1 for line in before) + context.cursor_position
            found = self.complete(context.full_text, cursor)
            if found is None:
                return {"completions": [], "suppress": False}
            start, offered = found
            return {
                "completions": _Only(
                    SimpleCompletion(one.text, type=f"{one.kind} {one.type}".rstrip())
                    for one in offered
                ),
                "suppress": True,
                "ordered": True,
                "matched_fragment": context.full_text[start:cursor],
            }

        matcher = context_matcher(identifier="tfrt")(match)
        completer.custom_matchers.append(matcher)
        self._undo.callback(completer.custom_matchers.remove, matcher)
        kernel: Any = getattr(self._shell, "kernel", None)
        if not hasattr(kernel, "do_inspect"):  # there is no kernel, or it is JupyterLite's kernel
            return
        inspect = kernel.do_inspect

        def do_inspect(code: str, cursor_pos: int, *more: Any, **named: Any) -> object:
            found = self.explain(code, cursor_pos)
            if found is None:
                return inspect(code, cursor_pos, *more, **named)
            return {"status": "ok", "found": True, "data": {"text/plain": found}, "metadata": {}}

        kernel.do_inspect = do_inspect
        # The instance's attribute hides the method of the class, which becomes visible again.
        self._undo.callback(kernel.__dict__.pop, "do_inspect", None)

    def uninstall(self) -> None:
        """Restore the completions and documentation that the shell had before `install`."""
        self._undo.close()

    def complete(self, cell: str, cursor: int) -> tuple[int, Offered] | None:
        """Return the start of the completed word and all completions.

        Return None if this module has no completions at `cursor`.
        """
        head = _CELL.match(cell)
        if head is None:
            line = cell[:cursor]
            found = _LINE.search(line[line.rfind("\n") + 1 :])
            return None if found is None else self._in_line(found[1], line)
        if cursor <= head.end():
            is_check = head[1].startswith("%%tfrt_check")
            return None if is_check else self._in_options(cell, cell[:cursor])
        from tfrt_nb.language.answers import complete

        found_here = complete(_program(cell, head), cursor, self._functions_of_others(head[1]))
        start = found_here[0].start if found_here else cursor
        return start, [Offer(one.text, one.kind, one.type) for one in found_here]

    def explain(self, cell: str, cursor: int) -> str | None:
        """Describe the item at `cursor`."""
        head = _CELL.match(cell)
        if head is None:
            return None
        if cursor <= head.end():
            word = re.search(r"[\w-]*\Z", cell[:cursor])
            rest = re.match(r"[\w-]*", cell[cursor:])
            assert word is not None
            assert rest is not None
            flag = word[0] + rest[0]
            if flag == "tfrt":
                return help_text()
            for flags, settings in ARGUMENTS.items():
                if flag in flags:
                    option = f"{', '.join(flags)} {settings.get('metavar', '')}".rstrip()
                    # Argparse requires `%%` for a percent sign in its help texts.
                    return f"{option}\n\n{settings['help']}".replace("%%", "%")
            return None
        from tfrt_nb.language.answers import explain

        found = explain(_program(cell, head), cursor)
        if found is None and (other := self._elsewhere(cell, cursor, head[1])) is not None:
            name, program, function = other
            signature = self._functions_of_others(head[1])[function]
            place = _function_in(program.text, function)
            where = explain(program.text, place.start + 1) if place is not None else None
            line = f", {where.partition(chr(10))[2].strip()}" if where is not None else ""
            found = f"@{function}  {signature}\n\nof the program {name}{line}"
        return found

    def signature(self, cell: str, cursor: int) -> Json:
        """Return the signature of the operation at the cursor.

        The signature is one line, with the span of the part at the cursor.
        """
        head = _CELL.match(cell)
        if head is None or cursor <= head.end():
            return None
        from tfrt_nb.language.answers import signature

        found = signature(_program(cell, head), cursor)
        if found is None:
            return None
        part: list[Json] = [] if found.active is None else [*found.parts[found.active]]
        return {"line": found.label, "part": part}

    def definition(self, cell: str, cursor: int) -> Json:
        """Return where the name at `cursor` is defined: its line, its column, and its length.

        Lines and columns are counted from 1. If another cell defines the name, the result also has
        `source`, the text of that cell after its first line.
        """
        head = _CELL.match(cell)
        if head is None:
            return None
        from tfrt_nb.language.answers import definition

        text: str = cell
        elsewhere: dict[str, Json] = {}
        found = definition(_program(cell, head), cursor)
        if found is None and (other := self._elsewhere(cell, cursor, head[1])) is not None:
            text = other[1].text
            elsewhere = {"source": "\n" + text.strip("\n").rstrip()}
            found = _function_in(text, other[2])
        if found is None:
            return None
        line = text.count("\n", 0, found.start) + 1
        column = found.start - text.rfind("\n", 0, found.start)
        return {"line": line, "col": column, "length": found.end - found.start, **elsewhere}

    def lint(self, cell: str) -> list[Json]:
        """Return the mistakes in a cell, for an editor to underline. This runs nothing."""
        head = _CELL.match(cell)
        if head is None:
            return []
        body = cell[head.end() + 1 :]
        return diagnostics_json(self._mistakes(cell, head), CellText("cell", f"{head[0]}\n{body}"))

    def fixes(self, cell: str) -> list[Json]:
        """Return the edits that would fix a cell's mistakes: offsets in the cell, and new text."""
        head = _CELL.match(cell)
        if head is None:
            return []
        from tfrt_nb.language.lint import fixes

        def source(one: Diagnostic) -> str:
            is_option = getattr(one.location, "line", 0) <= head[0].count("\n") + 1
            return cell if is_option else _program(cell, head)

        found = (pair for one in self._mistakes(cell, head) for pair in fixes(source(one), one))
        return [{"start": place.start, "end": place.end, "text": text} for place, text in found]

    def references(self, cell: str, cursor: int) -> list[Json]:
        """Return the start and end in the cell of each use of the name at `cursor`."""
        head = _CELL.match(cell)
        if head is None:
            return []
        from tfrt_nb.language.answers import references

        return _pairs(references(_program(cell, head), cursor))

    def rename(self, cell: str, cursor: int, name: str) -> Json:
        """Return the uses of the name at `cursor` and the new text.

        If `name` cannot be the new name, return the `problem` instead.
        """
        head = _CELL.match(cell)
        if head is None:
            return None
        from tfrt_nb.language.answers import rename

        try:
            text, places = rename(_program(cell, head), cursor, name)
        except ValueError as problem:
            return {"problem": str(problem)}
        return {"text": text, "places": _pairs(places)}

    def _mistakes(self, cell: str, head: re.Match[str]) -> tuple[Diagnostic, ...]:
        from tfrt_nb.language.lint import lint

        body = cell[head.end() + 1 :]
        above = head[0].count("\n") + 1
        found = lint("\n" * above + body, "cell", self._libraries(head[1]))
        if body.strip():  # without a program, the line of options is still being written
            found = (*_wrong_options(head[1], above), *found)
        return found

    def answer(self, question: Mapping[str, Any]) -> dict[str, Json]:
        """Answer a page's request `{ask, text, cursor}` about a cell.

        The answer is None if this module cannot answer the request. Any thread may call this.
        """
        ask, text, cursor = question.get("ask"), question.get("text"), question.get("cursor", 0)
        if isinstance(ask, str) and isinstance(text, str) and isinstance(cursor, int):
            return {"answer": self._answer(ask, text, cursor, str(question.get("name")))}
        return {"answer": None}

    def _answer(self, ask: str, text: str, cursor: int, name: str) -> Json:
        match ask:
            case "lint":
                return self.lint(text)
            case "fixes":
                return self.fixes(text)
            case "references":
                return self.references(text, cursor)
            case "rename":
                return self.rename(text, cursor, name)
            case "hover":
                return self.explain(text, cursor)
            case "signature":
                return self.signature(text, cursor)
            case "definition":
                return self.definition(text, cursor)
            case "complete" if (found := self.complete(text, cursor)) is not None:
                items: list[Json] = [one._asdict() for one in found[1]]
                return {"start": found[0], "items": items}
        return None

    def _in_line(self, magic: str, line: str) -> tuple[int, Offered]:
        """Complete the rest of a line magic."""
        if magic == "tfrt":
            return self._in_options("", line)
        word = line[line.rfind(" ") + 1 :]
        start = len(line) - len(word)
        match magic:
            case "tfrt_graph" if line[:start].split()[-1] == "--engine":
                names = [Offer(engine, "engine") for engine in ENGINES]
            case "tfrt_graph" if not word.startswith("-"):
                names = [Offer(name, "program") for name in self._program_names()]
            case "tfrt_graph":
                names = [Offer(flag, "option") for flag in ("--dot", "--engine", "--window")]
            case "tfrt_config":
                names = [
                    Offer(f"{name}=", "setting") for name in sorted(TFRT.class_traits(config=True))
                ]
            case _:
                from tfrt_nb.language import operations

                known = operations.names(word)
                names = [Offer(one, "operation", operations.signature_text(one)) for one in known]
        return start, [one for one in names if one.text.startswith(word)]

    def _in_options(self, cell: str, line: str) -> tuple[int, Offered]:
        """Complete an option, or its value."""
        if _VALUE.search(line) is not None:
            return self._in_expression(line)
        word = line[max(line.rfind(" "), line.rfind("\t")) + 1 :]
        earlier = line[: len(line) - len(word)].split()
        option = earlier[-1] if earlier else ""
        if word.startswith("--") and "=" in word:  # --emit=mlir
            option, _, word = word.partition("=")
        values = self._values_of(option, cell)
        if values is not None:
            # The option takes several programs, separated by commas.
            prefix = word[: word.rfind(",") + 1] if option == "--with" else ""
            offered = [one._replace(text=prefix + one.text) for one in values]
        else:
            offered = [
                Offer(flag, "option", str(settings.get("metavar", "")))
                for flags, settings in ARGUMENTS.items()
                for flag in flags
                if flag.startswith("--")
            ]
        fitting = [one for one in offered if one.text.startswith(word)]
        return len(line) - len(word), fitting

    def _in_expression(self, line: str) -> tuple[int, Offered]:
        """Complete the notebook's names and their attributes.

        Python's own names are offered only after the user has typed a letter.
        """
        # The last match is always empty. The match before it, if any, is the word at the end.
        word = re.findall(r"[\w.]*", line)[-2]
        completer: Any = self._shell.Completer
        start, hidden = len(line) - len(word), self._shell.user_ns_hidden
        if "." in word:
            return start, [Offer(name, "attribute") for name in completer.attr_matches(word)]
        items = [*self._shell.user_ns.items()]
        own = {name: type(value).__name__ for name, value in items if name not in hidden}
        names = [*own, *(name for name in completer.global_matches(word) if word)]
        fitting = (
            name for name in dict.fromkeys(names) if name.startswith(word or tuple(ascii_letters))
        )
        return start, [Offer(name, own.get(name, "Python")) for name in fitting]

    def _values_of(self, option: str, cell: str) -> Offered | None:
        match option:
            case "--emit":
                return [Offer(stage, "stage") for stage in STAGES]
            case "-q" | "--work-queue":
                return [Offer(queue, "work queue") for queue in ("s", "mstd", "mstd:2", "mstd:4")]
            case "--with":
                return [Offer(name, "program") for name in self._program_names()]
            case "--host":
                from tfrt_runtime.host.context import HostContext

                return [Offer(name, "host") for name in names_of(HostContext, self._shell.user_ns)]
            case "-f" | "--function" | "--in":
                from tfrt_nb.language.scan import scan

                functions = scan(cell).functions
                if option != "--in":
                    return [Offer(one.name, "function", one.signature) for one in functions]
                parameters = [name[1:] + "=" for one in functions for name in one.parameters]
                return [Offer(name, "parameter") for name in dict.fromkeys(parameters)]
        takes_value = any(
            option in flags and "metavar" in settings for flags, settings in ARGUMENTS.items()
        )
        return [] if takes_value else None

    def _program_names(self) -> list[str]:
        from tfrt_nb.programs import Program
        from tfrt_nb.tracing.functions import TracedProgram

        namespace = self._shell.user_ns
        traced = names_of(TracedProgram, namespace)
        typed = [name for name in traced if namespace[name].is_typed]
        return sorted([*names_of(Program, namespace), *typed])

    def _libraries(self, head: str) -> dict[str, Program]:
        """Return the programs of `--with`, or no programs if the line cannot be parsed."""
        try:
            options = parse_options(head.partition("%%tfrt")[2])
            return programs_of(options.libraries, self._shell.user_ns)
        except (OptionError, TfrtError):
            return {}

    def _elsewhere(self, cell: str, cursor: int, head: str) -> tuple[str, Program, str] | None:
        """Find the program of `--with` that defines the function at `cursor`.

        Return the program's name, the program, and the function's name.
        """
        before = re.search(r"@[\w$.-]*\Z", cell[:cursor])
        rest = re.match(r"@?[\w$.-]*", cell[cursor:])
        assert rest is not None
        function = ((before[0] if before is not None else "") + rest[0]).removeprefix("@")
        if before is None and not rest[0].startswith("@"):
            return None
        found = (
            (name, program, function)
            for name, program in self._libraries(head).items()
            if any(one.name == function for one in program.functions)
        )
        return next(found, None)

    def _functions_of_others(self, head: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for program in self._libraries(head).values() if "--with" in head else ():
            for one in program.functions:
                results = ", ".join(one.result_types)
                shown = results if len(one.result_types) == 1 else f"({results})"
                found[one.name] = f"({', '.join(one.argument_types)}) -> {shown}"
        return found


def _wrong_options(line: str, number: int) -> list[Diagnostic]:
    """Return the mistake in the magic's line, if it has one.

    The mistake's location is the word that the message names.
    """
    magic = "%%tfrt"
    if line.startswith("%%tfrt_check"):
        return []
    try:
        parse_options(line.removeprefix(magic))
    except OptionError as problem:
        message = str(problem).removeprefix(f"{magic}: ")
        words = list(re.finditer(r"[^\s'\"]+", line))[1:]
        said = set(re.findall(r"[^\s'\"/:;,?]+", message))
        named = [word for word in words if word[0].partition("=")[0] in said] or words
        # If the message names no word, the mistake's place is everything after the magic.
        start, end = named[0].start(), (named[0] if len(named) < len(words) else words[-1]).end()
        place = Location("cell", number, start + 1, number, end + 1)
        near = re.search(r"did you mean (--[\w-]+)\?", message)
        fix = None if near is None else (line[start:end].partition("=")[0], near[1])
        return [replace(error(message, place), fix=fix)]
    return []


def _program(cell: str, head: re.Match[str]) -> str:
    """Return the cell with blanks in place of the magic, so that positions stay the same."""
    return re.sub(r"[^\n]", " ", head[0]) + cell[head.end() :]


def _pairs(places: Iterable[Place]) -> list[Json]:
    return [[one.start, one.end] for one in places]


def _function_in(text: str, function: str) -> Place | None:
    """Return where a source defines a function."""
    from tfrt_nb.language.answers import definition
    from tfrt_nb.language.scan import scan

    found = next((one for one in scan(text).functions if one.name == function), None)
    return None if found is None else definition(text, found.start + 1)
