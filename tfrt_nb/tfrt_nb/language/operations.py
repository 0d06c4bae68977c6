"""The table of operations: native kernels, users' kernels, control flow, and MLIR dialects."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from xdsl.ir import Operation as IrOperation
from xdsl.irdl import IRDLOperation, OptionalDef, VariadicDef

from tfrt_nb.dialects import control_flow
from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS, host_operation, new_context
from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.dialects.tables.signatures import Signature, spelled
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.language.documentation import family_text
from tfrt_nb.language.examples import example, signature_of
from tfrt_runtime.kernels.registry import REQUIRED, Kernel, PythonKernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.annotations import has_annotation
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, UserKernel


@dataclass(frozen=True, slots=True)
class Entry:
    """The documentation of an operation.

    `signature` is a string such as `(i32, i32) -> i32`. `attributes` contains the attributes'
    types.
    """

    name: str
    signature: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    example: str = ""

    @property
    def line(self) -> str:
        """Return the name, the signature, and the attributes."""
        listed = ", ".join(f"{name}: {type_}" for name, type_ in self.attributes.items())
        return f"{self.name}  {self.signature}" + (f"  {{{listed}}}" if listed else "")

    @property
    def full(self) -> str:
        """Return the complete documentation."""
        shown = f"For example:\n\n{self.example}" if self.example else ""
        return "\n\n".join(part for part in (self.line, self.text, shown) if part)


def entry(name: str) -> Entry | None:
    """Return the entry of an operation, or None if no operation has that name."""
    user = USER_FUNCTIONS.get(name)
    return _user_entry(user) if user is not None else _known_entry(name)


def signature_text(name: str) -> str:
    """Return an operation's signature, or "" if it has none.

    Unlike `entry`, this function generates no examples, which would take seconds for all names.
    """
    if name not in USER_FUNCTIONS and (one := SIGNATURES.get(name)) is not None:
        return _spelled(one)
    found = entry(name)
    return "" if found is None else found.signature


@cache
def _known_entry(name: str) -> Entry | None:
    signature = signature_of(name)
    if signature is not None:
        return _signature_entry(signature)
    operation = host_operation(name)
    if operation is not None:
        return _class_entry(operation)
    dialect = name.partition(".")[0]
    if dialect in UPSTREAM_DIALECTS and dialect != name:
        operation = new_context().get_registered_op(name, [])
        return None if operation is None else _class_entry(operation)
    kernel = available_kernels().get(name)
    return None if kernel is None else _kernel_entry(kernel)


def names(prefix: str = "") -> list[str]:
    """Return the sorted names of the operations that start with `prefix`.

    Operations of an MLIR dialect are included only if the prefix contains the dialect's whole name.
    """
    found = [*SIGNATURES, *(op.name for op in control_flow.OPERATIONS), *USER_FUNCTIONS]
    dialect, dot, _ = prefix.partition(".")
    if dot and dialect in UPSTREAM_DIALECTS:
        found += _dialect_names(dialect)
    return sorted({name for name in found if name.startswith(prefix)})


def kernel_names() -> list[str]:
    """Return the names of all operations of host programs, including users' kernels."""
    return sorted(
        name
        for name in {*available_kernels(), *(op.name for op in control_flow.OPERATIONS)}
        if " " not in name  # internal kernels such as `native function native_add`
    )


@cache
def _dialect_names(dialect: str) -> tuple[str, ...]:
    context = new_context()
    context.get_registered_op(f"{dialect}.", [])
    loaded = [one for one in context.loaded_dialects if one.name == dialect]
    return tuple(op.name for one in loaded for op in one.operations)


def listed(types: list[str], *, results: bool = False) -> str:
    """Return a list of types in parentheses, which are omitted around a single result."""
    return types[0] if results and len(types) == 1 else f"({', '.join(types)})"


def _spelled(one: Signature) -> str:
    operands = [spelled(word) for word in one.operands]
    if one.rest is not None:
        operands.append(f"{spelled(one.rest)}...")
    return f"{listed(operands)} -> {listed([spelled(w) for w in one.results], results=True)}"


def _signature_entry(one: Signature) -> Entry:
    attributes = {
        name: spelled(word.removesuffix("?").removeprefix("array."))
        + ("[]" if word.startswith("array.") else "")
        for name, word in one.attributes.items()
    }
    kernel_text = family_text(one.name) or _docstring(one.name)
    return Entry(
        one.name,
        _spelled(one),
        attributes,
        kernel_text,
        example(one.name),
    )


def _docstring(name: str) -> str:
    kernel = available_kernels().get(name)
    return "" if not isinstance(kernel, PythonKernel) else inspect.getdoc(kernel.function) or ""


def _class_entry(operation: type[IrOperation]) -> Entry:
    """Return the entry of an operation that has its own class.

    The class's docstring says what the operation does, or just shows its syntax.
    """
    text, docstring = family_text(operation.name), inspect.cleandoc(operation.__doc__ or "")
    if not text:
        text = docstring
    elif docstring.startswith("`"):
        text = f"{text}  {docstring}"
    is_of_host = operation.name in {op.name for op in control_flow.OPERATIONS}
    if not issubclass(operation, IRDLOperation) or is_of_host:
        attributes = {control_flow.NONSTRICT: "unit"} if operation.name.startswith("tfrt.") else {}
        return Entry(operation.name, "", attributes, text, example(operation.name))
    definition = operation.get_irdl_definition()
    operands = [_part(name, part) for name, part in definition.operands]
    results = [_part(name, part) for name, part in definition.results]
    signature = f"{listed(operands)} -> {listed(results, results=True)}"
    properties = {
        name: "attribute" for name in definition.properties if name != "operandSegmentSizes"
    }
    return Entry(operation.name, signature, properties, text, example(operation.name))


def _part(name: str, definition: object) -> str:
    if isinstance(definition, OptionalDef):
        return f"{name}?"
    if isinstance(definition, VariadicDef):
        return f"{name}..."
    return name


def _kernel_entry(kernel: Kernel) -> Entry:
    """Return the entry of a kernel without a signature, from its registration."""
    text = family_text(kernel.name)
    attributes: Mapping[str, str] = {}
    signature = "(...) -> ..."
    if isinstance(kernel, PythonKernel):
        text = text or inspect.getdoc(kernel.function) or ""
        if kernel.takes is not None and kernel.results is not None:
            names = [*inspect.signature(kernel.function).parameters][kernel.frame :]
            operands = names[: kernel.takes] + ["!tfrt.chain"] * ("chain" in kernel.results)
            attributes = dict(zip(names[kernel.takes :], kernel.attributes, strict=False))
            results = [spelled(word) for word in kernel.results]
            signature = f"{listed(operands)} -> {listed(results, results=True)}"
    return Entry(kernel.name, signature, attributes, text, example(kernel.name))


NUMBERS = {
    "int": "i32",
    "float": "f64",
    "bool": "i1",
    "str": "!tfrt.string",
    "chain": "!tfrt.chain",
}
"""The types that the annotations of Python kernels denote in programs."""
_ATTRIBUTES = {"int": "1 : i64", "float": "2.5 : f64", "bool": "true", "str": '"text"'}


def _user_entry(user: UserKernel) -> Entry:
    """Return the entry of a user's kernel, with types from its annotations."""
    signature = user.signature
    operands: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            operands.append(f"{annotation(parameter.annotation)}...")
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            operands.append(annotation(parameter.annotation))
    results = _results(signature.return_annotation)
    attributes = {
        one.name: annotation(signature.parameters[one.name].annotation)
        + ("" if one.default is REQUIRED else f" = {one.default!r}")
        for one in user.attributes
    }
    shown = f"{listed(operands)} -> {listed(results, results=True)}"
    required = [one for one in user.attributes if one.default is REQUIRED]
    inside = ", ".join(
        f"{one.name} = {_ATTRIBUTES.get(attributes[one.name], '1 : i64')}" for one in required
    )
    types = [[NUMBERS.get(one, one) for one in part] for part in (operands, results)]
    values = ", ".join(f"%{'abcdefghijklmnopqrstuvwxyz'[i % 26]}" for i in range(len(operands)))
    given = f" {{{inside}}}" if inside else ""
    left = ", ".join(f"%{'xyzuvw'[i % 6]}" for i in range(len(results)))
    if has_annotation(signature.return_annotation):
        written = " ".join(filter(None, (left, "=", user.name, values))) + given
    else:
        said = f"{listed(types[0])} -> {listed(types[1], results=True)}"
        written = f'{left} = "{user.name}"({values}){given} : {said}'
    return Entry(
        user.name,
        shown,
        attributes,
        user.documentation,
        written if "any" not in str(types) and "..." not in str(types) else "",
    )


def _results(returned: object) -> list[str]:
    if returned in (None, "None"):
        return ["chain"]
    parts = getattr(returned, "__args__", None)
    if getattr(returned, "__origin__", None) is tuple and parts:
        return [annotation(part) for part in cast("tuple[object, ...]", parts)]
    return [annotation(returned)]


def annotation(value: object) -> str:
    """Return the shortest text for an annotation of a kernel."""
    if value is inspect.Parameter.empty:
        return "any"
    if isinstance(value, str):
        return value.removeprefix("tfrt.").removeprefix("tfrt_nb.")
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(getattr(value, "__name__", value))


def all_entries(pattern_names: list[str]) -> Iterator[Entry]:
    """Yield the entries of the names that exist."""
    return (found for name in pattern_names if (found := entry(name)) is not None)


@cache
def known_results(name: str) -> list[str] | None:
    """Return the result types of an operation if its signature has them."""
    words = SIGNATURES[name].results if name in SIGNATURES else ()
    return [spelled(word) for word in words] if words and WORDS.keys() >= {*words} else None
