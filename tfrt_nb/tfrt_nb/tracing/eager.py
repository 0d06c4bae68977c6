"""One kernel at a time: `tfrt.call`."""

from __future__ import annotations

import threading
from typing import Any

from tfrt_nb.dialects.catalog import SIGNATURES
from tfrt_nb.dialects.signatures import Signature
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.programs import Program
from tfrt_nb.tracing.calls import attribute
from tfrt_nb.tracing.trace import listed_types, number_text, quoted, refuse
from tfrt_nb.tracing.types import type_of_value
from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.chain import CHAIN as A_CHAIN
from tfrt_runtime.kernels.annotations import (
    CHAIN,
    OBJECT,
    annotated_type,
    has_annotation,
    is_float,
    result_types,
    signature_of,
)
from tfrt_runtime.kernels.user import USER_FUNCTIONS, USER_KERNELS

_CACHE_SIZE = 4096
_programs: dict[object, tuple[Program, bool]] = {}
_lock = threading.Lock()


def call(name: str, /, *values: object, **attributes: Any) -> AsyncValue | tuple[AsyncValue, ...]:
    """Run one kernel on the default host; its result, or a tuple if it has none or several.

    Types are those of the kernel's signature, for user kernels those of the values.  A chain that the
    kernel takes last may be left out.  Programs are kept by name, types and attributes.

    Raises:
        TfrtError: if there is no such kernel, or it takes other arguments or attributes.
    """
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
        found = _made(name, values, attributes)
        with _lock:
            if len(_programs) >= _CACHE_SIZE:
                _programs.clear()
            _programs[key] = found
    program, needs_chain = found
    results = program.run(*values, *([A_CHAIN] if needs_chain else ()), function="main").results
    return results[0] if len(results) == 1 else tuple(results)


def _type_key(value: object) -> object:
    return value.type if isinstance(value, AsyncValue) else type(value)


def _made(
    name: str, values: tuple[object, ...], attributes: dict[str, Any]
) -> tuple[Program, bool]:
    """The program that calls a kernel, and whether it takes a chain more than was given."""
    signature = SIGNATURES.get(name)
    if signature is not None:
        types, results, needs_chain = _of_signature(signature, values)
        words = signature.attributes
        texts = [f"{key} = {_literal(words.get(key, ''), key, v)}" for key, v in attributes.items()]
    else:
        types, results = _of_values(name, values)
        needs_chain = False
        texts = [f"{key} = {attribute(key, v)}" for key, v in attributes.items()]
    parameters = ", ".join(f"%a{number}: {type_text}" for number, type_text in enumerate(types))
    names = ", ".join(f"%a{number}" for number in range(len(types)))
    made = ", ".join(f"%r{number}" for number in range(len(results)))
    listed = f" {{{', '.join(texts)}}}" if texts else ""
    operation = f'"{name}"({names}){listed} : ({", ".join(types)}) -> {listed_types(results)}'
    left = f"{made} = " if results else ""
    returned = f" {made} : {', '.join(results)}" if results else ""
    arrow = f" -> {listed_types(results)}" if results else ""
    text = f"func.func @main({parameters}){arrow} {{\n  {left}{operation}\n  tfrt.return{returned}\n}}\n"
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
    signature = signature_of(kernel.function)
    parameters = list(signature.parameters.values())[kernel.has_frame :]
    for index, parameter in enumerate(parameters[: len(types)]):
        if has_annotation(parameter.annotation) and parameter.annotation not in (int, bool, None):
            wanted = annotated_type(parameter.annotation)
            if wanted is not None and (not is_float(wanted) or types[index] in ("i64", OBJECT)):
                types[index] = wanted
        elif parameter.annotation is int and types[index] == OBJECT:
            types[index] = "i64"
    return types, list(result_types(signature.return_annotation, types))


def _literal(word: str, name: str, value: Any) -> str:
    """An attribute as the signature has it."""
    word = word.removesuffix("?")
    if word.startswith("array."):
        element = word.removeprefix("array.")
        return f"[{', '.join(_literal(element, name, item) for item in value)}]"
    if word == "string" and isinstance(value, str):
        return quoted(value).replace("{{", "{")
    if word == "i1":
        return "true" if value else "false"
    if word in WORDS and isinstance(value, int | float):
        if is_float(word):
            return f"{number_text(value, word)} : {word}"
        if isinstance(value, int):
            return f"{value} : {word}"
    return attribute(name, value)
