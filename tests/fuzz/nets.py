"""The nets: each creates cases from a corpus, runs a case in a child, and reduces a find."""

from __future__ import annotations

import functools
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from tests.fuzz.abi_calls import Step, random_steps, run_steps
from tests.fuzz.after_passes import (
    after_passes,
    counted,
    counted_program,
    host_after_passes,
    passed_host_program,
    passed_program,
)
from tests.fuzz.bef_mutants import BefCorpus, BefMutant, kernels_of, records_of, with_kernels
from tests.fuzz.children import HANG_SECONDS, PATIENCE
from tests.fuzz.command_lines import HANG_SECONDS as COMMAND_SECONDS
from tests.fuzz.command_lines import Notebook, program_of, random_cell, random_command, run_command
from tests.fuzz.documents import document_program, is_whole
from tests.fuzz.explored import QUEUE, explored, golden_or_racy
from tests.fuzz.random_calls import kernels_to_call, random_file
from tests.fuzz.random_runs import (
    ALL_QUEUES,
    ENOUGH_SECONDS,
    as_interpreted,
    async_program,
    host_program,
    on_both_tiers,
    on_every_queue,
    scalar_program,
    simulated,
    tiered_program,
)
from tests.fuzz.running import LEAKS_ON_PURPOSE, Runner
from tests.fuzz.text_mutants import damaged, mutate, parts, tokens

from tfrt_nb.programs import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.kernels.registry import Kernel
from tfrt_runtime.kernels.standard import standard_kernels

TESTS = Path(__file__).parents[1]
MAX_TEXT = 6000
"""The maximum number of characters; in a longer program, most changes are far apart."""
WHOLE = 0.2
"""The share of mutants of whole programs; others are of single functions and those they name."""
MAX_TOKENS = 300
"""A find of more tokens is reduced only by lines."""

HOST_FOLDERS = ("golden/tfrt", "programs/run", "programs/source", "runtime")
ASYNC_FOLDERS = ("golden/async", "programs/run/compiled", "programs/failing", "tfrt_nb")

Chance = random.Random
Case = TypeVar("Case")
Piece = TypeVar("Piece")


class Net(ABC, Generic[Case]):
    """One kind of input. Cases are values: `make` and `run` depend only on their arguments."""

    name: str
    suffix: str
    weight = 1.0
    """The share of the time."""
    seconds = 0.1
    """The seconds after which a function is cancelled."""
    hang_seconds = HANG_SECONDS
    """A case that takes longer hangs."""

    @abstractmethod
    def make(self, chance: Chance) -> Case:
        """Create a case."""

    @abstractmethod
    def run(self, runner: Runner, case: Case, chance: Chance) -> list[str]:
        """Run a case in a child, and return its problems."""

    @abstractmethod
    def content(self, case: Case) -> bytes:
        """Return a case as a file, which `of_file` converts back."""

    @abstractmethod
    def of_file(self, data: bytes, name: str) -> Case:
        """Return the case in a file."""

    @abstractmethod
    def smaller(self, case: Case, fails: Callable[[Case], bool]) -> Case:
        """Return a smaller case that fails in the same way."""


class BefNet(Net[BefMutant | bytes]):
    """Files with wrong records, sections, or bytes."""

    suffix = ".bef"

    def __init__(self, name: str, weight: float, seconds: float, *, compiled: bool) -> None:
        """Create the net.

        With `compiled`, its files have a section of compiled functions, and running one takes much
        longer.
        """
        self.name, self.weight, self.seconds = name, weight, seconds
        self._compiled = compiled

    @functools.cached_property
    def _corpus(self) -> BefCorpus:
        paths = [*files_of("golden/tfrt", "*.bef"), *files_of("runtime", "*.mlir")]
        folders = ("programs/run", "golden/async", "tfrt_nb/compiled/both")
        paths += [path for folder in folders for path in files_of(folder, "*.mlir")]
        files = {}
        for path in paths:
            if "malformed" in path.name:
                continue
            data = path.read_bytes() if path.suffix == ".bef" else _translated(path)
            if data and len(data) < MAX_TEXT and has_compiled(data) == self._compiled:
                files[f"{path.parent.name}/{path.name}"] = data
        return BefCorpus(files, sorted(standard_kernels()))

    def make(self, chance: Chance) -> BefMutant | bytes:
        return self._corpus.choose(chance)

    def _data(self, case: BefMutant | bytes) -> bytes:
        return case if isinstance(case, bytes) else self._corpus.data(case)

    def run(self, runner: Runner, case: BefMutant | bytes, chance: Chance) -> list[str]:
        data = self._data(case)

        def act(runner: Runner) -> None:
            runner.run_program(Program.from_bef(data, "mutant.bef"), chance)

        return runner.case(act, may_leak=may_leak(data.decode(errors="replace")))

    def content(self, case: BefMutant | bytes) -> bytes:
        return self._data(case)

    def of_file(self, data: bytes, name: str) -> BefMutant | bytes:
        return data

    def smaller(
        self, case: BefMutant | bytes, fails: Callable[[BefMutant | bytes], bool]
    ) -> BefMutant | bytes:
        if not isinstance(case, bytes):
            origin = case.origin

            def with_steps(steps: Sequence[tuple[int, int]]) -> BefMutant:
                return BefMutant(origin, tuple(steps))

            case = with_steps(minimise(case.steps, lambda steps: fails(with_steps(steps))))
        data = self._data(case)
        try:
            module = records_of(data)
        except TfrtError:
            return data
        kept = minimise(kernels_of(module), lambda kept: fails(with_kernels(module, kept)))
        return with_kernels(module, kept) if fails(with_kernels(module, kept)) else data


class TextNet(Net[str]):
    """Programs with wrong tokens and lines."""

    suffix = ".mlir"

    def __init__(self, name: str, folders: Sequence[str], weight: float, seconds: float) -> None:
        self.name, self.weight, self.seconds = name, weight, seconds
        self._folders = folders

    @functools.cached_property
    def _texts(self) -> list[str]:
        return all_texts(*self._folders)

    @functools.cached_property
    def _parts(self) -> list[str]:
        return sorted({part for text in self._texts for part in parts(text)})

    def make(self, chance: Chance) -> str:
        text = chance.choice(self._texts if chance.random() < WHOLE else self._parts)
        if chance.random() < 0.1:
            return damaged(text, chance)
        return mutate(text, self._parts, chance)

    def run(self, runner: Runner, case: str, chance: Chance) -> list[str]:
        def act(runner: Runner) -> None:
            runner.run_program(Program.from_source(case, "mutant.mlir"), chance)

        return runner.case(act, may_leak=may_leak(case))

    def content(self, case: str) -> bytes:
        return case.encode(errors="surrogatepass")

    def of_file(self, data: bytes, name: str) -> str:
        return data.decode(errors="surrogatepass")

    def smaller(self, case: str, fails: Callable[[str], bool]) -> str:
        lines = minimise(case.split("\n"), lambda kept: fails("\n".join(kept)))
        text = "\n".join(lines)
        pieces = tokens(text)
        if len(pieces) > MAX_TOKENS:
            return text
        return "".join(minimise(pieces, lambda kept: fails("".join(kept))))


class CallsNet(BefNet):
    """Files that no compiler would write: every kernel is called with anything."""

    def __init__(self) -> None:
        super().__init__("calls", 1.0, 0.02, compiled=False)

    @functools.cached_property
    def _kernels(self) -> list[Kernel]:
        return kernels_to_call()

    def make(self, chance: Chance) -> BefMutant | bytes:
        return random_file(self._kernels, chance)


class AbiNet(Net[list[Step]]):
    """Calls of the async runtime's C functions."""

    name, suffix, weight = "abi", ".abi", 1.0

    def make(self, chance: Chance) -> list[Step]:
        return random_steps(chance)

    def run(self, runner: Runner, case: list[Step], chance: Chance) -> list[str]:
        return run_steps(runner, case, chance)

    def content(self, case: list[Step]) -> bytes:
        return json.dumps(case).encode()

    def of_file(self, data: bytes, name: str) -> list[Step]:
        return [(str(name), int(a), int(b), int(c)) for name, a, b, c in json.loads(data)]

    def smaller(self, case: list[Step], fails: Callable[[list[Step]], bool]) -> list[Step]:
        return minimise(case, fails)


class CommandNet(Net[tuple[list[str], str]]):
    """Command lines of `tfrt-nb`; a case is the words and the program they refer to."""

    name, suffix, weight = "command", ".command", 1.0
    # A command has its own clock.
    hang_seconds = 2 * PATIENCE * COMMAND_SECONDS

    @functools.cached_property
    def _texts(self) -> list[str]:
        return all_texts(*HOST_FOLDERS, *ASYNC_FOLDERS)

    def make(self, chance: Chance) -> tuple[list[str], str]:
        return random_command(chance), program_of(self._texts, chance)

    def run(self, runner: Runner, case: tuple[list[str], str], chance: Chance) -> list[str]:
        runner.ran += 1
        return run_command(*case)

    def content(self, case: tuple[list[str], str]) -> bytes:
        return json.dumps(case, indent=1).encode()

    def of_file(self, data: bytes, name: str) -> tuple[list[str], str]:
        words, text = json.loads(data)
        return list(words), str(text)

    def smaller(
        self, case: tuple[list[str], str], fails: Callable[[tuple[list[str], str]], bool]
    ) -> tuple[list[str], str]:
        words = minimise(case[0], lambda kept: fails((kept, case[1])))
        return words, "\n".join(
            minimise(case[1].split("\n"), lambda kept: fails((words, "\n".join(kept))))
        )


class MagicNet(TextNet):
    """Cells with `%%tfrt`, its options, and the related magics, in one IPython per child."""

    suffix = ".ipy"

    def __init__(self) -> None:
        super().__init__("magic", (*HOST_FOLDERS, *ASYNC_FOLDERS), 1.0, 0.3)

    def make(self, chance: Chance) -> str:
        return random_cell(self._texts, chance)

    def run(self, runner: Runner, case: str, chance: Chance) -> list[str]:
        return runner.case(lambda runner: notebook().run(runner, case), may_leak=True)


class RandomNet(TextNet):
    """Random programs that must do the same however they are run."""

    # Five runs, and kernels with a delay of 100 ms may follow each other in a loop.
    hang_seconds = 5 * ENOUGH_SECONDS

    def __init__(
        self,
        name: str,
        weight: float,
        write: Callable[[Chance], str],
        compare: Callable[[Runner, str, Chance], None],
        queues: Sequence[str] = ALL_QUEUES,
        *,
        may_leak: bool = False,
    ) -> None:
        super().__init__(name, (), weight, 0.1)
        self._write, self._compare = write, compare
        self._queues, self._may_leak = queues, may_leak

    def make(self, chance: Chance) -> str:
        return self._write(chance)

    def run(self, runner: Runner, case: str, chance: Chance) -> list[str]:
        def act(runner: Runner) -> None:
            self._compare(runner, case, chance)

        return runner.case(act, queues=self._queues, may_leak=self._may_leak)


def minimise(
    pieces: Sequence[Piece], fails: Callable[[list[Piece]], bool], *, seconds: float = 60.0
) -> list[Piece]:
    """Return a part of `pieces`, in order, for which `fails` still holds.

    No piece of it can be omitted, unless the seconds ran out. The algorithm is that of Zeller and
    Hildebrandt, Simplifying and Isolating Failure-Inducing Input (2002).
    """
    until = time.monotonic() + seconds
    kept, chunk = list(pieces), max(1, len(pieces) // 2)
    while time.monotonic() < until:
        start, has_changed = 0, False
        while start < len(kept) and time.monotonic() < until:
            attempt = kept[:start] + kept[start + chunk :]
            if fails(attempt):
                kept, has_changed = attempt, True
            else:
                start += chunk
        if chunk > 1:
            chunk = max(1, chunk // 2)
        elif not has_changed:
            break
    return kept


@functools.cache
def notebook() -> Notebook:
    """Return the instance of this child."""
    return Notebook()


BY_HAND = (LEAKS_ON_PURPOSE, "async.runtime.", "add_ref", "drop_ref", "ret_handle")


def may_leak(text: str) -> bool:
    """Return whether a program may leak objects: it counts by hand, or it is meant to leak."""
    return any(word in text for word in BY_HAND)


def files_of(folder: str, pattern: str) -> list[Path]:
    """Return the files of a test folder and its subfolders, in order."""
    return sorted((TESTS / folder).rglob(pattern))


def all_texts(*folders: str) -> list[str]:
    """Return the short programs in the folders."""
    paths = [path for folder in folders for path in files_of(folder, "*.mlir")]
    texts = [path.read_text(errors="surrogateescape") for path in paths]
    return [text for text in texts if len(text) < MAX_TEXT]


def _translated(path: Path) -> bytes:
    """Return the program's BEF file; empty if the program is rejected."""
    try:
        return Program.from_source(path.read_text(), path.name).bef
    except (TfrtError, ValueError):  # rejected programs are mutated as text
        return b""


def has_compiled(data: bytes) -> bool:
    """Return whether a valid file has compiled functions."""
    return bool(BefFile.load(data).compiled)


@functools.cache
def all_nets() -> dict[str, Net]:  # type: ignore[type-arg]
    """Return the nets by name."""
    nets: list[Net] = [  # type: ignore[type-arg]
        BefNet("bef", 4.0, 0.02, compiled=False),
        BefNet("compiled-bef", 1.0, 0.1, compiled=True),
        CallsNet(),
        TextNet("host", HOST_FOLDERS, 2.0, 0.1),
        TextNet("async", ASYNC_FOLDERS, 4.0, 0.15),
        AbiNet(),
        CommandNet(),
        MagicNet(),
        RandomNet("random-host", 0.6, host_program, on_every_queue),
        RandomNet("random-scalars", 0.6, tiered_program, on_both_tiers),
        RandomNet("random-async", 0.4, async_program, as_interpreted),
        RandomNet("random-counted", 0.2, counted_program, counted),
        RandomNet("random-passes", 0.4, passed_program, after_passes),
        RandomNet("random-host-passes", 0.4, passed_host_program, host_after_passes),
        RandomNet("random-explored", 0.4, golden_or_racy, explored, queues=(QUEUE,)),
        RandomNet("documents", 0.5, document_program, is_whole, may_leak=True),
        RandomNet("random-simulated", 0.1, scalar_program, simulated),
    ]
    return {net.name: net for net in nets}
