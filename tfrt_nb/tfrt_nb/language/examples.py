"""An example of each kernel: a small program that runs and shows the kernel's results.

A native kernel may have an example in its table. Another kernel that has effects, attributes, or
functions has an example in `examples.mlir`, which has one example per family. For all other
kernels, this module generates an example from the signature. The generated example creates the
operands, runs the kernel, and prints each result that `return` does not show.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.dialects.tables.signatures import Form, Signature
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.language.documentation import family_of
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.native_table import ROWS

_TYPE = re.compile(r"(?<![a-z0-9])(?:u?i\d+|b?f\d+|complex\d+|bool)(?![a-z0-9])")
_PLACE = re.compile(r"(?<![\w.])-?\d+\^|NAME|TYPE|WORD|PART|VALUE|RANK|SHAPE|WIDE|DENSE|OTHER")
_OPERANDS = {"abs": ("-13",), "shiftleft": ("13", "2"), "shiftright": ("13", "2")}
"""Operands for operations with which the usual operands, 13 and 6, would show no effect."""
_MADE = {
    "chain": "tfrt.new.chain",
    "string": 'tfrt_test.get_string {value = "pear"}',
    "shape": "ts.build_shape [2 : i64, 3 : i64]",
    "partial_shape": "ts.build_partial_shape [2 : i64, 3 : i64]",
    "atomic.i32": '"tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32',
    "vt": '"vt.constant"() {value = 13 : i32} : () -> !vt.value',
    "tensor": '"tfrt_test.const_dense_attr"() {value = DENSE} : () -> !t.tensor',
}
"""The operation that creates an operand, by type word."""
_SHOWN = {
    "string": '"tfrt_test.print_string"({}, {}) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain',
    "shape": "ts.print_shape {}, {}",
    "partial_shape": "ts.print_partial_shape {}, {}",
    "vt": '"vt.print"({}, {}) : (!vt.value, !tfrt.chain) -> !tfrt.chain',
    "tensor": "tfrt_dht.print_tensor {}, {}",
}
"""The operation that prints a result, by type word."""


@cache
def example(name: str) -> str:
    """Return a program that shows an operation, or "" if none is known."""
    found = _by_hand().get(name) or _by_hand().get(family_of(name))
    if found is None:
        signature = signature_of(name)
        found = _written(signature) if signature is not None and _is_simple(signature) else ""
    return _PLACE.sub(lambda place: _filled(place[0], name), found)


@cache
def signature_of(name: str) -> Signature | None:
    """Return the signature of a kernel, or None.

    If the tables do not have the kernel, the signature comes from its family, with the types in the
    kernel's name.
    """
    if name in SIGNATURES:
        return SIGNATURES[name]
    words = _words(name)
    for known in _families().get(family_of(name), ()):
        if words and len(_words(known.name)) == len(words):
            types = dict(zip(_words(known.name), words, strict=True))
            return Signature(
                name,
                known.operands,
                known.results,
                {key: _with_types(word, types) for key, word in known.attributes.items()},
                None if known.rest is None else _with_types(known.rest, types),
            )
    return None


def _with_types(word: str, types: Mapping[str, str]) -> str:
    """Replace the types in a type word.

    `types` maps the types of one kernel of a family to another kernel's types.
    """
    found = _TYPE.sub(lambda one: types.get(one[0], one[0]), word)
    return re.sub(r"\bbool\b", "i1", found)


@cache
def _families() -> dict[str, list[Signature]]:
    found = defaultdict(list)
    for one in SIGNATURES.values():
        found[family_of(one.name)].append(one)
    return found


def _words(name: str) -> list[str]:
    """Return the types in the name of a kernel."""
    return _TYPE.findall(name)


@cache
def _by_hand() -> dict[str, str]:
    text = files("tfrt_nb.language").joinpath("examples.mlir").read_text("utf-8")
    _, *parts = re.split(r"^//// (.+)$", text, flags=re.MULTILINE)
    native = {family_of(row.name): row.example.strip() for row in ROWS if row.example}
    return native | {
        name: program.strip()
        for names, program in zip(parts[::2], parts[1::2], strict=True)
        for name in names.split()
    }


def _filled(place: str, name: str) -> str:
    """Return the text that replaces the placeholder `place` in an example of the kernel `name`."""
    word = (_words(name) or ["f32"])[0]
    last = name.rpartition(".")[2]
    sizes = (2, 1, 1, 1, 1)[: int(last) if last.isdigit() else 1]
    match place:
        case "NAME":
            return name
        case "TYPE":
            return _spelled(word)
        case "WORD":
            return word
        case "PART":
            return "f32" if word == "complex64" else "f64"
        case "RANK":
            return last
        case "SHAPE":
            return _array("i64", sizes)
        case "WIDE":
            return _array("i64", (*sizes[:-1], 3))
        case "VALUE":
            return _typed(word, "7")
        case "DENSE" | "OTHER":
            return _dense(word, sizes, (0, 5) if place == "DENSE" else (3, 5))
        case _:  # 7^
            return place.replace("^", ".0" if "f" in word else "")


def _array(word: str, numbers: Iterable[object]) -> str:
    return f"[{', '.join(f'{one} : {word}' for one in numbers)}]"


def _dense(word: str, sizes: tuple[int, ...], numbers: tuple[int, int]) -> str:
    """Return a tensor as a dense attribute."""
    values = [_constant(word, str(one)) for one in numbers]
    if word.startswith("complex"):
        values = [f"({one})" for one in values]
    brackets = len(sizes) - 1
    listed = ", ".join("[" * brackets + one + "]" * brackets for one in values)
    shape = "".join(f"{size}x" for size in sizes)
    return f"dense<{f'[{listed}]' if sizes else values[1]}> : tensor<{shape}{_spelled(word)}>"


def _spelled(word: str) -> str:
    return "i1" if word == "bool" else str(WORDS.get(word, word))


def _constant(word: str, number: str) -> str:
    """Return a number as a constant of the type that the word denotes."""
    if word in ("i1", "bool"):
        return "false" if number in ("0", "6") else "true"
    if word.startswith("complex"):
        return f"{number}.5, -1.0"
    return number if "i" in word else f"{number}.5"


def _is_number(word: str) -> bool:
    return _TYPE.fullmatch(word) is not None


def _is_simple(one: Signature) -> bool:
    """Return whether an example can be generated.

    That requires an operation to create each operand, and one to print each result.
    """
    operands = (*one.operands, one.rest or "chain")
    return all(word in _MADE or _is_number(word) for word in operands) and all(
        word in (*_SHOWN, "chain") or _is_number(word) for word in one.results
    )


def _written(one: Signature) -> str:
    """Return a program that runs one kernel."""
    is_sync = bool(getattr(available_kernels().get(one.name), "sync", False))
    numbers = _OPERANDS.get(one.name.split(".")[1].removesuffix("_s"), ("13", "6"))
    words = [*one.operands, *([one.rest] * 2 if one.rest is not None else [])]
    names = ["%ch" if word == "chain" else f"%{'abcdef'[at]}" for at, word in enumerate(words)]
    lines = []
    for at, (name, word) in enumerate(zip(names, words, strict=True)):
        made = _MADE.get(word) or (
            f"tfrt.constant{'_s' * is_sync}.{word} {_constant(word, numbers[at % len(numbers)])}"
        )
        if at % 2:
            made = made.replace("DENSE", "OTHER").replace("pear", "tree")
        if is_sync and word == "tensor":
            made = made.replace("tfrt_test.const", "tfrt_test.sync.const")
        lines.append(f"{name} = {made}")
    results = [
        "%done" if word == "chain" else f"%{'xyzuvw'[at]}" for at, word in enumerate(one.results)
    ]
    lines.append(f"{', '.join(results)}{' = ' * bool(results)}{_operation(one, names, words)}")
    shown = list(zip(results, one.results, strict=True))
    written = [one for one in zip(names, words, strict=True) if one[1] == "tensor"]
    if {*one.results} <= {"chain"} and "print" not in one.name:
        shown += written[-1:]
    returned = [(name, word) for name, word in shown if _is_number(word)]
    chain = next((name for name in ("%done", "%ch") if name in (*results, *names)), "")
    for at, (name, word) in enumerate(shown):
        if word in _SHOWN and is_sync:
            lines.append(f"tfrt_dht_sync.print_tensor {name}")
        elif word in _SHOWN:
            if not chain:
                chain = "%ch"
                lines.append(f"{chain} = tfrt.new.chain")
            lines.append(f"%p{at} = {_SHOWN[word].format(name, chain)}")
            chain = f"%p{at}"
    if chain:
        returned.append((chain, "chain"))
    types = ", ".join(_spelled(word) for _, word in returned)
    arrow = f" -> ({types})" if len(returned) > 1 else f" -> {types}" if returned else ""
    given = f" {', '.join(name for name, _ in returned)} : {types}" if returned else ""
    body = "\n".join(f"  {line}" for line in [*lines, f"tfrt.return{given}"])
    return f"func.func @main(){arrow}{' attributes {tfrt.sync}' * is_sync} {{\n{body}\n}}"


def _operation(one: Signature, names: list[str], words: list[str]) -> str:
    """Return the kernel's operation in the syntax of its form."""
    operands = ", ".join(names)
    values = {
        key: _attribute(key, word) for key, word in one.attributes.items() if not word.endswith("?")
    }
    first = next(iter(values.values()), "")
    inside = ", ".join(f"{key} = {value}" for key, value in values.items())
    attributes = f" {{{inside}}}" if values else ""
    match one.form:
        case Form.GENERIC:
            types = ", ".join(map(_spelled, words))
            given = [_spelled(word) for word in one.results]
            gives = given[0] if len(given) == 1 else f"({', '.join(given)})"
            return f'"{one.name}"({operands}){attributes} : ({types}) -> {gives}'
        case Form.CONSTANT:
            return f"{one.name} {first.partition(' : ')[0]}"
        case Form.FILL | Form.ARRAY:
            return " ".join(filter(None, (one.name, operands, first)))
        case _:
            return f"{one.name} {operands}{attributes}".rstrip()


def _attribute(name: str, word: str) -> str:
    """Return a value for an attribute with that name and type."""
    if name == "seconds":  # keep the wait short, because the reader waits for the example to run
        return "0.25 : f64"
    of = word.removeprefix("array.")
    if of != word:
        return f"[{', '.join(_typed(of, number) for number in ('3', '5'))}]"
    return '"pear"' if word == "string" else _typed(word, "7")


def _typed(word: str, number: str) -> str:
    text = _constant(word, number)
    return text if word in ("i1", "bool") else f"{text} : {_spelled(word)}"
