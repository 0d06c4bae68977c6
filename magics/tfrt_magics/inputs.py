"""The Python objects and files that a line names with `--in`, `--with`, and `--host`.

The objects are values, programs, and hosts. This module also chooses the functions to run with
them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tfrt_runtime.diagnostics import Diagnostic, Severity, TfrtError, error, meant, note

if TYPE_CHECKING:
    from tfrt_nb.programs import FunctionSignature, Program
    from tfrt_runtime.host.context import HostContext


@dataclass(frozen=True, slots=True)
class Call:
    """A function that a cell runs, with the values for its parameters."""

    function: FunctionSignature
    values: tuple[object, ...] = ()


def evaluated(inputs: Sequence[str], namespace: dict[str, object]) -> dict[str, object]:
    """Evaluate the `--in` options in `namespace`, and return the values by parameter name.

    An option is `NAME=EXPRESSION`, or `NAME` alone, which means the variable of the same name.

    Raises:
        TfrtError: if a parameter is given twice, or its expression fails. The message is one line
            that names the parameter.
    """
    values: dict[str, object] = {}
    for one in inputs:
        word, equals, expression = one.partition("=")
        name = word.strip().removeprefix("%")
        if not name or (equals and not expression.strip()):
            raise TfrtError(error(f"--in {one}: expected NAME or NAME=EXPRESSION"))
        if name in values:
            raise TfrtError(error(f"--in {name}: %{name} already has a value"))
        values[name] = _value(one, name, expression.strip() if equals else name, namespace)
    return values


def _value(option: str, name: str, expression: str, namespace: dict[str, object]) -> object:
    try:
        return eval(compile(expression, "<--in>", "eval"), namespace)
    except (Exception, SystemExit) as problem:  # noqa: BLE001  it is the user's expression
        text = str(problem).partition("\n")[0]
        # In `--in NAME` alone, the name is a variable, so the user did not mean a string.
        is_text = isinstance(problem, NameError) and expression != name
        hint = f"; a string needs quotes within quotes: --in '{name}=\"text\"'" if is_text else ""
        raise TfrtError(error(f"--in {option}: {type(problem).__name__}: {text}{hint}")) from None


def programs_of(names: Sequence[str], namespace: Mapping[str, object]) -> dict[str, Program]:
    """Return the programs that have these Python names.

    Raises:
        TfrtError: if a name does not exist or does not refer to a program.
    """
    return {name: program_of(name, namespace, "--with ") for name in names}


def program_of(name: str, namespace: Mapping[str, object], whose: str = "") -> Program:
    """Return the program that has the given Python name.

    `whose` is the option that contains the name.

    Raises:
        TfrtError: if the name does not exist or does not refer to a program.
    """
    # Imported here because %load_ext must not load the compiler.
    from tfrt_nb.programs import Program
    from tfrt_nb.tracing.functions import TracedProgram

    found = namespace.get(name)
    if isinstance(found, TracedProgram):
        if not found.is_typed:
            hint = (
                f"annotate them, or pass a typed program, as in {name}_i32 = {name}.trace(tfrt.i32)"
            )
            raise TfrtError(error(f"{whose}{name}: its arguments have no types; {hint}"))
        found = found.trace()
    if isinstance(found, Program):
        return found
    kept = names_of(Program, namespace)
    known = f"programs are {', '.join(kept)}" if kept else "--as NAME keeps a cell's program"
    raise _misnamed(f"{whose}{name}", name, namespace, "program", kept, known)


def host_of(name: str, namespace: Mapping[str, object]) -> HostContext:
    """Return the user's host with a Python name.

    Raises:
        TfrtError: if the name does not exist, does not refer to a host, or refers to a closed host.
    """
    # Imported here because %load_ext must not load the runtime.
    from tfrt_runtime.host.context import HostContext

    found = namespace.get(name)
    if not isinstance(found, HostContext):
        kept = names_of(HostContext, namespace)
        known = f"hosts are {', '.join(kept)}" if kept else f"{name} = tfrt.HostContext() makes one"
        raise _misnamed(f"--host {name}", name, namespace, "HostContext", kept, known)
    if found.is_closed:
        raise TfrtError(error(f"--host {name}: the host is closed"))
    return found


def names_of(kind: type, namespace: Mapping[str, object]) -> list[str]:
    """Return the sorted names of the notebook's variables whose values are instances of `kind`."""
    found = (name for name, one in namespace.items() if isinstance(one, kind))
    return sorted(name for name in found if not name.startswith("_"))


def _misnamed(
    option: str,
    name: str,
    namespace: Mapping[str, object],
    kind: str,
    kept: Sequence[str],
    known: str,
) -> TfrtError:
    """Return the error for a `name` that refers to no object of the right type.

    `kept` contains the names of objects of the right type.
    """
    if name in namespace:
        found = type(namespace[name]).__name__
        return TfrtError(error(f"{option} is of type {found}, which is no {kind}; {known}"))
    hint = meant(name, kept, known)
    return TfrtError(error(f"{option}: no {kind} has that name; {hint}"))


def file_name(text: str) -> str:
    """Return a user's file name, with `~` replaced by the home folder.

    Raises:
        TfrtError: if no file can have that name. The message is one line.
    """
    try:
        name = str(Path(text).expanduser())
        if not text or b"\0" in os.fsencode(name):
            raise ValueError
    except (ValueError, RuntimeError):
        raise TfrtError(error(f"'{text}' is not a file name")) from None
    return name


def chosen(program: Program, name: str | None, values: Mapping[str, object]) -> list[Call]:
    """Return the calls to run, in order.

    If `name` is given, that function is called. Otherwise, each of the program's own functions
    whose arguments all have values is called.

    Raises:
        TfrtError: if the function `name` does not exist, an argument has no value, or a value
            matches no argument.
    """
    if name is not None:
        one = next((function for function in program.functions if function.name == name), None)
        if one is None:
            names = [function.name for function in program.functions]
            there_are = "the program has " + ", ".join(f"@{each}" for each in names)
            notes = [note(meant(name, names, there_are, "@{}"))] if names else []
            raise TfrtError(error(f"there is no function @{name}", notes=notes))
        candidates = [one]
    else:
        # Without --function, a cell runs host functions, and the compiled function @main.
        functions = program._own_functions
        candidates = [one for one in functions if not one.is_compiled or one.name == "main"]
    parameters = {one.name: _parameters(program, one, values) for one in candidates}
    _refuse_unknown(values, candidates, parameters)
    ready = [one for one in candidates if all(each in values for each in parameters[one.name])]
    used = {each for one in ready for each in parameters[one.name]}
    for one in candidates:
        given = [each for each in parameters[one.name] if each in values]
        # A value that no ready function uses is meant for a function that lacks another value.
        is_asked_for = name is not None or any(each not in used for each in given)
        if one not in ready and is_asked_for:
            raise _missing(one, parameters[one.name], values)
    return [Call(one, tuple(values[each] for each in parameters[one.name])) for one in ready]


def bound_in_order(program: Program, calls: Sequence[Call], values: Mapping[str, object]) -> str:
    """Return advice about values for parameters without names, or "" if all have names."""
    nameless = [
        one.function.name
        for one in calls
        if one.values and not program.parameters(one.function.name)
    ]
    if not nameless:
        return ""
    return (
        f"the file has no parameter names for @{nameless[0]}:"
        f" the values {', '.join(values)} were taken in this order"
    )


def nothing_to_run(program: Program) -> Diagnostic:
    """Return advice for a program whose functions all need options to run.

    The advice points to a function that could run.
    """
    with_arguments = [one for one in program._own_functions if one.argument_types]
    if with_arguments:
        one = with_arguments[0]
        needs = " ".join(f"--in {name}=..." for name in program.parameters(one.name) or ["NAME"])
        chosen = f"--function {one.name} " if one.is_compiled and one.name != "main" else ""
        return _remark(f"to run @{one.name}, add {chosen}{needs}", one)
    compiled = next((one for one in program._own_functions if one.is_compiled), None)
    if compiled is not None:
        hint = f"it has no @main to run; --function {compiled.name} runs @{compiled.name}"
        return _remark(hint, compiled)
    hint = "it has no function to run: write one, as in 'func.func @main() { tfrt.return }'"
    return _remark(hint, None)


def _remark(text: str, function: FunctionSignature | None) -> Diagnostic:
    place = None if function is None else function.location
    return Diagnostic(Severity.REMARK, f"the program compiles; {text}", place)


def _parameters(
    program: Program, function: FunctionSignature, values: Mapping[str, object]
) -> Sequence[str]:
    """Return the names of a function's parameters.

    A BEF file contains no names. Its parameters take the names of the values, in order.
    """
    count = len(function.argument_types)
    names = program.parameters(function.name)
    if names or not count:
        return names
    given = list(values)[:count]
    return [*given, *(f"arg{index}" for index in range(len(given), count))]


def _refuse_unknown(
    values: Mapping[str, object],
    functions: Sequence[FunctionSignature],
    parameters: Mapping[str, Sequence[str]],
) -> None:
    known = list(dict.fromkeys(each for names in parameters.values() for each in names))
    for name in values:
        if name not in known:
            who = f"@{functions[0].name} has" if len(functions) == 1 else "no function has"
            not_one = "no parameter" if len(functions) == 1 else "a parameter"
            listed = ", ".join(f"%{each}" for each in known)
            there_are = f"there are {listed}" if known else "there is none"
            hint = meant(name, known, there_are, "%{}")
            raise TfrtError(error(f"--in {name}: {who} {not_one} %{name}; {hint}"))


def _missing(
    function: FunctionSignature, names: Sequence[str], values: Mapping[str, object]
) -> TfrtError:
    types = dict(zip(names, function.argument_types, strict=True))
    open_ones = [name for name in names if name not in values]
    listed = ", ".join(f"%{name}: {types[name]}" for name in open_ones)
    options = " ".join(f"--in {name}=..." for name in open_ones)
    return TfrtError(error(f"@{function.name} has no value for {listed}; give {options}"))
