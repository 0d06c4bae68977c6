"""Random sequences of calls of the async runtime's C functions, with arguments of the right types.

A sequence is a list of steps. A step is the name of an operation and three numbers, which choose
among the existing objects. Steps run in a function that the runtime calls like compiled code, in
tasks, and where coroutines resume. An object is used only while the sequence has a reference to it;
with `overdrop`, in a checked runtime, a missing reference is dropped.
"""

from __future__ import annotations

import ctypes
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fuzz.running import Runner

from tfrt_nb.compiled.kernels import HostCode
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.diagnostics import TfrtError

Step = tuple[str, int, int, int]

_WORD, _NONE, _TRUTH = ctypes.c_int64, None, ctypes.c_bool
TYPES = {
    "mlirAsyncRuntimeCreateToken": (_WORD,),
    "mlirAsyncRuntimeCreateValue": (_WORD, _WORD),
    "mlirAsyncRuntimeCreateGroup": (_WORD, _WORD),
    "mlirAsyncRuntimeEmplaceToken": (_NONE, _WORD),
    "mlirAsyncRuntimeEmplaceValue": (_NONE, _WORD),
    "mlirAsyncRuntimeSetTokenError": (_NONE, _WORD),
    "mlirAsyncRuntimeSetValueError": (_NONE, _WORD),
    "mlirAsyncRuntimeAddRef": (_NONE, _WORD, _WORD),
    "mlirAsyncRuntimeDropRef": (_NONE, _WORD, _WORD),
    "mlirAsyncRuntimeAddTokenToGroup": (_WORD, _WORD, _WORD),
    "mlirAsyncRuntimeAddValueToGroup": (_WORD, _WORD, _WORD),
    "mlirAsyncRuntimeAwaitToken": (_NONE, _WORD),
    "mlirAsyncRuntimeAwaitValue": (_NONE, _WORD),
    "mlirAsyncRuntimeAwaitAllInGroup": (_NONE, _WORD),
    "mlirAsyncRuntimeAwaitTokenAndExecute": (_NONE, _WORD, _WORD, _WORD),
    "mlirAsyncRuntimeAwaitValueAndExecute": (_NONE, _WORD, _WORD, _WORD),
    "mlirAsyncRuntimeAwaitAllInGroupAndExecute": (_NONE, _WORD, _WORD, _WORD),
    "mlirAsyncRuntimeExecute": (_NONE, _WORD, _WORD),
    "mlirAsyncRuntimeIsTokenError": (_TRUTH, _WORD),
    "mlirAsyncRuntimeIsValueError": (_TRUTH, _WORD),
    "mlirAsyncRuntimeIsGroupError": (_TRUTH, _WORD),
    "mlirAsyncRuntimeGetValueStorage": (_WORD, _WORD),
    "mlirAsyncRuntimGetNumWorkerThreads": (_WORD,),
    "tfrtAsyncCreateToken": (_WORD, _WORD),
    "tfrtAsyncCreateUnusedToken": (_WORD, _WORD),
    "tfrtAsyncCreateValue": (_WORD, _WORD, _WORD),
    "tfrtAsyncCreateGroup": (_WORD, _WORD, _WORD),
    "tfrtAsyncAddToGroup": (_WORD, _WORD, _WORD, _WORD),
    "tfrtAsyncAwait": (_NONE, _WORD, _WORD),
    "tfrtAsyncAwaitAndExecute": (_NONE, _WORD, _WORD, _WORD, _WORD),
    "tfrtAsyncAwaitAndExecuteFor": (_NONE, _WORD, _WORD, _WORD, _WORD),
    "tfrtAsyncDescribeError": (_NONE, _WORD, _WORD),
    "tfrtAsyncInheritError": (_NONE, _WORD, _WORD),
    "tfrtAsyncFail": (_NONE, _WORD),
    "tfrtAsyncTakeFailure": (_NONE, _WORD),
    "tfrtAsyncGoesOn": (_TRUTH, _WORD),
    "tfrtAsyncIsAvailable": (_TRUTH, _WORD),
    "tfrtAsyncIsCancelled": (_TRUTH,),
    "tfrtAsyncIsInterrupted": (_TRUTH, _WORD),
    "tfrtAsyncAllocateFrame": (_WORD, _WORD, _WORD),
    "tfrtAsyncFreeFrame": (_NONE, _WORD, _WORD, _WORD),
    "tfrtAsyncNewBuffer": (_WORD, _WORD),
    "tfrtAsyncFreeBuffer": (_TRUTH, _WORD),
    "tfrtAsyncNewFrameBuffer": (_WORD, _WORD, _WORD),
    "tfrtAsyncFreeFrameBuffers": (_NONE, _WORD),
    "tfrtAsyncAddRefOnTop": (_NONE, _WORD, _WORD),
    "tfrtAsyncDropRefOnTop": (_NONE, _WORD, _WORD, _WORD),
    "tfrtAsyncLogEnter": (_WORD, _WORD),
    "tfrtAsyncLogBlock": (_NONE, _WORD),
    "tfrtAsyncLogLeave": (_NONE, _WORD, _WORD),
}
"""The functions, each with the types of its result and its parameters."""
OF_COMPILED_CODE = {
    "mlirAsyncRuntimePrintCurrentThreadId": "it prints",
    "tfrtAsyncDropOwnRef": "the object is one that the program makes by an operation",
    "tfrtAsyncDropRefByHand": "the program counts the references of an object alone",
    "tfrtAsyncEmplaceStored": "the payload has a pointer",
    "tfrtAsyncSetErrorUnlessAvailable": "a failing function whose token the program resolves",
    "tfrtAsyncFailFrom": "the function fails next",
    "tfrtAsyncStackLimit": "the stack of a thread",
}
"""Functions that sequences cannot call correctly, and why: compiled code knows more."""

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
    "memory": 2,
    "log": 1,
    "on_top": 2,
    "overdrop": 0.3,
}
SIZES = (0, 1, 4, 8, 9, 16, 64, 100, 5000)


def random_steps(chance: random.Random) -> list[Step]:
    """Return up to 60 steps."""
    names, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    return [
        (name, chance.randrange(1000), chance.randrange(1000), chance.randrange(10))
        for name in chance.choices(names, weights, k=chance.randrange(2, 60))
    ]


@dataclass
class Made:
    """An object of a sequence, and how many references the sequence has to it.

    `users` counts calls in progress.
    """

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
        self._main = ctypes.CFUNCTYPE(_TRUTH, _WORD)(self._enter)
        self._resume = ctypes.CFUNCTYPE(None, _WORD)(lambda handle: self._some_steps(handle))

    def call(self, name: str, *words: int) -> int:
        """Call a function of the runtime; a name without a prefix is one of MLIR's runtime."""
        symbol = name if name.startswith(("mlir", "tfrt")) else f"mlirAsyncRuntime{name}"
        result, *parameters = TYPES[symbol]
        address = self.runtime.functions[symbol]
        return ctypes.CFUNCTYPE(result, *parameters)(address)(*words) or 0

    def run(self) -> None:
        """Run all steps, and drop all references.

        Raises:
            TfrtError: the runtime's report.
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
        """Drop, at the end, all references to an object that no call uses.

        A worker may have created it after the others were resolved.
        """
        with self._lock:
            if not self._is_over or made.users:
                return
            references, made.references = made.references, 0
        if references:
            self._resolve(made)
            self.call("DropRef", made.address, references)

    def _resolve(self, made: Made) -> None:
        """Make a token or a value available unless it is resolved."""
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
        """Yield an object of a kind that the sequence has a reference to; the block keeps it."""
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
            case "token" if number % 2:
                self._add("token", self.call("CreateToken"))
            case "token":
                create = "UnusedToken" if number % 3 == 0 else "Token"
                if made := self.call(f"tfrtAsyncCreate{create}", _place(second)):
                    self._add("token", made)
            case "value" | "group":
                size = SIZES[first % len(SIZES)] if name == "value" else number % 5
                create = f"Create{name.title()}"
                by_record = (
                    self.call(f"tfrtAsync{create}", size, _place(second)) if second % 2 else 0
                )
                self._add(name, by_record or self.call(create, size), size)
            case "memory":
                self._use_memory(first, number)
            case "log":
                self._log(number)
            case "execute":
                resume = ctypes.cast(self._resume, ctypes.c_void_p).value or 0
                self.call("Execute", 1 + number % 4, resume)
            case "add_to_group":
                self._add_to_group(first, second)
            case _:
                with self._using(first, "token", "value", "group") as made:
                    if made is not None:
                        self._on_object(name, made, second, number)

    def _add_to_group(self, first: int, second: int) -> None:
        with self._using(first, "token", "value") as member, self._using(second, "group") as group:
            if member is None or group is None:
                return
            if second % 2:
                self.call("tfrtAsyncAddToGroup", member.address, group.address, _place(first))
            else:
                self.call(f"Add{member.kind.title()}ToGroup", member.address, group.address)

    def _use_memory(self, first: int, number: int) -> None:
        """Use a frame and a buffer that only this thread uses."""
        size, alignment = 1 + first * 9, 8 << number % 5
        frame = self.call("tfrtAsyncAllocateFrame", size, alignment)
        buffer = self.call("tfrtAsyncNewBuffer", size)
        ctypes.memset(frame, number, size)
        if buffer:
            assert self.call("tfrtAsyncFreeBuffer", buffer)
        last = ctypes.c_int64(0)
        for _ in range(number % 4):
            self.call("tfrtAsyncNewFrameBuffer", size, ctypes.addressof(last))
        self.call("tfrtAsyncFreeFrameBuffers", last.value)
        self.call("tfrtAsyncFreeFrame", frame, size, alignment)

    def _log(self, number: int) -> None:
        """Call a function of watched code."""
        site = ctypes.addressof(_SITE)
        entered = self.call("tfrtAsyncLogEnter", site)
        for _ in range(number % 3):
            self.call("tfrtAsyncLogBlock", site)
        self.call("tfrtAsyncLogLeave", site, entered)

    def _on_object(self, name: str, made: Made, second: int, number: int) -> None:
        kind = "AllInGroup" if made.kind == "group" else made.kind.title()
        match name:
            case "emplace" if made.kind != "group":
                if self._may_resolve(made):
                    self.call(f"Emplace{kind}", made.address)
            case "set_error" if made.kind != "group":
                if self._may_resolve(made):
                    self._say_why(made.address, second)
                    self.call(f"Set{kind}Error", made.address)
            case "add_ref":
                self.call("AddRef", made.address, 1 + number % 3)
                with self._lock:
                    made.references += 1 + number % 3
            case "drop_ref":
                with self._lock:
                    # The last reference may be dropped only if no other call uses the object.
                    least = 0 if made.users == 1 and made.is_resolved else 1
                    count = min(1 + number % 2, made.references - least)
                    made.references -= max(0, count)
                if count > 0:
                    self.call("DropRef", made.address, count)
            case "on_top":
                self.call("tfrtAsyncAddRefOnTop", made.address, 1 + number)
                self.call("tfrtAsyncDropRefOnTop", made.address, 1 + number, _place(second))
            case "overdrop" if self.runtime.checked:
                self.leaves_over = True
                self.call("DropRef", made.address, made.references + 1 + number)
                with self._lock:
                    made.references = 0
                    made.is_resolved = True
            case "await" if second % 2:
                self.call("tfrtAsyncAwait", made.address, _place(second))
            case "await":
                self.call(f"Await{kind}", made.address)
            case "resume":
                self._await_and_execute(made, kind, second, number)
            case "is_error" if second % 2 or made.kind == "group":
                self.call(f"Is{made.kind.title()}Error", made.address)
            case "is_error":
                self.call("tfrtAsyncGoesOn" if number % 2 else "tfrtAsyncIsAvailable", made.address)
            case "storage" if made.kind == "value" and not made.is_resolved:
                start = self.call("GetValueStorage", made.address)
                ctypes.memset(start, number, made.size)

    def _say_why(self, address: int, choice: int) -> None:
        """Record, in one of three ways, a reason for an object that is about to become an error."""
        match choice % 3:
            case 0:
                self.call("tfrtAsyncDescribeError", address, _place(choice))
            case 1:
                self.call("tfrtAsyncFail", _place(1))
                self.call("tfrtAsyncTakeFailure", address)
            case _:
                with self._using(choice, "token", "value") as source:
                    if source is not None and self.call("IsValueError", source.address):
                        self.call("tfrtAsyncInheritError", address, source.address)

    def _await_and_execute(self, made: Made, kind: str, second: int, number: int) -> None:
        resume = ctypes.cast(self._resume, ctypes.c_void_p).value or 0
        words = made.address, number % 4, resume
        match second % 3:
            case 0:
                self.call(f"Await{kind}AndExecute", *words)
            case 1:
                self.call("tfrtAsyncAwaitAndExecute", *words, _place(second))
            case _:
                with self._using(second, "token", "value") as result:
                    address = 0 if result is None else result.address
                    self.call("tfrtAsyncAwaitAndExecuteFor", *words, address)


_TEXT = ctypes.create_string_buffer(b"a reason")
_FILE = ctypes.create_string_buffer(b"sequence")
_RECORD = (ctypes.c_int64 * 6)(ctypes.addressof(_TEXT), 8, ctypes.addressof(_FILE), 8, 1, 1)
"""A record of a reason and a place, in the format of compiled code."""
_SITE = (ctypes.c_int64 * 3)(ctypes.addressof(_RECORD), 0, 0)
"""A place of watched code."""


def _place(choice: int) -> int:
    """Return the address of a record of a place, or 0."""
    return ctypes.addressof(_RECORD) if choice % 3 else 0


def run_steps(runner: Runner, steps: list[Step], chance: random.Random) -> list[str]:
    """Run a sequence in a child, and return its problems."""
    queue = chance.choice(("s", "mstd:2"))
    is_checked = chance.random() < 0.5

    def act(runner: Runner) -> None:
        runtime = runner.host(queue).shared_context(HostCode).runtime
        runtime.checked = is_checked
        sequence = Sequence(steps, runtime)
        # An earlier program that counts by hand may have left objects.
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
