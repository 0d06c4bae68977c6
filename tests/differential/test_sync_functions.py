"""The same random function for the interpreter of sync functions and for the asynchronous executor."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext

PROGRAMS_PER_TEST = 12
SLOW = 60
MAX_DEPTH = 2
Body = tuple[list[str], dict[str, list[str]]]


class Writer:
    """Writes one module of functions over i32, i64 and f64.

    Its kernels have names with {s}, which is "_s" in the sync variant and nothing in the other;
    functions have {sync} behind their types.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0
        self._functions: list[str] = []
        self._callable: list[str] = []

    def module(self) -> str:
        """@main takes an i32 and an i64, and returns three numbers."""
        for _ in range(self._random.randrange(3)):
            self._function()
        self._function("@main")
        return "\n".join(self._functions)

    def _name(self, prefix: str = "%v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _pick(self, values: list[str]) -> str:
        return self._random.choice(values)

    def _function(self, name: str = "") -> None:
        name = name or self._name("@f")
        lines, values = self._body({"i32": ["%a"], "i64": ["%b"]}, self._random.randrange(3, 20), 0)
        results = [self._fresh(lines, values, word) for word in ("i32", "i64", "f64")]
        self._functions.append(
            f"func {name}(%a: i32, %b: i64) -> (i32, i64, f64){{sync}} {{{{\n"
            + "\n".join(lines)
            + f"\n  tfrt.return {', '.join(results)} : i32, i64, f64\n}}}}\n"
        )
        self._callable.append(name)

    def _fresh(self, lines: list[str], values: dict[str, list[str]], word: str) -> str:
        """A value that no argument is: a sync function may return it, once."""
        name, (left, right) = self._name(), self._random.choices(values[word], k=2)
        lines.append(
            f'{name} = "tfrt.add{{s}}.{word}"({left}, {right}) : ({word}, {word}) -> {word}'
        )
        return name

    def _body(self, given: dict[str, list[str]], size: int, depth: int) -> Body:
        values = {"i32": [], "i64": [], "f64": [], "i1": []} | {
            word: list(names) for word, names in given.items()
        }
        lines: list[str] = []
        for word in values:
            self._constant(lines, values, word)
        makers: list[Callable[[list[str], dict[str, list[str]], int], None]] = [
            self._arithmetic,
            self._arithmetic,
            self._arithmetic,
            self._chain,
            self._comparison,
            self._division,
            self._cast,
        ]
        if depth < MAX_DEPTH:
            makers += [self._branch, self._repeat]
        if self._callable:
            makers += [self._call]
        for _ in range(size):
            self._random.choice(makers)(lines, values, depth)
        return lines, values

    def _constant(self, lines: list[str], values: dict[str, list[str]], word: str) -> None:
        name, number = self._name(), self._random.randrange(-3, 9)
        text = {"i1": f"{number & 1} : i1", "f64": f"{number}.5 : f64"}.get(
            word, f"{number} : {word}"
        )
        lines.append(
            f'{name} = "tfrt.constant{{s}}.{word}"() {{{{value = {text}}}}} : () -> {word}'
        )
        values[word].append(name)

    def _arithmetic(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        word = self._random.choice(["i32", "i64", "f64"])
        kernels = ["add", "multiply", "minimum"] if word == "f64" else ["add", "minus", "mul"]
        name, (left, right) = self._name(), self._random.choices(values[word], k=2)
        kernel = self._random.choice(kernels)
        lines.append(
            f'{name} = "tfrt.{kernel}{{s}}.{word}"({left}, {right}) : ({word}, {word}) -> {word}'
        )
        values[word].append(name)

    def _chain(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        """Kernels that feed each other, as those do that are fused."""
        word = self._random.choice(["i32", "i64"])
        last = self._pick(values[word])
        others = list(values[word])
        for _ in range(self._random.randrange(1, 12)):
            name, kernel = self._name(), self._random.choice(["add", "add", "mul", "minus"])
            operands = [last, self._pick(others)]
            self._random.shuffle(operands)
            lines.append(
                f'{name} = "tfrt.{kernel}{{s}}.{word}"({", ".join(operands)})'
                f" : ({word}, {word}) -> {word}"
            )
            last = name
        values[word].append(last)

    def _comparison(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        word, kernel = (
            self._random.choice(["i32", "i64"]),
            self._random.choice(["equal", "lessequal"]),
        )
        name, (left, right) = self._name(), self._random.choices(values[word], k=2)
        lines.append(
            f'{name} = "tfrt.{kernel}{{s}}.{word}"({left}, {right}) : ({word}, {word}) -> i1'
        )
        values["i1"].append(name)

    def _division(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        """By a number that is not 0: the first error ends a sync function, but not another one."""
        word = self._random.choice(["i32", "i64"])
        divisor, quotient, rest = self._name(), self._name(), self._name()
        number = self._random.choice([-7, -1, 1, 2, 10])
        lines += [
            f'{divisor} = "tfrt.constant{{s}}.{word}"() {{{{value = {number} : {word}}}}} : () -> {word}',
            (
                f'{quotient}, {rest} = "tfrt.div{{s}}.{word}"({self._pick(values[word])}, {divisor})'
                f" : ({word}, {word}) -> ({word}, {word})"
            ),
        ]
        values[word] += [quotient, rest]

    def _cast(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        source, target = self._random.choice([("i64", "f64"), ("f64", "i64")])
        name = self._name()
        lines.append(
            f'{name} = "tfrt.cast{{s}}.{source}_to_{target}"({self._pick(values[source])})'
            f" : ({source}) -> {target}"
        )
        values[target].append(name)

    def _call(self, lines: list[str], values: dict[str, list[str]], _: int) -> None:
        names = [self._name() for _ in range(3)]
        lines.append(
            f"{', '.join(names)} = tfrt.call {self._pick(self._callable)}"
            f"({self._pick(values['i32'])}, {self._pick(values['i64'])})"
            " : (i32, i64) -> (i32, i64, f64)"
        )
        for word, name in zip(("i32", "i64", "f64"), names, strict=True):
            values[word].append(name)

    def _region(self, given: dict[str, list[str]], depth: int) -> list[str]:
        """Kernels over the values given; returns some i32, i64 and i32."""
        lines, values = self._body(given, self._random.randrange(1, 6), depth + 1)
        results = ", ".join(self._pick(values[word]) for word in ("i32", "i64", "i32"))
        return [*lines, f"tfrt.return {results} : i32, i64, i32"]

    def _passed(self, values: dict[str, list[str]], lines: list[str]) -> list[str]:
        first, second, third = (self._pick(values[word]) for word in ("i32", "i64", "i32"))
        if third == first:  # a region names its arguments after these
            self._constant(lines, values, "i32")
            third = values["i32"][-1]
        return [first, second, third]

    def _branch(self, lines: list[str], values: dict[str, list[str]], depth: int) -> None:
        names, passed = [self._name() for _ in range(3)], self._passed(values, lines)
        given = {"i32": [passed[0], passed[2]], "i64": [passed[1]]}
        lines.append(
            f"{', '.join(names)} = tfrt.if {self._pick(values['i1'])}, {', '.join(passed)}"
            " : (i32, i64, i32) -> (i32, i64, i32) {{"
        )
        lines += [*self._region(given, depth), "}} else {{", *self._region(given, depth), "}}"]
        self._add(names, values)

    def _repeat(self, lines: list[str], values: dict[str, list[str]], depth: int) -> None:
        name, count = self._name(), self._name()
        passed = self._passed(values, lines)
        given = {"i32": [passed[0], passed[2]], "i64": [passed[1]]}
        rounds = self._random.randrange(0, 5)
        lines.append(
            f'{count} = "tfrt.constant{{s}}.i32"() {{{{value = {rounds} : i32}}}} : () -> i32'
        )
        lines.append(
            f"{name}:3 = tfrt.repeat.i32 {count}, {', '.join(passed)} : i32, i64, i32 {{{{"
        )
        lines += [*self._region(given, depth), "}}"]
        self._add([f"{name}#{i}" for i in range(3)], values)

    def _add(self, names: list[str], values: dict[str, list[str]]) -> None:
        for word, name in zip(("i32", "i64", "i32"), names, strict=True):
            values[word].append(name)


@pytest.fixture(scope="module")
def hosts() -> Iterator[dict[str, HostContext]]:
    hosts = {queue: HostContext(queue, output=lambda _: None) for queue in ("s", "mstd:2")}
    yield hosts
    for host in hosts.values():
        host.close()


def results_of(program: Program, host: HostContext, *, watch: bool = False) -> list[str]:
    """What @main returns, as text: a NaN is like another."""
    run = program.run(host, arguments=[7, -3], watch=watch)
    assert run.wait(SLOW), "the program does not end"
    return [repr(value.result(0)) for value in run.results]


@pytest.mark.parametrize("block", range(4))
def test_a_sync_function_computes_what_an_asynchronous_one_does(
    block: int, hosts: dict[str, HostContext]
) -> None:
    for seed in range(block * PROGRAMS_PER_TEST, (block + 1) * PROGRAMS_PER_TEST):
        text = Writer(seed).module()
        plain = Program.from_source(text.format(s="", sync=""), f"random {seed}")
        sync = Program.from_source(
            text.format(s="_s", sync=" attributes {tfrt.sync}"), f"random {seed}"
        )
        expected = results_of(plain, hosts["s"])
        found = [results_of(sync, host) for host in hosts.values()]
        found.append(results_of(sync, hosts["s"], watch=True))
        alive = [host.live_values() for host in hosts.values()]

        assert found == [expected] * 3, f"seed {seed}"
        assert alive == [0, 0], f"seed {seed}"
