"""Write random host programs with all kinds of operations.

There are scalars, errors, calls, branches, loops, tasks, blocking work, tensors, and prints. Every
program is valid and finishes. Its results, output, and errors do not depend on the order in which
its kernels run. The same seed gives the same program.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfrt_runtime.scalars import OPERATIONS

MAX_DEPTH = 3
UNLIMITED = 1 << 30
"""The limit of steps for a program of unlimited size."""
ARITHMETIC = [
    one.name
    for one in OPERATIONS.values()
    if one.operands == ("i32", "i32") and one.results == ("i32",) and one.failure is None
]


@dataclass(frozen=True, slots=True)
class Extras:
    """Kernels and functions that programs may use besides the runtime's own scalar kernels.

    `numbers` are kernels with the attributes `{a, b : i32}` that turn two i32 into an i32; `arrays`
    turn them into a tensor instead, and `sums` turn a tensor into an i32. `functions` are the lines
    of functions that turn two i32 into one, by name.
    """

    numbers: Sequence[str] = ()
    arrays: Sequence[str] = ()
    sums: Sequence[str] = ()
    functions: Sequence[tuple[str, str]] = ()
    prints: bool = False


NOTHING = Extras()


class ProgramWriter:
    """Writes one program. `lines` is the body under construction.

    `most` limits the steps of @main, including its regions; another function has at most half as
    many.
    """

    def __init__(self, seed: int, extras: Extras = NOTHING, most: int = UNLIMITED) -> None:
        self._random = random.Random(seed)
        self._extras = extras
        self._most = self._left = most
        self._count = 0
        self._functions: list[str] = []
        self._callable: list[str] = []
        self._chain = ""

    def program(self) -> str:
        """Return a module whose @main returns five numbers."""
        for name, text in self._extras.functions:
            self._functions.append(text)
            self._callable.append(name)
        for _ in range(self._random.randrange(1, 2 + min(2, self._most // 8))):
            self._function()
        self._left = self._most
        body, values = self._body([], self._random.randrange(8, 30), 0)
        results = ", ".join(self._random.choices(values, k=5))
        types = ", ".join(["i32"] * 5)
        main = f"func @main() -> ({types}) {{\n{body}  tfrt.return {results} : {types}\n}}\n"
        return "\n".join([*self._functions, main])

    def _name(self, prefix: str = "%v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _function(self) -> None:
        self._left = self._most // 2
        name = self._name("@f")
        parameters = [self._name("%a") for _ in range(2)]
        body, values = self._body(parameters, self._random.randrange(2, 8), 1)
        result = self._random.choice(values)
        head = ", ".join(f"{parameter}: i32" for parameter in parameters)
        self._functions.append(
            f"func {name}({head}) -> i32 {{\n{body}  tfrt.return {result} : i32\n}}\n"
        )
        self._callable.append(name)

    def _body(self, given: list[str], size: int, depth: int) -> tuple[str, list[str]]:
        """Write some kernels over the values `given`; return their text and all existing values."""
        lines: list[str] = []
        values = list(given)
        while len(values) < 2:
            values.append(self._constant(lines))
        makers: list[Callable[[list[str], list[str], int], None]] = [
            self._arithmetic,
            self._arithmetic,
            self._asynchronous,
            self._asynchronous,
            self._division,
            self._failure,
            self._constants,
            self._late,
        ]
        if self._extras.numbers:
            makers += [self._python, self._python]
        if self._extras.sums:
            makers += [self._tensor]
        if self._extras.prints and depth == 0:
            makers += [self._print, self._print]
        if depth < MAX_DEPTH:
            makers += [self._branch, self._repeat, self._task]
        if self._callable:
            makers += [self._call, self._call, self._condition, self._while]
        for _ in range(size):
            if self._left == 0:
                break
            self._left -= 1
            self._random.choice(makers)(lines, values, depth)
        return "".join(f"  {line}\n" for line in lines), values

    def _constant(self, lines: list[str]) -> str:
        name = self._name()
        lines.append(f"{name} = tfrt.constant.i32 {self._random.randrange(-3, 50)}")
        return name

    def _constants(self, lines: list[str], values: list[str], _: int) -> None:
        values.append(self._constant(lines))

    def _arithmetic(self, lines: list[str], values: list[str], _: int) -> None:
        name, (left, right) = self._name(), self._random.choices(values, k=2)
        lines.append(f"{name} = {self._random.choice(ARITHMETIC)} {left}, {right}")
        values.append(name)

    def _asynchronous(self, lines: list[str], values: list[str], _: int) -> None:
        name, (left, right) = self._name(), self._random.choices(values, k=2)
        if self._random.random() < 0.6:
            lines.append(f'{name} = "tfrt_test.async_add.i32"({left}, {right}) : (i32, i32) -> i32')
        else:
            lines.append(f'{name} = "tfrt_test.async_copy.i32"({left}) : (i32) -> i32')
        values.append(name)

    def _division(self, lines: list[str], values: list[str], _: int) -> None:
        quotient, rest = self._name(), self._name()
        left, right = self._random.choices(values, k=2)
        lines.append(f"{quotient}, {rest} = tfrt.div.i32 {left}, {right}")
        values += [quotient, rest]

    def _failure(self, lines: list[str], values: list[str], _: int) -> None:
        if self._random.random() < 0.2:
            name = self._name()
            kernel = self._random.choice(["tfrt_test.fail", "tfrt_test.report_error_async"])
            lines.append(f'{name} = "{kernel}"() : () -> i32')
            values.append(name)

    def _late(self, lines: list[str], values: list[str], _: int) -> None:
        if self._random.random() < 0.2:
            name = self._name()
            source = self._random.choice(values)
            kernel = "tfrt_test.async_copy.with_delay.i32"
            lines.append(f'{name} = "{kernel}"({source}) : (i32) -> i32')
            values.append(name)

    def _python(self, lines: list[str], values: list[str], _: int) -> None:
        values.append(self._two_numbers(lines, values, self._extras.numbers, "i32"))

    def _two_numbers(
        self, lines: list[str], values: list[str], kernels: Sequence[str], result: str
    ) -> str:
        """Write a call of a kernel over two numbers, and return the name of its result."""
        name, (left, right) = self._name(), self._random.choices(values, k=2)
        numbers = [f"{letter} = {self._random.randrange(-3, 9)} : i32" for letter in "ab"]
        self._random.shuffle(numbers)
        lines.append(
            f'{name} = "{self._random.choice(kernels)}"({left}, {right}) {{{", ".join(numbers)}}}'
            f" : (i32, i32) -> {result}"
        )
        return name

    def _tensor(self, lines: list[str], values: list[str], _: int) -> None:
        """Write a tensor, kernels that write it one after another, and the sum of its elements."""
        tensor, chain, total = self._name("%t"), self._name("%c"), self._name()
        lines.append(f"{chain} = tfrt.new.chain")
        if self._extras.arrays and self._random.random() < 0.5:
            tensor = self._two_numbers(lines, values, self._extras.arrays, "!t.tensor")
        else:
            size = self._random.randrange(1, 5)
            lines.append(f"{tensor} = tfrt_dht.create_uninitialized_tensor.i32.1 [{size} : i64]")
            number = self._random.randrange(-9, 99)
            fill = f"tfrt_dht.fill_tensor_with_constant.i32 {tensor}, {chain} {number} : i32"
            chain = self._name("%c")
            lines.append(f"{chain} = {fill}")
        for _step in range(self._random.randrange(3)):
            next_chain = self._name("%c")
            if self._random.random() < 0.5:
                kernel, given = "relu_inplace", tensor
            else:
                kernel, given = "add_inplace", f"{tensor}, {tensor}"
            types = "!t.tensor, " * (1 + given.count(","))
            lines.append(
                f'{next_chain} = "tfrt_test.{kernel}.i32"({given}, {chain})'
                f" : ({types}!tfrt.chain) -> !tfrt.chain"
            )
            chain = next_chain
        sum_ = self._random.choice(self._extras.sums)
        lines.append(f'{total} = "{sum_}"({tensor}, {chain}) : (!t.tensor, !tfrt.chain) -> i32')
        values.append(total)

    def _print(self, lines: list[str], values: list[str], _: int) -> None:
        """Print a number after all earlier prints."""
        if not self._chain:
            self._chain = self._name("%c")
            lines.append(f"{self._chain} = tfrt.new.chain")
        after = self._name("%c")
        lines.append(f"{after} = tfrt.print.i32 {self._random.choice(values)}, {self._chain}")
        self._chain = after

    def _call(self, lines: list[str], values: list[str], _: int) -> None:
        name, arguments = self._name(), self._random.choices(values, k=2)
        callee = self._random.choice(self._callable)
        lines.append(
            f"{name} = tfrt.call {callee}({', '.join(arguments)}){self._strictness()} : (i32, "
            f"i32) -> i32"
        )
        values.append(name)

    def _condition(self, lines: list[str], values: list[str], _: int) -> None:
        condition, name = self._less_equal(lines, values), self._name()
        callees = " ".join(self._random.choices(self._callable, k=2))
        given = ", ".join(self._random.choices(values, k=2))
        lines.append(f"{name} = tfrt.cond {condition} {callees} ({given}) : (i32, i32) -> (i32)")
        values.append(name)

    def _while(self, lines: list[str], values: list[str], _: int) -> None:
        """Write a loop that counts down from at most 5, and calls a function each time."""
        body, count, on, name = self._name("@w"), self._name(), self._name(), self._name()
        callee, iterations = self._random.choice(self._callable), self._random.randrange(1, 4)
        self._functions.append(
            f"func {body}(%i: i32, %x: i32) -> (i32, i32, i1) {{\n"
            "  %one = tfrt.constant.i32 1\n"
            "  %j = tfrt.minus.i32 %i, %one\n"
            f"  %y = tfrt.call {callee}(%i, %x) : (i32, i32) -> i32\n"
            '  %more = "tfrt.lessequal.i32"(%one, %j) : (i32, i32) -> i1\n'
            "  tfrt.return %j, %y, %more : i32, i32, i1\n}\n"
        )
        lines.append(f"{count} = tfrt.constant.i32 {self._random.randrange(1, 6)}")
        lines.append(f"{on} = tfrt.constant.i1 {self._random.choice(['true', 'false'])}")
        lines.append(
            f"{name}_left, {name} = tfrt.while {on} {body}({count}, {self._random.choice(values)})"
            f" parallel_iterations({iterations}) : (i32, i32) -> (i32, i32)"
        )
        values.append(name)

    def _less_equal(self, lines: list[str], values: list[str]) -> str:
        condition, (left, right) = self._name(), self._random.choices(values, k=2)
        lines.append(f'{condition} = "tfrt.lessequal.i32"({left}, {right}) : (i32, i32) -> i1')
        return condition

    def _strictness(self, keyword: str = "") -> str:
        return f"{keyword} {{bef.nonstrict}}" if self._random.random() < 0.3 else ""

    def _region(self, parameters: list[str], depth: int) -> list[str]:
        body, values = self._body(parameters, self._random.randrange(1, 5), depth + 1)
        result = self._random.choice(values)
        return [*body.rstrip("\n").split("\n"), f"    tfrt.return {result} : i32"]

    def _branch(self, lines: list[str], values: list[str], depth: int) -> None:
        condition, name = self._less_equal(lines, values), self._name()
        first, second = self._random.choices(values, k=2)
        while second == first:
            second = self._constant(lines)
        lines.append(
            f"{name} = tfrt.if {condition}, {first}, {second}{self._strictness(' attributes')}"
            " : (i32, i32) -> i32 {"
        )
        lines += self._region([first, second], depth)
        lines.append("} else {")
        lines += self._region([first, second], depth)
        lines.append("}")
        values.append(name)

    def _repeat(self, lines: list[str], values: list[str], depth: int) -> None:
        count, name, value = self._name(), self._name(), self._random.choice(values)
        lines.append(f"{count} = tfrt.constant.i32 {self._random.randrange(0, 6)}")
        lines.append(f"{name} = tfrt.repeat.i32 {count}, {value} : i32 {{")
        lines += self._region([value], depth)
        lines.append("}")
        values.append(name)

    def _task(self, lines: list[str], values: list[str], depth: int) -> None:
        name, value = self._name(), self._random.choice(values)
        lines.append(f"{name} = tfrt_test.do.async {value} : (i32) -> i32 {{")
        lines += self._region([value], depth)
        lines.append("}")
        values.append(name)


def random_program(seed: int, extras: Extras = NOTHING, most: int = UNLIMITED) -> str:
    """Return the program of that seed, with at most `most` steps in @main."""
    return ProgramWriter(seed, extras, most).program()
