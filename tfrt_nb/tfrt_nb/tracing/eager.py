"""One kernel at a time: `tfrt.call`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from tfrt_nb.dialects.catalog import SIGNATURES
from tfrt_nb.dialects.signatures import Signature
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.programs import Program
from tfrt_nb.tracing.calls import attribute
from tfrt_nb.tracing.records import records_of, text_of
from tfrt_nb.tracing.trace import Module, Trace, number_attribute, refuse
from tfrt_nb.tracing.types import DTYPES, type_of_value
from tfrt_runtime.bef.attributes import Attribute, array_of
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.chain import CHAIN as A_CHAIN
from tfrt_runtime.kernels.annotations import (
    CHAIN,
    OBJECT,
    annotated_type,
    has_annotation,
    is_float,
    result_types,
)
from tfrt_runtime.kernels.user import USER_FUNCTIONS, USER_KERNELS, UserKernel

_CACHE_SIZE = 4096
_programs: dict[object, tuple[Program, bool]] = {}
_lock = threading.Lock()


def call(
    name: str | Callable[..., object], /, *values: object, **attributes: Any
) -> AsyncValue | tuple[AsyncValue, ...]:
    """Run one kernel on the default host; its result, or a tuple if it has none or several.

    `name` is the kernel's, or the function that `kernel` decorated.  Types are those of the kernel's signature, for user kernels those of the values.  A chain that the
    kernel takes last may be left out.  Programs are kept by name, types and attributes.

    Raises:
        TfrtError: if there is no such kernel, or it takes other arguments or attributes.
    """
    if not isinstance(name, str):
        name = _name_of(name)
    types: tuple[object, ...] = ()
    if name not in SIGNATURES:
        types = tuple([_type_key(value) for value in values])
    key: object = (name, len(values), types, USER_KERNELS.version, *attributes.items())
    if attributes:  # True is 1 and 1.0 to a dictionary
        key = (key, *[type(value) for value in attributes.values()])
    try:
        found = _programs.get(key)
    except TypeError:  # a list
        key = repr(key)
        found = _programs.get(key)
    if found is None:
        found = _loaded(name, values, attributes)
        with _lock:
            if len(_programs) >= _CACHE_SIZE:
                _programs.clear()
            _programs[key] = found
    program, needs_chain = found
    results = program.run(*values, *([A_CHAIN] if needs_chain else ()), function="main").results
    return results[0] if len(results) == 1 else tuple(results)


def _name_of(function: object) -> str:
    """The name of the kernel that a function is."""
    kernel = getattr(function, "kernel", None)
    if isinstance(kernel, UserKernel):
        return kernel.name
    refuse(
        f"tfrt.call takes the name of a kernel, or a function with @tfrt.kernel; found {function!r}"
    )


def _loaded(
    name: str, values: tuple[object, ...], attributes: dict[str, Any]
) -> tuple[Program, bool]:
    """As `_made`; what is wrong in the program's own text is an error at the line of the caller."""
    try:
        found = _made(name, values, attributes)
        found[0].load()
    except TfrtError as problem:
        if getattr(problem.diagnostics[0].location, "source", "") != f"<{name}>":
            raise
        refuse("; ".join(m.message for one in problem.diagnostics for m in (one, *one.notes)))
    return found


def _type_key(value: object) -> object:
    return type_of_value(value) if isinstance(value, AsyncValue) else type(value)


def _made(
    name: str, values: tuple[object, ...], attributes: dict[str, Any]
) -> tuple[Program, bool]:
    """The program that calls a kernel, and whether it takes a chain more than was given."""
    signature = SIGNATURES.get(name)
    if signature is not None:
        types, results, needs_chain = _of_signature(signature, values)
        words = signature.attributes
        given = [(key, _typed(words.get(key, ""), key, v)) for key, v in attributes.items()]
    else:
        types, results = _of_values(name, values)
        needs_chain = False
        given = [(key, attribute(key, v)) for key, v in attributes.items()]
    module = Module()
    trace = Trace(module, "main", types)
    trace.close(trace.kernel(name, trace.arguments, results, sorted(given, key=itemgetter(0))))
    text = text_of(records_of(module), name, "main", (), places=False)
    return Program.from_source(text, f"<{name}>"), needs_chain


def _of_signature(
    signature: Signature, values: tuple[object, ...]
) -> tuple[list[str], list[str], bool]:
    """Types of operands and results, and whether a chain is left out."""
    words = list(signature.operands)
    if signature.rest is not None:
        words += [signature.rest] * (len(values) - len(words))
    needs_chain = bool(words) and words[-1] == "chain" and len(values) == len(words) - 1
    if len(values) + needs_chain != len(words):
        noun = "argument" if len(words) == 1 else "arguments"
        refuse(f"'{signature.name}' takes {len(words)} {noun}, found {len(values)}")
    known = [*values, A_CHAIN] if needs_chain else values
    types = [
        str(WORDS[word]) if word != "any" else type_of_value(value)
        for word, value in zip(words, known, strict=True)
    ]
    results = [str(WORDS[word]) if word != "any" else OBJECT for word in signature.results]
    return types, results, needs_chain


def _of_values(name: str, values: tuple[object, ...]) -> tuple[list[str], list[str]]:
    """Types of operands and results of a user's kernel."""
    types = [CHAIN if value is A_CHAIN else type_of_value(value) for value in values]
    kernel = USER_FUNCTIONS.get(name)
    if kernel is None:
        return types, [OBJECT]
    parameters = list(kernel.signature.parameters.values())
    for index, parameter in enumerate(parameters[: len(types)]):
        if has_annotation(parameter.annotation) and parameter.annotation not in (int, bool, None):
            wanted = annotated_type(parameter.annotation)
            if wanted is not None and (not is_float(wanted) or types[index] in ("i64", OBJECT)):
                types[index] = wanted
        elif parameter.annotation is int and types[index] == OBJECT:
            types[index] = "i64"
    return types, list(result_types(kernel.signature.return_annotation, types))


def _typed(word: str, name: str, value: Any) -> Attribute:
    """An attribute as the signature has it."""
    word = word.removesuffix("?")
    if word.startswith("array.") and isinstance(value, list | tuple):
        element = word.removeprefix("array.")
        return array_of([_typed(element, name, item) for item in value])
    if word in DTYPES and isinstance(value, int | float if is_float(word) else int):
        return number_attribute(value, word)
    return attribute(name, value)
