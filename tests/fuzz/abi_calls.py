"""Random sequences of calls of the async runtime's C functions, right by their types.

A sequence is a list of steps; a step is the name of an operation and three numbers, which choose objects
among those that there are.  Steps run in a function that the runtime calls as it calls compiled code, in
tasks and where coroutines resume.  An object is used only while the sequence has a reference to it; with
`overdrop`, in a checked runtime, a missing reference is dropped.
"""

from __future__ import annotations

import ctypes
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fuzz.running import Runner

from tfrt_nb.compiled.host import HostCode
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.diagnostics import TfrtError

Step = tuple[str, int, int, int]

_WEIGHTS = {
    "token": 6,
    "value": 6,
    "group": 4,
    "emplace": 9,
    "set_error": 4,
    "add_ref": 4,
    "drop_ref": 6,
    "add_to_group": 8,
    "await": 3,
    "resume": 7,
    "execute": 6,
    "is_error": 3,
    "storage": 3,
    "overdrop": 0.3,
}
SIZES = (0, 1, 4, 8, 9, 16, 64, 100, 5000)


def random_steps(chance: random.Random) -> list[Step]:
    """Up to 60 steps."""
    names, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    return [
        (name, chance.randrange(1000), chance.randrange(1000), chance.randrange(10))
        for name in chance.choices(names, weights, k=chance.randrange(2, 60))
    ]


@dataclass
class Made:
    """An object of a sequence, with the references that it has to it; `users` are calls under way."""

    kind: str
    address: int
    size: int
    references: int = 1
    is_resolved: bool = False
    users: int = 0


@dataclass
class Sequence:
    """One run of steps.  Steps may run on several threads at once."""

    steps: list[Step]
    runtime: AsyncRuntime
    _made: list[Made] = field(default_factory=list)
    _next: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    leaves_over: bool = False
    _is_over: bool = False

    def __post_init__(self) -> None:
        word, none = ctypes.c_int64, None
        self._types = {
            "CreateToken": (word,),
            "CreateValue": (word, word),
            "CreateGroup": (word, word),
            "EmplaceToken": (none, word),
            "EmplaceValue": (none, word),
            "SetTokenError": (none, word),
            "SetValueError": (none, word),
            "AddRef": (none, word, word),
            "DropRef": (none, word, word),
            "AddTokenToGroup": (word, word, word),
            "AddValueToGroup": (word, word, word),
            "AwaitToken": (none, word),
            "AwaitValue": (none, word),
            "AwaitAllInGroup": (none, word),
            "AwaitTokenAndExecute": (none, word, word, word),
            "AwaitValueAndExecute": (none, word, word, word),
            "AwaitAllInGroupAndExecute": (none, word, word, word),
            "Execute": (none, word, word),
            "IsTokenError": (ctypes.c_bool, word),
            "IsValueError": (ctypes.c_bool, word),
            "IsGroupError": (ctypes.c_bool, word),
            "GetValueStorage": (word, word),
        }
        self._main = ctypes.CFUNCTYPE(ctypes.c_bool, word)(self._enter)
        self._resume = ctypes.CFUNCTYPE(None, word)(lambda handle: self._some_steps(handle))

    def call(self, name: str, *words: int) -> int:
        """Call a function of the runtime."""
        result, *parameters = self._types[name]
        address = self.runtime.functions[f"mlirAsyncRuntime{name}"]
        return ctypes.CFUNCTYPE(result, *parameters)(address)(*words) or 0

    def run(self) -> None:
        """Run all steps, and drop all references.

        Raises:
            TfrtError: what the runtime says of it.
        """
        self.runtime.run(ctypes.cast(self._main, ctypes.c_void_p).value or 0)

    def _enter(self, _: int) -> bool:
        while self._next < len(self.steps):
            self._some_steps(6)
        for made in self._made:
            self._resolve(made)
        with self._lock:
            self._is_over = True
            made = list(self._made)
        for one in made:
            self._give_back(one)
        return False

    def _give_back(self, made: Made) -> None:
        """At the end: drop all references to an object that no call uses.

        A worker may have made it after the others were resolved.
        """
        with self._lock:
            if not self._is_over or made.users:
                return
            references, made.references = made.references, 0
        if references:
            self._resolve(made)
            self.call("DropRef", made.address, references)

    def _resolve(self, made: Made) -> None:
        """Make a token or a value available, if nothing has resolved it."""
        if made.kind != "group" and self._may_resolve(made):
            self.call(f"Emplace{made.kind.title()}", made.address)

    def _some_steps(self, count: int) -> None:
        for _ in range(count):
            with self._lock:
                if self._next >= len(self.steps):
                    return
                step = self.steps[self._next]
                self._next += 1
            self._step(*step)

    @contextmanager
    def _using(self, choice: int, *kinds: str) -> Iterator[Made | None]:
        """An object of a kind that we have a reference to; it has one while it is used."""
        with self._lock:
            known = [made for made in self._made if made.kind in kinds and made.references > 0]
            made = known[choice % len(known)] if known else None
            if made is not None:
                made.users += 1
        yield made
        if made is not None:
            with self._lock:
                made.users -= 1
            self._give_back(made)

    def _may_resolve(self, made: Made) -> bool:
        with self._lock:
            first = not made.is_resolved
            made.is_resolved = True
            return first

    def _add(self, kind: str, address: int, size: int = 0) -> None:
        made = Made(kind, address, size)
        with self._lock:
            self._made.append(made)
        self._give_back(made)

    def _step(self, name: str, first: int, second: int, number: int) -> None:
        match name:
            case "token":
                self._add("token", self.call("CreateToken"))
            case "value":
                size = SIZES[first % len(SIZES)]
                self._add("value", self.call("CreateValue", size), size)
            case "group":
                self._add("group", self.call("CreateGroup", number % 5), number % 5)
            case "execute":
                resume = ctypes.cast(self._resume, ctypes.c_void_p).value or 0
                self.call("Execute", 1 + number % 4, resume)
            case "add_to_group":
                self._add_to_group(first, second)
            case _:
                with self._using(first, "token", "value", "group") as made:
                    if made is not None:
                        self._on_object(name, made, number)

    def _add_to_group(self, first: int, second: int) -> None:
        with self._using(first, "token", "value") as member, self._using(second, "group") as group:
            if member is not None and group is not None:
                self.call(f"Add{member.kind.title()}ToGroup", member.address, group.address)

    def _on_object(self, name: str, made: Made, number: int) -> None:
        kind = "AllInGroup" if made.kind == "group" else made.kind.title()
        match name:
            case "emplace" | "set_error" if made.kind != "group":
                if self._may_resolve(made):
                    error = f"Set{kind}Error"
                    self.call(f"Emplace{kind}" if name == "emplace" else error, made.address)
            case "add_ref":
                self.call("AddRef", made.address, 1 + number % 3)
                with self._lock:
                    made.references += 1 + number % 3
            case "drop_ref":
                with self._lock:
                    # The last reference goes when only this call uses the object.
                    least = 0 if made.users == 1 and made.is_resolved else 1
                    count = min(1 + number % 2, made.references - least)
                    made.references -= max(0, count)
                if count > 0:
                    self.call("DropRef", made.address, count)
            case "overdrop" if self.runtime.checked:
                self.leaves_over = True
                self.call("DropRef", made.address, made.references + 1 + number)
                with self._lock:
                    made.references = 0
                    made.is_resolved = True
            case "await":
                self.call(f"Await{kind}", made.address)
            case "resume":
                resume = ctypes.cast(self._resume, ctypes.c_void_p).value or 0
                self.call(f"Await{kind}AndExecute", made.address, number % 4, resume)
            case "is_error":
                self.call(f"Is{made.kind.title()}Error", made.address)
            case "storage" if made.kind == "value" and not made.is_resolved:
                start = self.call("GetValueStorage", made.address)
                ctypes.memset(start, number, made.size)


def run_steps(runner: Runner, steps: list[Step], chance: random.Random) -> list[str]:
    """Run a sequence in a child; its problems."""
    queue = chance.choice(("s", "mstd:2"))
    is_checked = chance.random() < 0.5

    def act(runner: Runner) -> None:
        runtime = runner.host(queue).shared_context(HostCode).runtime
        runtime.checked = is_checked
        sequence = Sequence(steps, runtime)
        # A program that counts by hand, and ran before, may have left objects of its own.
        before = {one.address for one in runtime.live_objects()}
        try:
            sequence.run()
        except TfrtError as problem:
            runner.look_at(problem, "")
        runner.ran += 1
        left = [one for one in runtime.live_objects() if one.address not in before]
        if left and not sequence.leaves_over:
            runner.problems.append(f"leak\n{left}")

    may_leak = any(name == "overdrop" for name, *_ in steps)
    return runner.case(act, may_leak=may_leak)
