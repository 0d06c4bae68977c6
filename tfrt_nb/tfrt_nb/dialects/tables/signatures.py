"""Signatures of kernels: their operands, attributes, and results.

A `Signature` lists the operands, attributes, and results of one kernel as type words (see
`types.WORDS`), and names the short form of the kernel's operation. Each dialect's module has a
table of signatures (`tfrt`, `tfrt_test`, `tensor`). `tables` contains all signatures by name.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from tfrt_runtime.native_table import ROWS

HOST_TYPES = {
    "chain": "tfrt.chain",
    "string": "tfrt.string",
    "device": "tfrt.device",
    "tensor": "t.tensor",
    "shape": "ts.shape",
    "partial_shape": "ts.partial_shape",
    "buffer": "ht.host_buffer",
    "atomic.i32": "test.atomic.i32",
    "resource": "tfrt.test.resource",
    "vt": "vt.value",
    "coordinate": "my.coordinate",
    **{f"fixed_rank_shape.{rank}": f"ts.fixed_rank_shape.{rank}" for rank in range(6)},
}
"""The type word of each host type, mapped to the text after the exclamation mark in a program."""
_COMPLEX = {"complex64": "complex<f32>", "complex128": "complex<f64>"}


def spelled(word: str) -> str:
    """Return the type that a word denotes, in the syntax of programs."""
    return f"!{HOST_TYPES[word]}" if word in HOST_TYPES else _COMPLEX.get(word, word)


class Form(Enum):
    """The syntax of a kernel's operation."""

    GENERIC = auto()
    """`"tfrt.minus.i32"(%a, %b) : (i32, i32) -> i32`.

    Types are accepted as written, not checked.
    """

    OPERANDS = auto()
    """`tfrt.add.i32 %a, %b`: operands, then attributes in braces, if there are any."""

    CONSTANT = auto()
    """`tfrt.constant.i32 7`."""

    COMPLEX = auto()
    """`tfrt.constant.complex64 1.0, -4.0`."""

    FILL = auto()
    """`tfrt_dht.fill_tensor_with_constant.i32 %t, %c 0 : i32`: an attribute after the operands."""

    ARRAY = auto()
    """`ts.build_shape [2, 3]`: an array after the operands, if there are any."""

    TYPED = auto()
    """`tfrt.merge.chains %a, %b : i32, !tfrt.chain`: operands, attributes in braces, and types."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of one kernel.

    - `operands` and `results` have type words. `rest` is the word for any number of additional
      operands, or None.
    - `attributes` maps names to type words: `array.W` is an array of W, `typed` is an attribute of
      any type, and `W?` is optional. The short form writes the first attribute without its name.
    - `other_results` are the results if the short form is written without types. It is empty if
      these are the same as `results`.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    rest: str | None = None
    form: Form = Form.GENERIC
    other_results: tuple[str, ...] = ()

    @property
    def is_registered(self) -> bool:
        """Return whether the operation's types are checked and its short form is printed."""
        return self.form is not Form.GENERIC


def kernel(
    name: str, types: str, form: Form = Form.GENERIC, /, **attributes: str
) -> Iterator[Signature]:
    """Yield a kernel's signature from a string such as `"i32 chain -> chain"`.

    `i32*` means any number of operands. In `"any* -> i32 / chain"`, the chain is the result if the
    short form is written without types.
    """
    operands, _, results = types.partition("->")
    results, _, others = results.partition("/")
    fixed, rest = tuple(operands.split()), None
    if fixed and fixed[-1].endswith("*"):
        fixed, rest = fixed[:-1], fixed[-1][:-1]
    yield Signature(
        name, fixed, tuple(results.split()), attributes, rest, form, tuple(others.split())
    )


def family(
    variants: str | Iterable[tuple[str, ...]],
    name: str,
    types: str,
    form: Form = Form.GENERIC,
    /,
    **attributes: str,
) -> Iterator[Signature]:
    """Yield one kernel per variant; the variant replaces `{}` in the name, types, and attributes.

    A variant is a word, or a tuple of words for the placeholders `{0}`, `{1}`.
    """
    for variant in variants.split() if isinstance(variants, str) else variants:
        words = (variant,) if isinstance(variant, str) else variant
        filled = {key: word.format(*words) for key, word in attributes.items()}
        yield from kernel(name.format(*words), types.format(*words), form, **filled)


def native(dialect: str) -> Iterator[Signature]:
    """Yield the native kernels of a dialect, from the table of native kernels."""
    for row in ROWS:
        if row.name.startswith(f"{dialect}."):
            named = {name: word for name, word in row.attributes.items() if name}
            yield from kernel(row.name, row.types, Form[row.form], **named)


def table(*rows: Iterable[Signature]) -> dict[str, Signature]:
    """Return the signatures of `rows` by name."""
    return {signature.name: signature for signature in itertools.chain.from_iterable(rows)}
