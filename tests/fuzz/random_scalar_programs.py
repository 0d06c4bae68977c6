"""Write random host and sync functions of scalars.

They use all operations of the table, calls, branches, loops, and recursion.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tfrt_runtime import scalars

WORDS = ("i32", "i64", "i8", "f32", "f64", "i1")
NUMBERS = {
    "i1": ("0", "1"),
    "i8": ("0", "1", "-1", "7", "127", "-128"),
    "f32": ("0.0", "1.5", "-2.25", "1.0e+30"),
    "f64": ("0.0", "0.5", "-3.75", "1.0e+300"),
}
INTEGERS = ("0", "1", "2", "-1", "5", "31", "2147483647", "-2147483648")
SHAPES = (("i32",), ("i32", "i64"), ("i32", "f64"), ("i32", "f32", "i8"), ("i32", "i1"))
"""The types of functions' arguments and results; the first argument limits the recursion depth."""


class _Body:
    """The kernels of a function or region."""

    def __init__(self, chance: random.Random, sync: bool, next_name: Callable[[], str]) -> None:
        self._chance, self._sync, self._name = chance, sync, next_name
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {word: [] for word in WORDS}

    def add(
        self,
        kernel: str,
        operands: list[str],
        types: tuple[str, ...],
        results: tuple[str, ...],
        attribute: str = "",
    ) -> list[str]:
        """Add a kernel in its generic form."""
        names = [self._name() for _ in results]
        given, gives = ", ".join(types), ", ".join(results)
        family, _, suffix = kernel.rpartition(".")
        kernel = f"{family}_s.{suffix}" if self._sync else kernel
        self.lines.append(
            f'{", ".join(names)} = "{kernel}"({", ".join(operands)}) {attribute}: ({given}) -> '
            f"({gives})"
        )
        for name, word in zip(names, results, strict=True):
            self.values[word].append(name)
        return names

    def value(self, word: str) -> str:
        """Return a value of a type, perhaps a new constant."""
        known = self.values[word]
        if known and self._chance.random() < 0.85:
            return self._chance.choice(known)
        number = self._chance.choice(NUMBERS.get(word, INTEGERS))
        return self.add(
            f"tfrt.constant.{word}", [], (), (word,), f"{{value = {number} : {word}}} "
        )[0]

    def operations(self, count: int) -> None:
        """Add some operations of the table."""
        for _ in range(count):
            one = self._chance.choice(_OPERATIONS)
            operands = [self.value(word) for word in one.operands]
            if one.failure is not None and self._chance.random() < 0.8:
                # A divisor or shift of 1 lets it usually succeed.
                word = one.operands[-1]
                number = "1.0" if word[0] == "f" else "1"
                constant = f"{{value = {number} : {word}}} "
                operands[-1] = self.add(f"tfrt.constant.{word}", [], (), (word,), constant)[0]
            self.add(one.name, operands, one.operands, one.results)

    def control(self, head: str, types: tuple[str, ...]) -> list[str]:
        """Add a control kernel with results of these types; `head` is the text after `=`."""
        names = [self._name() for _ in types]
        self.lines.append(f"{', '.join(names)} = {head}")
        for name, word in zip(names, types, strict=True):
            self.values[word].append(name)
        return names


_OPERATIONS = [
    one for one in scalars.OPERATIONS.values() if {*one.operands, *one.results} <= set(WORDS)
]


def random_scalar_program(seed: int, *, is_sync: bool | None = None) -> str:
    """Return a program whose @main takes a number and returns some values.

    It calls sync functions or host functions: at random, or as `is_sync` says.
    """
    chance = random.Random(seed)
    numbers = iter(range(1_000_000))
    kinds = [(f"f{i}", chance.choice(SHAPES)) for i in range(chance.randint(1, 4))]
    texts = []
    by_chance = chance.random() < 0.5
    sync = by_chance if is_sync is None else is_sync
    for index, (name, shape) in enumerate(kinds):
        texts.append(
            _function(chance, name, shape, kinds[index + 1 :], sync, lambda: f"%v{next(numbers)}")
        )
    name, shape = kinds[0]
    main = _Body(chance, False, lambda: f"%v{next(numbers)}")
    given = ["%n"] + [main.value(word) for word in shape[1:]]
    types = ", ".join(shape)
    results = main.control(f"tfrt.call @{name}({', '.join(given)}) : ({types}) -> ({types})", shape)
    body = "\n  ".join(main.lines)
    texts.append(
        f"func.func @main(%n: i32) -> ({types}) "
        f"{{\n  {body}\n  tfrt.return {', '.join(results)} : {types}\n}}"
    )
    return "\n".join(texts)


def _function(
    chance: random.Random,
    name: str,
    shape: tuple[str, ...],
    others: list[tuple[str, tuple[str, ...]]],
    is_sync: bool,
    next_name: Callable[[], str],
) -> str:
    types = ", ".join(shape)
    arguments = [next_name() for _ in shape]
    body = _Body(chance, is_sync, next_name)
    for argument, word in zip(arguments, shape, strict=True):
        body.values[word].append(argument)
    body.operations(chance.randint(1, 8))
    for _ in range(chance.randint(0, 3)):
        _add_control(chance, body, name, arguments, shape, others)
        body.operations(chance.randint(0, 3))
    for argument, word in zip(arguments, shape, strict=True):
        body.values[word].remove(argument)  # a sync function must not return its arguments
    returned = ", ".join(body.value(word) for word in shape)
    attribute = " attributes {tfrt.sync}" if is_sync else ""
    given = ", ".join(f"{one}: {word}" for one, word in zip(arguments, shape, strict=True))
    lines = "\n  ".join(body.lines)
    return (
        f"func.func @{name}({given}) -> ({types}){attribute} "
        f"{{\n  {lines}\n  tfrt.return {returned} : {types}\n}}"
    )


def _add_control(
    chance: random.Random,
    body: _Body,
    name: str,
    arguments: list[str],
    shape: tuple[str, ...],
    others: list[tuple[str, tuple[str, ...]]],
) -> None:
    """Add a call, a branch, a loop, or a recursion that ends."""
    kind = chance.choice(("call", "cond", "case", "repeat", "recursion"))
    if kind == "recursion":
        [zero] = body.add("tfrt.constant.i32", [], (), ("i32",), "{value = 0 : i32} ")
        [one] = body.add("tfrt.constant.i32", [], (), ("i32",), "{value = 1 : i32} ")
        [ends] = body.add("tfrt.lessequal.i32", [arguments[0], zero], ("i32", "i32"), ("i1",))
        [fewer] = body.add("tfrt.minus.i32", [arguments[0], one], ("i32", "i32"), ("i32",))
        captured = [fewer, *(body.value(word) for word in shape[1:])]
        listed, types = ", ".join(captured), ", ".join(shape)
        results = ", ".join(body._name() for _ in shape)
        again = f"{results} = tfrt.call @{name}({listed}) : ({types}) -> ({types})"
        body.control(
            f"tfrt.if {ends}, {listed} : ({types}) -> ({types}) "
            f"{{\n    tfrt.return {listed} : {types}\n  }}"
            f" else {{\n    {again}\n    tfrt.return {results} : {types}\n  }}",
            shape,
        )
        return
    alike: dict[tuple[str, ...], list[str]] = {}
    for other, types_of in others:
        alike.setdefault(types_of, []).append(other)
    if not alike:
        return
    wanted, names = chance.choice(list(alike.items()))
    values, types = [body.value(word) for word in wanted], ", ".join(wanted)
    # The recursion depth of the callee; a random number would take forever.
    times = f"{{value = {chance.randint(0, 2)} : i32}} "
    [values[0]] = body.add("tfrt.constant.i32", [], (), ("i32",), times)
    callee, listed = chance.choice(names), ", ".join(values)
    signature = f"({types}) -> ({types})"
    if kind == "call":
        body.control(f"tfrt.call @{callee}({listed}) : {signature}", wanted)
    elif kind == "cond":
        condition, other = body.value("i1"), chance.choice(names)
        body.control(f"tfrt.cond {condition} @{callee} @{other} ({listed}) : {signature}", wanted)
    elif kind == "case":
        index = body.value("i32")
        body.control(
            f"tfrt.case {index} [{', '.join(f'@{one}' for one in names)}]({listed}) : {signature}",
            wanted,
        )
    else:
        count = body.add(
            "tfrt.constant.i32",
            [],
            (),
            ("i32",),
            f"{{value = {chance.randint(-1, 3) or 1} : i32}} ",
        )[0]
        inner = _Body(chance, body._sync, body._name)
        for value, word in zip(values, wanted, strict=True):
            inner.values[word].append(value)
        inner.operations(chance.randint(1, 3))
        returned = ", ".join(inner.value(word) for word in wanted)
        lines = "\n    ".join(inner.lines)
        body.control(
            f"tfrt.repeat.i32 {count}, {listed} : {types} "
            f"{{\n    {lines}\n    tfrt.return {returned} : {types}\n  }}",
            wanted,
        )
