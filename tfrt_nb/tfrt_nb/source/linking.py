"""Link the functions that a program calls but does not define, from other programs.

Only functions that the program calls are linked, together with their own callees. The names in a
linked function keep the meaning that they have in the function's own program. If this program
already uses a function's name, the function is renamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.types import symbol_name, symbols_in
from tfrt_nb.source.spans import span_of
from tfrt_runtime.diagnostics import Diagnostic, error, note

Symbols = dict[str, Operation]
Made = Callable[[], ModuleOp]
"""A function that creates a new module each time.

It must be new, because operations are moved out of it.
"""


def link(module: ModuleOp, libraries: Mapping[str, Made]) -> list[Diagnostic]:
    """Move the functions of `libraries` that `module` calls into `module`.

    `libraries` maps names to functions that create modules. The result has an error for each call
    to a function that two libraries define, or whose name resembles the name of a library function.
    """
    linker = _Linker(module, {name: symbols_of(made()) for name, made in libraries.items()})
    # A copy, because linking adds functions to the module. `_move` handles their references.
    return [problem for op in list(module.body.block.ops) for problem in linker.resolve(op)]


def symbols_of(module: ModuleOp) -> Symbols:
    """Return the operations of a module that have a name, by name."""
    found: Symbols = {}
    for op in module.body.block.ops:
        if name := symbol_name(op):
            found.setdefault(name, op)
    return found


def is_declaration(op: Operation) -> bool:
    """Return whether a function has no body."""
    return all(not region.blocks for region in op.regions)


class _Linker:
    def __init__(self, module: ModuleOp, libraries: Mapping[str, Symbols]) -> None:
        self._module = module
        self._known = symbols_of(module)
        self._libraries = libraries
        self._moved: dict[tuple[str, str], str] = {}

    def resolve(self, op: Operation) -> Iterator[Diagnostic]:
        """Link the functions that an operation of the program refers to."""
        for user, name in _references(op):
            known = self._known.get(name)
            if known is not None and not is_declaration(known):
                continue
            found = [
                library
                for library, symbols in self._libraries.items()
                if name in symbols and not is_declaration(symbols[name])
            ]
            if len(found) > 1:
                listed = f"{', '.join(found[:-1])} and {found[-1]}"
                text = f"@{name} is defined by {listed}: keep one of them, or rename the function"
                yield error(text, span_of(user))
            elif found:
                if known is not None:
                    # The library's definition replaces the program's declaration.
                    known.detach()  # type: ignore[no-untyped-call]
                    del self._known[name]
                self._move(found[0], name, name)
            elif known is None and (near := self._nearest(name)) is not None:
                place = span_of(user)
                text = f"'{user.name}' op '{name}' does not reference a valid function"
                fix = (f"@{name}", near.strip("'"))
                yield replace(
                    error(text, place), notes=(note(f"did you mean {near}?", place, fix),)
                )

    def _nearest(self, name: str) -> str | None:
        """Return the library function that `name` may mean, or None.

        The result is None if one of the program's own functions has a more similar name.
        """
        there = {each: lib for lib, symbols in self._libraries.items() for each in symbols}
        near = get_close_matches(name, [*self._known, *there], n=1)
        own = not near or near[0] in self._known
        return None if own else f"'@{near[0]}' of {there[near[0]]}"

    def _move(self, library: str, name: str, new_name: str) -> None:
        """Move a function and everything that it refers to into the program, with a new name."""
        symbols = self._libraries[library]
        op = symbols[name]
        # Record the function before its references, because it may refer to itself.
        self._moved[library, name] = new_name
        self._known[new_name] = op
        op.detach()  # type: ignore[no-untyped-call]
        self._module.body.block.add_op(op)
        if new_name != name:
            held = op.properties if "sym_name" in op.properties else op.attributes
            held["sym_name"] = StringAttr(new_name)
        renamed: dict[str, str] = {}
        for _, used in list(_references(op)):
            if used in symbols:
                renamed[used] = self._bring(library, used)
        _rename(op, {old: new for old, new in renamed.items() if old != new})

    def _bring(self, library: str, name: str) -> str:
        """Link a library's function that another function uses; return its name in the program."""
        if (library, name) in self._moved:
            return self._moved[library, name]
        op, known = self._libraries[library][name], self._known.get(name)
        if known is not None and is_declaration(op) and is_declaration(known):
            return name
        new_name = name if known is None else f"{library}.{name}"
        self._move(library, name, new_name)
        return new_name


def _references(op: Operation) -> Iterator[tuple[Operation, str]]:
    for user in op.walk():
        for attribute in (*user.properties.values(), *user.attributes.values()):
            yield from ((user, symbol.root_reference.data) for symbol in symbols_in(attribute))


def _rename(op: Operation, names: Mapping[str, str]) -> None:
    if not names:
        return
    for user in op.walk():
        for table in (user.properties, user.attributes):
            for key, attribute in table.items():
                table[key] = _renamed(attribute, names)


def _renamed(attribute: Attribute, names: Mapping[str, str]) -> Attribute:
    match attribute:
        case SymbolRefAttr():
            name = attribute.root_reference.data
            if name not in names:
                return attribute
            return SymbolRefAttr(names[name], attribute.nested_references)
        case ArrayAttr():
            return ArrayAttr([_renamed(part, names) for part in attribute.data])
    return attribute
