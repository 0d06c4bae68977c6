"""Write random async programs whose tasks print and use a buffer without order.

`--explore` must find each outcome.
"""

from __future__ import annotations

import random

_HEAD = "func.func private @printI64(i64)\n"
_CONSTANTS = """  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %big = arith.constant 50 : i64
"""
_BUFFER = "memref<2xi64>"


def random_racy_program(seed: int, size: int = 6) -> str:
    """Return the program with this number; `main` has about `size` tasks, prints, and uses."""
    return _Writer(random.Random(seed), size).program()


class _Writer:
    def __init__(self, rng: random.Random, size: int) -> None:
        self._rng, self._size, self._left, self._names = rng, size, size, 0
        self._lines: list[str] = []
        self._functions: list[tuple[str, bool]] = []

    def program(self) -> str:
        for number in range(self._rng.randrange(3)):
            name, is_async, self._left = f"f{number}", self._chance(0.6), 3
            kind, result = ("async", " -> !async.token") if is_async else ("func", "")
            self._lines.append(f"{kind}.func @{name}(%m: {_BUFFER}){result} {{\n{_CONSTANTS}")
            self._body([], [], 1, self._rng.randrange(1, 4))
            self._lines += ["return", "}"]
            self._functions.append((name, is_async))
        self._left = self._size
        self._lines.append(f"func.func @main() -> (i64, i64) {{\n{_CONSTANTS}")
        self._lines += [f"%m = memref.alloc() : {_BUFFER}", "%zero = arith.constant 0 : i64"]
        self._lines += [f"memref.store %zero, %m[%i{i}] : {_BUFFER}" for i in range(2)]
        tokens = self._body([], [], 0, self._size)
        self._lines += [f"async.await {t} : !async.token" for t in tokens if self._chance(0.8)]
        self._lines += [f"%r{i} = memref.load %m[%i{i}] : {_BUFFER}" for i in range(2)]
        return "\n".join([_HEAD, *self._lines, "return %r0, %r1 : i64, i64", "}\n"])

    def _body(self, tokens: list[str], values: list[str], depth: int, count: int) -> list[str]:
        tokens, values = [*tokens], [*values]
        statements = [self._constant, self._access, self._access, self._update, self._call]
        for _ in range(count):
            if self._left <= 0:
                break
            self._left -= 1
            if depth < 3 and self._chance(0.35):
                self._task(tokens, values, depth)
            elif tokens and self._chance(0.3):
                self._ask(tokens, values)
            else:
                self._rng.choice(statements)(tokens)
        return tokens

    def _task(self, tokens: list[str], values: list[str], depth: int) -> None:
        token, value, number = self._fresh(), self._fresh(), self._fresh()
        before = f"[{self._rng.choice(tokens)}]" if tokens and self._chance(0.3) else ""
        gives = self._chance(0.3)
        head = f"{token}, {value}" if gives else token
        result = " -> !async.value<i64>" if gives else ""
        self._lines.append(f"{head} = async.execute {before}{result} {{")
        self._body(tokens, values, depth + 1, self._rng.randrange(1, 4))
        self._lines.append(f"{number} = memref.load %m[%i0] : {_BUFFER}")
        if gives and self._chance(0.3):
            is_small = self._fresh()
            self._lines.append(f"{is_small} = arith.cmpi slt, {number}, %big : i64")
            self._lines.append(f'cf.assert {is_small}, "too big"')
        self._lines += [f"async.yield {number} : i64" if gives else "async.yield", "}"]
        tokens.append(token)
        if gives:
            values.append(value)

    def _ask(self, tokens: list[str], values: list[str]) -> None:
        token, asked, number = self._rng.choice(tokens), self._fresh(), self._fresh()
        if values and self._chance(0.3):
            value = self._rng.choice(values)
            self._lines.append(f"{number} = async.await {value} : !async.value<i64>")
        elif self._chance(0.3):
            self._lines.append(f"{asked} = async.runtime.is_error {token} : !async.token")
            self._lines.append(f"{number} = arith.extui {asked} : i1 to i64")
        else:
            self._lines.append(f"async.await {token} : !async.token")
            return
        self._print(number)

    def _constant(self, _: list[str]) -> None:
        number = self._fresh()
        self._lines.append(f"{number} = arith.constant {self._rng.randrange(1, 10)} : i64")
        self._print(number)

    def _access(self, _: list[str]) -> None:
        number, index = self._fresh(), f"%i{self._rng.randrange(2)}"
        if self._chance(0.5):
            self._lines.append(f"{number} = memref.load %m[{index}] : {_BUFFER}")
            self._print(number)
        else:
            self._lines.append(f"{number} = arith.constant {self._rng.randrange(10, 100)} : i64")
            self._lines.append(f"memref.store {number}, %m[{index}] : {_BUFFER}")

    def _update(self, _: list[str]) -> None:
        old, new, index = self._fresh(), self._fresh(), f"%i{self._rng.randrange(2)}"
        self._lines.append(f"{old} = memref.load %m[{index}] : {_BUFFER}")
        self._lines.append(f"{new} = arith.addi {old}, %one : i64")
        self._lines.append(f"memref.store {new}, %m[{index}] : {_BUFFER}")

    def _call(self, tokens: list[str]) -> None:
        if not self._functions:
            return
        name, is_async = self._rng.choice(self._functions)
        if is_async:
            tokens.append(self._fresh())
            call = f"{tokens[-1]} = async.call @{name}(%m) : ({_BUFFER}) -> !async.token"
        else:
            call = f"func.call @{name}(%m) : ({_BUFFER}) -> ()"
        self._lines.append(call)

    def _print(self, number: str) -> None:
        self._lines.append(f"func.call @printI64({number}) : (i64) -> ()")

    def _fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability
