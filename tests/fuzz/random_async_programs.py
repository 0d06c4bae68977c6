"""Random async programs that do the same in whatever order their tasks run.

A program prints only where the order is fixed: in `main`, and in tasks and calls that are awaited
where they start. A buffer is written by one thread of control before others see it, by a task that
is awaited before any other code reads it, or by a parallel loop with a cell for each iteration.
Every awaited object will be resolved. Assertions, divisions, and accesses may fail.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.fuzz.random_programs import UNLIMITED

I1, I64, F64, BUFFER = "i1", "i64", "f64", "memref<4xi64>"
TOKEN, GROUP = "!async.token", "!async.group"
PAYLOADS = (I64, I64, I64, I64, F64, I1, BUFFER)
MAX_WORK = 400
"""The approximate maximum number of statements that a program executes."""
DEEPEST = 4

HEADS = ("// no parallel loops", "// parallel-for: min-task-size=1 num-workers=4")
"""The first line of each program."""
PRINTING = """
func.func private @printI64(i64)
func.func private @printF64(f64)
func.func private @printNewline()
"""


def future(payload: str) -> str:
    """Return the type of a value."""
    return f"!async.value<{payload}>"


def random_program(seed: int, most: int = UNLIMITED) -> str:
    """Return the program with this number; `main` has at most `most` statements.

    Another function has at most half as many.
    """
    generator = Generator(random.Random(seed))
    for _ in range(generator.rng.randrange(1 + min(3, most // 4))):
        generator.left = most // 2
        generator.function()
    generator.left = most
    generator.main()
    return "\n".join([HEADS[seed % 2], *generator.lines, PRINTING])


@dataclass(frozen=True)
class Function:
    """A function that can be called; `work` is the cost of a call."""

    name: str
    is_async: bool
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    prints: bool
    work: int


@dataclass
class Scope:
    """The names visible at a point of the program.

    `is_ordered` says that everything before has run, and that nothing that prints runs
    concurrently. `times` is how often the statements here run per call of the function.
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    is_ordered: bool = True
    times: int = 1
    depth: int = 0

    def add(self, name: str, type_: str) -> str:
        self.names.setdefault(type_, []).append(name)
        return name

    def inner(self, *, times: int = 1, is_ordered: bool = True) -> Scope:
        """Return a scope inside this one."""
        return replace(
            self,
            names={type_: list(names) for type_, names in self.names.items()},
            is_ordered=self.is_ordered and is_ordered,
            times=self.times * times,
            depth=self.depth + 1,
        )

    def known(self, wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
        """Return names with their types."""
        return [(n, type_) for type_, names in self.names.items() if wanted(type_) for n in names]


@dataclass
class Generator:
    """Writes a program line by line.

    `left` is the number of statements that the current function may still have.
    """

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    work: int = 0
    left: int = UNLIMITED
    _names: int = 0
    _indent: int = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self._indent + text)

    @contextmanager
    def block(self, head: str, end: str = "}") -> Iterator[None]:
        """Indent the lines written inside the block."""
        self.line(head)
        self._indent += 1
        yield
        self._indent -= 1
        self.line(end)

    def between(self, text: str) -> None:
        """Write a line that ends one block and starts the next."""
        self._indent -= 1
        self.line(text)
        self._indent += 1

    def fresh(self, letter: str = "v") -> str:
        self._names += 1
        return f"%{letter}{self._names}"

    def define(self, scope: Scope, type_: str, operation: str) -> str:
        """Write a line that gives a new name to the result of an operation, and return the name."""
        name = self.fresh()
        self.line(f"{name} = {operation}")
        return scope.add(name, type_)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # Functions

    def main(self) -> None:
        with self.block("func.func @main() {"):
            scope = Scope()
            self.statements(scope, self.rng.randrange(6, 14))
            self.line("return")

    def function(self) -> None:
        """Write a plain or async function, perhaps a recursive one."""
        if self.chance(0.25):
            self.recursion()
            return
        if self.chance(0.25):
            self.blocks()
            return
        is_async = self.chance(0.6)
        name = f"f{len(self.functions)}"
        types = [self.any_type() for _ in range(self.rng.randrange(4))]
        parameters = [(self.fresh("p"), type_) for type_ in types]
        results = self.results(is_async)
        prints = self.chance(0.4)
        before, self.work = self.work, 0
        listed = ", ".join(f"{parameter}: {type_}" for parameter, type_ in parameters)
        arrow = f" -> ({', '.join(results)})" if results else ""
        kind = "async.func" if is_async else "func.func"
        with self.block(f"{kind} @{name}({listed}){arrow} {{"):
            scope = Scope(is_ordered=prints, depth=1)
            for parameter, type_ in parameters:
                scope.add(parameter, type_)
            self.statements(scope, self.rng.randrange(1, 7))
            self.leave(
                scope, "return", [t for t in map(payload, results) if t] if is_async else results
            )
        work, self.work = self.work + 1, before
        self.functions.append(Function(name, is_async, tuple(types), tuple(results), prints, work))

    def results(self, is_async: bool) -> list[str]:
        count = self.rng.randrange(3)
        if not is_async:
            return [self.any_type() for _ in range(count)]
        values = [future(self.rng.choice(PAYLOADS)) for _ in range(count)]
        return [*([TOKEN] if not values or self.chance(0.5) else []), *values]

    def any_type(self) -> str:
        payload_type = self.rng.choice(PAYLOADS)
        return self.rng.choice((payload_type, payload_type, TOKEN, future(payload_type)))

    def leave(self, scope: Scope, terminator: str, types: list[str]) -> None:
        """End a region with values of the types."""
        names = [self.need(scope, type_) for type_ in types]
        typed = f" {', '.join(names)} : {', '.join(types)}" if names else ""
        self.line(f"{terminator}{typed}")

    def recursion(self) -> None:
        """Write a function that calls itself twice, a few levels deep."""
        name, is_async = f"f{len(self.functions)}", self.chance(0.7)
        result = future(I64) if is_async else I64
        kind, call = ("async.func", "async.call") if is_async else ("func.func", "func.call")
        least, bad = self.rng.randrange(2), self.rng.randrange(-3, 6)
        with self.block(f"{kind} @{name}(%n: i64) -> {result} {{"):
            constants = {"zero": 0, "one": 1, "two": 2, "most": 4, "least": least, "bad": bad}
            for constant, number in constants.items():
                self.line(f"%{constant} = arith.constant {number} : i64")
            self.line("%m = arith.minsi %n, %most : i64")
            self.line("%ok = arith.cmpi ne, %m, %bad : i64")
            self.line('cf.assert %ok, "too deep"')
            self.line("%more = arith.cmpi sgt, %m, %least : i64")
            with self.block("%r = scf.if %more -> (i64) {", "}"):
                names = []
                for less in ("%one", "%two"):
                    lower, called = self.fresh(), self.fresh()
                    self.line(f"{lower} = arith.subi %m, {less} : i64")
                    self.line(f"{called} = {call} @{name}({lower}) : (i64) -> {result}")
                    names.append(called)
                if is_async:
                    self.rng.shuffle(names)
                    for position, called in enumerate(names):
                        names[position] = self.fresh()
                        self.line(f"{names[position]} = async.await {called} : {result}")
                self.line(f"%s = arith.addi {names[0]}, {names[1]} : i64")
                self.line("scf.yield %s : i64")
                self.between("} else {")
                self.line(f"scf.yield {self.rng.choice(('%zero', '%one'))} : i64")
            self.line("return %r : i64")
        self.functions.append(Function(name, is_async, (I64,), (result,), False, 20))

    def blocks(self) -> None:
        """Write a function of several blocks, which pass tokens and numbers on."""
        name, is_async = f"f{len(self.functions)}", self.chance(0.6)
        results = [future(I64)] if is_async else [TOKEN, I64]
        before, self.work = self.work, 0
        kind = "async.func" if is_async else "func.func"
        token, number = self.fresh("p"), self.fresh("p")
        head = f"{kind} @{name}({token}: {TOKEN}, {number}: i64) -> ({', '.join(results)}) {{"
        with self.block(head):
            entry = Scope(is_ordered=False, depth=1)
            entry.add(token, TOKEN)
            entry.add(number, I64)
            self.statements(entry, self.rng.randrange(1, 4))
            condition = self.condition(entry, 0.5)
            passed = f"({self.need(entry, TOKEN)}, {self.need(entry, I64)} : {TOKEN}, i64)"
            targets = ["^left", "^right"] if self.chance(0.5) else ["^left", f"^join{passed}"]
            self.line(f"cf.cond_br {condition}, {', '.join(targets)}")
            for label in ("left", "right")[: 2 if targets[1] == "^right" else 1]:
                self.line(f"^{label}:")
                side = entry.inner()
                self.statements(side, self.rng.randrange(3))
                given = f"{self.need(side, TOKEN)}, {self.need(side, I64)}"
                self.line(f"cf.br ^join({given} : {TOKEN}, i64)")
            joined, total = self.fresh("a"), self.fresh("a")
            self.line(f"^join({joined}: {TOKEN}, {total}: i64):")
            end = entry.inner()
            end.add(joined, TOKEN)
            end.add(total, I64)
            self.statements(end, self.rng.randrange(3))
            self.leave(end, "return", [I64] if is_async else results)
        work, self.work = self.work + 1, before
        self.functions.append(Function(name, is_async, (TOKEN, I64), tuple(results), False, work))

    # Statements

    def statements(self, scope: Scope, count: int) -> None:
        for _ in range(count):
            if self.left == 0:
                return
            self.left -= 1
            self.work += scope.times
            names = list(_STATEMENTS)
            weights = [_STATEMENTS[name] for name in names]
            getattr(self, self.rng.choices(names, weights)[0])(scope)

    def need(self, scope: Scope, type_: str) -> str:
        """Return a value of the type: an existing one, preferably a recent one, or a new one."""
        known = scope.names.get(type_, [])
        if known and self.chance(0.85):
            return known[-1 - min(int(self.rng.expovariate(0.4)), len(known) - 1)]
        match type_:
            case "i64":
                number = self.rng.choice((0, 1, 2, 3, -1, 7, self.rng.randrange(-9, 99)))
                return self.define(scope, type_, f"arith.constant {number} : i64")
            case "f64":
                number = self.rng.choice((0.0, 0.5, -1.25, 3.0))
                return self.define(scope, type_, f"arith.constant {number:e} : f64")
            case "i1":
                return self.condition(scope, 0.5)
            case "index":
                return self.define(scope, type_, f"arith.constant {self.rng.randrange(4)} : index")
            case "memref<4xi64>":
                return self.buffer(scope)
            case "!async.token":
                return self.task(scope, [], is_small=True)[0]
            case _:
                return self.task(scope, [payload(type_)], is_small=True)[1]

    def condition(self, scope: Scope, probability: float) -> str:
        """Return a truth value that is true with about this probability."""
        number = self.need(scope, I64)
        limit = self.define(scope, I64, f"arith.constant {round(8 * probability)} : i64")
        mask = self.define(scope, I64, "arith.constant 7 : i64")
        low = self.define(scope, I64, f"arith.andi {number}, {mask} : i64")
        return self.define(scope, I1, f"arith.cmpi slt, {low}, {limit} : i64")

    def index_constant(self, scope: Scope, number: int) -> str:
        """Return a constant that is not in the scope, because loop bounds must stay small."""
        name = self.fresh("c")
        self.line(f"{name} = arith.constant {number} : index")
        return name

    def small_index(self, scope: Scope, size: int) -> str:
        """Return a number below the size, rarely a larger one."""
        number = self.need(scope, I64)
        mask = 7 if self.chance(0.06) else size - 1
        constant = self.define(scope, I64, f"arith.constant {mask} : i64")
        low = self.define(scope, I64, f"arith.andi {number}, {constant} : i64")
        name = self.fresh("i")
        self.line(f"{name} = arith.index_cast {low} : i64 to index")
        return name

    def arithmetic(self, scope: Scope) -> None:
        if self.chance(0.15):
            number = self.need(scope, I64)
            self.define(scope, F64, f"arith.sitofp {number} : i64 to f64")
        elif self.chance(0.2):
            a, b = self.need(scope, F64), self.need(scope, F64)
            operation = self.rng.choice(("addf", "subf", "mulf"))
            self.define(scope, F64, f"arith.{operation} {a}, {b} : f64")
        elif self.chance(0.1):
            a = self.need(scope, I1)
            self.define(scope, I64, f"arith.extui {a} : i1 to i64")
        elif self.chance(0.1):
            c, a, b = (self.need(scope, t) for t in (I1, I64, I64))
            self.define(scope, I64, f"arith.select {c}, {a}, {b} : i64")
        else:
            names = ("addi", "subi", "muli", "andi", "xori", "maxsi", "minsi")
            operation = self.rng.choice((*names, *names, *names, "divsi", "remsi"))
            a, b = self.need(scope, I64), self.need(scope, I64)
            self.define(scope, I64, f"arith.{operation} {a}, {b} : i64")

    def assertion(self, scope: Scope) -> None:
        condition = self.condition(scope, self.rng.choice((1.0, 1.0, 0.9, 0.5)))
        self.line(f'cf.assert {condition}, "{self.fresh("m")[1:]}"')

    def print(self, scope: Scope) -> None:
        if scope.is_ordered:
            type_ = self.rng.choice((I64, I64, F64))
            function = "printI64" if type_ == I64 else "printF64"
            self.line(f"func.call @{function}({self.need(scope, type_)}) : ({type_}) -> ()")
            self.line("func.call @printNewline() : () -> ()")

    def execute(self, scope: Scope) -> None:
        if scope.depth < DEEPEST:
            types = [self.rng.choice(PAYLOADS) for _ in range(self.rng.randrange(3))]
            self.task(scope, types, is_small=False)

    def task(self, scope: Scope, types: list[str], *, is_small: bool) -> list[str]:
        """Write an `async.execute`, and return its token and values.

        A task that is awaited at once may print.
        """
        is_awaited = self.chance(0.3)
        tokens = [n for n, _ in scope.known(lambda t: t == TOKEN)]
        futures = scope.known(lambda t: t.startswith("!async.value"))
        dependencies = self.some(tokens, 0.4)
        operands = self.some(futures, 0.4)
        inner = scope.inner(is_ordered=is_awaited)
        arguments = []
        for name, type_ in operands:
            inside = inner.add(self.fresh("a"), payload(type_))
            arguments.append(f"{name} as {inside}: {type_}")
        results = [self.fresh("t"), *(self.fresh("f") for _ in types)]
        head = ", ".join(results) + " = async.execute"
        head += f" [{', '.join(dependencies)}]" if dependencies else ""
        head += f" ({', '.join(arguments)})" if arguments else ""
        if types:
            head += f" -> ({', '.join(map(future, types))})"
        with self.block(head + " {"):
            self.statements(
                inner, self.rng.randrange(2 if is_small or scope.depth >= DEEPEST else 6)
            )
            self.leave(inner, "async.yield", types)
        for name, type_ in zip(results, [TOKEN, *map(future, types)], strict=True):
            scope.add(name, type_)
        if is_awaited:
            self.line(f"async.await {results[0]} : {TOKEN}")
        return results

    def some(self, among: list, probability: float) -> list:
        return (
            self.rng.choices(among, k=self.rng.randrange(1, 4))
            if among and self.chance(probability)
            else []
        )

    def await_token(self, scope: Scope) -> None:
        name = self.need(scope, TOKEN)
        if self.chance(0.25):
            self.line(f"async.runtime.await {name} : {TOKEN}")
            self.define(scope, I1, f"async.runtime.is_error {name} : {TOKEN}")
        else:
            self.line(f"async.await {name} : {TOKEN}")

    def await_value(self, scope: Scope) -> None:
        known = scope.known(lambda t: t.startswith("!async.value"))
        name, type_ = self.rng.choice(known) if known else ("", future(I64))
        name = name or self.need(scope, type_)
        self.define(scope, payload(type_), f"async.await {name} : {type_}")

    def group(self, scope: Scope) -> None:
        """Write a group that is filled here, and awaited or not."""
        size = self.rng.randrange(4)
        count, group = self.index_constant(scope, size), self.fresh("g")
        in_loop = self.chance(0.4) and scope.depth < DEEPEST
        self.line(f"{group} = async.create_group {count} : {GROUP}")
        if in_loop:
            zero, one = self.index_constant(scope, 0), self.index_constant(scope, 1)
            with self.block(f"scf.for {self.fresh('i')} = {zero} to {count} step {one} {{"):
                inner = scope.inner(times=size)
                self.statements(inner, self.rng.randrange(2))
                self.add_member(inner, group)
        else:
            for _ in range(size):
                self.statements(scope, self.rng.randrange(2))
                rank = self.add_member(scope, group)
                self.define(scope, I64, f"arith.index_cast {rank} : index to i64")
        if self.chance(0.2):
            self.line(f"async.runtime.await {group} : {GROUP}")
            self.define(scope, I1, f"async.runtime.is_error {group} : {GROUP}")
        elif self.chance(0.3):
            token = self.fresh("t")
            with self.block(f"{token} = async.execute {{"):
                self.line(f"async.await_all {group}")
                self.line("async.yield")
            scope.add(token, TOKEN)
        elif self.chance(0.8):
            self.line(f"async.await_all {group}")

    def add_member(self, scope: Scope, group: str) -> str:
        type_ = self.rng.choice((TOKEN, TOKEN, future(I64)))
        member, rank = self.need(scope, type_), self.fresh("i")
        self.line(f"{rank} = async.add_to_group {member}, {group} : {type_}")
        return rank

    def call(self, scope: Scope) -> None:
        """Call a function; one that prints is awaited at once."""
        candidates = [
            f
            for f in self.functions
            if (scope.is_ordered or not f.prints) and self.work + scope.times * f.work < MAX_WORK
        ]
        if not candidates:
            return
        function = self.rng.choice(candidates)
        self.work += scope.times * function.work
        arguments = [self.need(scope, type_) for type_ in function.parameters]
        results = [self.fresh("r") for _ in function.results]
        left = f"{', '.join(results)} = " if results else ""
        kind = "async.call" if function.is_async else "func.call"
        signature = f"({', '.join(function.parameters)}) -> ({', '.join(function.results)})"
        self.line(f"{left}{kind} @{function.name}({', '.join(arguments)}) : {signature}")
        for name, type_ in zip(results, function.results, strict=True):
            scope.add(name, type_)
        if function.prints and function.is_async:
            value = f"{self.fresh()} = " if function.results[0] != TOKEN else ""
            self.line(f"{value}async.await {results[0]} : {function.results[0]}")

    def carried(self, scope: Scope) -> tuple[list[str], list[str], list[str]]:
        """Return names inside a loop, their initial values, and their types."""
        types = [self.any_type() for _ in range(self.rng.randrange(3))]
        return [self.fresh("a") for _ in types], [self.need(scope, t) for t in types], types

    def for_loop(self, scope: Scope) -> None:
        trips = self.rng.randrange(4)
        if scope.depth >= DEEPEST or self.work + scope.times * trips * 4 > MAX_WORK:
            return
        inside, start, types = self.carried(scope)
        bounds = [self.index_constant(scope, number) for number in (0, trips, 1)]
        results, index = self.fresh("r"), self.fresh("i")
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(inside, start, strict=True))
        head = f"scf.for {index} = {bounds[0]} to {bounds[1]} step {bounds[2]}"
        if types:
            head = f"{results}:{len(types)} = {head} iter_args({pairs}) -> ({', '.join(types)})"
        with self.block(head + " {"):
            inner = scope.inner(times=trips)
            for name, type_ in zip(inside, types, strict=True):
                inner.add(name, type_)
            self.define(inner, I64, f"arith.index_cast {index} : index to i64")
            self.statements(inner, self.rng.randrange(1, 4))
            self.leave(inner, "scf.yield", types)
        for number, type_ in enumerate(types):
            scope.add(f"{results}#{number}", type_)

    def while_loop(self, scope: Scope) -> None:
        trips = self.rng.randrange(4)
        if scope.depth >= DEEPEST or self.work + scope.times * trips * 4 > MAX_WORK:
            return
        inside, start, types = self.carried(scope)
        after = [self.fresh("a") for _ in types]
        zero = self.define(scope, I64, "arith.constant 0 : i64")
        one = self.define(scope, I64, "arith.constant 1 : i64")
        end = self.define(scope, I64, f"arith.constant {trips} : i64")
        all_types = ", ".join([I64, *types])
        results, counter, counted = self.fresh("r"), self.fresh("n"), self.fresh("n")
        pairs = [f"{a} = {b}" for a, b in zip([counter, *inside], [zero, *start], strict=True)]
        parameters = ", ".join(
            f"{name}: {type_}" for name, type_ in zip([counted, *after], [I64, *types], strict=True)
        )
        head = f"{results}:{len(types) + 1} = scf.while ({', '.join(pairs)})"
        with self.block(f"{head} : ({all_types}) -> ({all_types}) {{"):
            before = scope.inner(times=trips + 1)
            for name, type_ in zip([counter, *inside], [I64, *types], strict=True):
                before.add(name, type_)
            self.statements(before, self.rng.randrange(2))
            goes_on = self.fresh()
            self.line(f"{goes_on} = arith.cmpi slt, {counter}, {end} : i64")
            passed = [counter, *(self.need(before, type_) for type_ in types)]
            self.line(f"scf.condition({goes_on}) {', '.join(passed)} : {all_types}")
            self.between("} do {")
            self.line(f"^{self.fresh('b')[1:]}({parameters}):")
            body = scope.inner(times=trips)
            for name, type_ in zip(after, types, strict=True):
                body.add(name, type_)
            self.statements(body, self.rng.randrange(1, 4))
            following = self.fresh()
            self.line(f"{following} = arith.addi {counted}, {one} : i64")
            carried = [following, *(self.need(body, type_) for type_ in types)]
            self.line(f"scf.yield {', '.join(carried)} : {all_types}")
        for number, type_ in enumerate([I64, *types]):
            scope.add(f"{results}#{number}", type_)

    def branch(self, scope: Scope) -> None:
        if scope.depth >= DEEPEST:
            return
        types = [self.any_type() for _ in range(self.rng.randrange(3))]
        condition, results = self.condition(scope, 0.5), self.fresh("r")
        head = f"scf.if {condition}"
        if types:
            head = f"{results}:{len(types)} = {head} -> ({', '.join(types)})"
        with self.block(head + " {"):
            for is_last in (False, True):
                inner = scope.inner()
                self.statements(inner, self.rng.randrange(4))
                self.leave(inner, "scf.yield", types)
                if not is_last and not types and self.chance(0.4):
                    break
                if not is_last:
                    self.between("} else {")
        for number, type_ in enumerate(types):
            scope.add(f"{results}#{number}", type_)

    def switch(self, scope: Scope) -> None:
        if scope.depth >= DEEPEST:
            return
        type_, chosen, result = self.any_type(), self.small_index(scope, 4), self.fresh("r")
        self.line(f"{result} = scf.index_switch {chosen} -> {type_}")
        for case in ("case 0", "case 2", "default"):
            with self.block(f"{case} {{"):
                inner = scope.inner()
                self.statements(inner, self.rng.randrange(3))
                self.leave(inner, "scf.yield", [type_])
        scope.add(result, type_)

    def buffer(self, scope: Scope) -> str:
        """Write a buffer with four numbers, which is not written again."""
        name = self.fresh("m")
        self.line(f"{name} = memref.alloc() : {BUFFER}")
        for cell in range(4):
            number, place = self.need(scope, I64), self.index_constant(scope, cell)
            self.line(f"memref.store {number}, {name}[{place}] : {BUFFER}")
        return scope.add(name, BUFFER)

    def read(self, scope: Scope) -> None:
        buffer, place = self.need(scope, BUFFER), self.small_index(scope, 4)
        self.define(scope, I64, f"memref.load {buffer}[{place}] : {BUFFER}")

    def written_by_task(self, scope: Scope) -> None:
        """Write a task that fills a buffer, which is used after the task has finished."""
        if scope.depth >= DEEPEST:
            return
        buffer, token = self.fresh("m"), self.fresh("t")
        self.line(f"{buffer} = memref.alloc() : {BUFFER}")
        with self.block(f"{token} = async.execute {{"):
            inner = scope.inner(is_ordered=False)
            for cell in range(4):
                self.statements(inner, self.rng.randrange(2))
                number, place = self.need(inner, I64), self.index_constant(inner, cell)
                self.line(f"memref.store {number}, {buffer}[{place}] : {BUFFER}")
            self.line("async.yield")
        self.statements(scope, self.rng.randrange(2))
        self.line(f"async.await {token} : {TOKEN}")
        scope.add(token, TOKEN)
        scope.add(buffer, BUFFER)

    @contextmanager
    def parallel(self, scope: Scope, head: str, index: str, times: int) -> Iterator[Scope]:
        """Write a parallel loop with some statements, then the lines written inside the block."""
        with self.block(head):
            inner = scope.inner(times=times, is_ordered=False)
            self.define(inner, I64, f"arith.index_cast {index} : index to i64")
            self.statements(inner, self.rng.randrange(3))
            yield inner

    def parallel_loop(self, scope: Scope) -> None:
        """Write a loop in which each iteration fills its cell of a buffer.

        If there are two dimensions, one runs backwards.
        """
        if scope.depth >= DEEPEST or self.work + scope.times * 16 > MAX_WORK:
            return
        buffer, row, column, place = (self.fresh(letter) for letter in "miii")
        zero, one, two, four = (self.index_constant(scope, number) for number in (0, 1, 2, 4))
        self.line(f"{buffer} = memref.alloc() : {BUFFER}")
        is_square = self.chance(0.5)
        if is_square:
            head = f"({row}, {column}) = ({zero}, {zero}) to ({two}, {four}) step ({one}, {two})"
        else:
            head = f"({row}) = ({zero}) to ({four}) step ({one})"
        with self.parallel(scope, f"scf.parallel {head} {{", row, 4) as inner:
            if is_square:
                self.line(f"{place} = arith.addi {row}, {column} : index")
            number = self.need(inner, I64)
            self.line(f"memref.store {number}, {buffer}[{place if is_square else row}] : {BUFFER}")
            self.line("scf.reduce")
        scope.add(buffer, BUFFER)

    def reduction(self, scope: Scope) -> None:
        """Write a parallel loop with one or two results."""
        if scope.depth >= DEEPEST or self.work + scope.times * 16 > MAX_WORK:
            return
        operations = self.rng.choices(("addi", "muli", "maxsi", "xori"), k=self.rng.choice((1, 2)))
        types = ", ".join([I64] * len(operations))
        start = ", ".join(self.need(scope, I64) for _ in operations)
        result, index, trips = self.fresh("r"), self.fresh("i"), self.rng.randrange(6)
        bounds = [self.index_constant(scope, number) for number in (0, trips, 1)]
        head = (
            f"{result}:{len(operations)} = scf.parallel ({index}) = ({bounds[0]}) to ({bounds[1]})"
            f" step ({bounds[2]}) init ({start}) -> ({types}) {{"
        )
        with self.parallel(scope, head, index, trips) as inner:
            terms = ", ".join(self.need(inner, I64) for _ in operations)
            self.line(f"scf.reduce({terms} : {types}) {{")
            for place, operation in enumerate(operations):
                left, right, both = self.fresh("a"), self.fresh("a"), self.fresh()
                if place:
                    self.line("}, {")
                self.line(f"^{self.fresh('b')[1:]}({left}: i64, {right}: i64):")
                self.line(f"  {both} = arith.{operation} {left}, {right} : i64")
                self.line(f"  scf.reduce.return {both} : i64")
            self.line("}")
        for place in range(len(operations)):
            scope.add(f"{result}#{place}", I64)

    def counted(self, scope: Scope) -> None:
        """Write counts in addition to the automatic ones; the statements in between may fail."""
        known = scope.known(lambda t: t.startswith("!async"))
        if known:
            name, type_ = self.rng.choice(known)
            count = self.rng.randrange(1, 4)
            self.line(f"async.runtime.add_ref {name} {{count = {count} : i64}} : {type_}")
            self.statements(scope, self.rng.randrange(3))
            self.line(f"async.runtime.drop_ref {name} {{count = {count} : i64}} : {type_}")

    def gate(self, scope: Scope) -> None:
        """Write a token or value that a task resolves by hand, sometimes to an error."""
        if scope.depth >= DEEPEST:
            return
        type_ = self.rng.choice((TOKEN, future(I64)))
        gate, token = self.fresh("g"), self.fresh("t")
        self.line(f"{gate} = async.runtime.create : {type_}")
        with self.block(f"{token} = async.execute {{"):
            inner = scope.inner(is_ordered=False)
            if self.chance(0.15):
                self.line(f"async.runtime.set_error {gate} : {type_}")
            else:
                if type_ != TOKEN:
                    number = self.fresh()
                    self.line(f"{number} = arith.constant {self.rng.randrange(9)} : i64")
                    self.line(f"async.runtime.store {number}, {gate} : {type_}")
                self.line(f"async.runtime.set_available {gate} : {type_}")
            self.statements(inner, self.rng.randrange(3))
            self.line("async.yield")
        scope.add(gate, type_)
        scope.add(token, TOKEN)

    def selection(self, scope: Scope) -> None:
        """Write a selection of one of two tokens or values."""
        type_ = self.rng.choice((TOKEN, TOKEN, future(I64)))
        names = [self.need(scope, t) for t in (I1, type_, type_)]
        self.define(scope, type_, f"arith.select {', '.join(names)} : {type_}")


def payload(type_: str) -> str:
    """Return the type that a value resolves to; empty for a token."""
    return type_.removeprefix("!async.value<").removesuffix(">") if "value" in type_ else ""


_STATEMENTS = {
    "arithmetic": 6,
    "assertion": 2,
    "print": 5,
    "execute": 6,
    "await_token": 2,
    "await_value": 4,
    "group": 2,
    "call": 4,
    "for_loop": 2,
    "while_loop": 1,
    "branch": 2,
    "switch": 1,
    "read": 1,
    "written_by_task": 1,
    "parallel_loop": 2,
    "reduction": 2,
    "counted": 2,
    "gate": 2,
    "selection": 1,
}
"""The weight of each kind of statement."""
