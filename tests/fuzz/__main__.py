"""Try mutants until the time is up, and show and keep the finds: `make fuzz`.

    python -m tests.fuzz --minutes 10 --seed 1 --nets bef,async
    python -m tests.fuzz --nets bef --count 1000        # that many cases, always the same
    python -m tests.fuzz --replay FILE ...              # run files as a child does, three times
                                                        # each (or --times)

The exit status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.children import Outcome, Problem, Work, run_child
from tests.fuzz.nets import Net, all_nets, minimise
from tests.fuzz.running import QUEUES, Runner

from tfrt_runtime.host.process import native_process

BATCH_SECONDS = 10.0
"""The approximate lifetime of a child: its finds may depend on its earlier cases."""
BATCH = 4000
MAX_BEFORE = 400
"""The maximum number of a child's earlier cases that may be the reason for its death."""
REPLAY_SECONDS = 0.1
FINDS = Path("build") / "fuzz-finds"


@dataclass
class Find:
    """One kind of problem, and how often it was seen."""

    net: str
    problem: Problem
    files: list[Path]
    count: int = 1


@dataclass
class Tally:
    """Counts of what a net has done."""

    tried: int = 0
    ran: int = 0
    seconds: float = 0.0
    deaths: int = 0
    hangs: int = 0
    leaks: int = 0
    exceptions: int = 0
    next: int = 0

    def add(self, outcome: Outcome) -> None:
        self.tried += outcome.tried
        self.ran += outcome.ran
        self.seconds += outcome.seconds
        for problem in outcome.problems:
            if problem.kind.startswith("death"):
                self.deaths += 1
            elif problem.kind.startswith(("hang", "a run does not end")):
                self.hangs += 1
            elif problem.kind == "leak":
                self.leaks += 1
            else:
                self.exceptions += 1


@dataclass
class Session:
    """One call of the command."""

    seed: str
    folder: Path
    minimised: bool = True
    finds: dict[tuple[str, str], Find] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Load the kinds of problems for which the folder has files: these are only counted."""
        if self._index.exists():
            for line in self._index.read_text().splitlines():
                net, kind, _, *paths = line.split("\t")
                self.finds[net, kind] = Find(net, Problem(kind, -1, ""), [*map(Path, paths)], 0)

    @property
    def _index(self) -> Path:
        """The file with the finds, tab-separated: net, kind, way to reproduce it, and files."""
        return self.folder / "INDEX.txt"

    def work(self, net: Net[Any]) -> Callable[[], Work]:
        """Return the function by which a child tries the case with a number."""

        def open_work() -> Work:
            runner = Runner(net.seconds)

            def work(number: int) -> tuple[list[str], int]:
                ran = runner.ran
                case = net.make(random.Random(f"{self.seed}/{net.name}/{number}"))
                chance = random.Random(f"{self.seed}/{net.name}/{number}/run")
                problems = net.run(runner, case, chance)
                return problems, runner.ran - ran

            return work

        return open_work

    def take(self, net: Net[Any], outcome: Outcome, first: int) -> None:
        """Record what a child found; reduce and keep a find of a new kind."""
        for problem in outcome.problems:
            key = net.name, problem.kind
            if key in self.finds:
                self.finds[key].count += 1
                continue
            self.finds[key] = Find(net.name, problem, [])
            say("")
            print(f"{net.name} {problem.case}: {problem.kind}", flush=True)
            self.finds[key].files = self.keep(net, problem, first)

    def keep(self, net: Net[Any], problem: Problem, first: int) -> list[Path]:
        """Write the smallest case found to do the same, or the cases one after another."""
        if problem.case < 0:
            return self._write(net, problem, [], "at the end of a child")
        case = net.make(random.Random(f"{self.seed}/{net.name}/{problem.case}"))
        if not self.minimised:
            return self._write(net, problem, [case], "as it was found")

        def fails(case: Any, times: int = 3) -> bool:
            return _fails_like(net, [case], problem.kind, times)

        if fails(case):
            try:
                small = net.smaller(case, fails)
            except Exception as failure:  # noqa: BLE001 - the find is worth more than its size
                print(f"  cannot be made smaller: {failure!r}")
                small = case
            return self._write(net, problem, [small], "alone")
        numbers = list(range(max(first, problem.case - MAX_BEFORE), problem.case + 1))
        made = {n: net.make(random.Random(f"{self.seed}/{net.name}/{n}")) for n in numbers}

        def fail_together(numbers: Sequence[int]) -> bool:
            return bool(numbers) and _fails_like(net, [made[n] for n in numbers], problem.kind, 1)

        if fail_together(numbers):
            numbers = minimise(numbers, fail_together, seconds=90)
            return self._write(net, problem, [made[n] for n in numbers], "one after the other")
        return self._write(net, problem, [case], "was seen once, and not again")

    def _write(self, net: Net[Any], problem: Problem, cases: list[Any], how: str) -> list[Path]:
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = f"{net.name}_{self.seed}_{max(problem.case, 0)}"
        paths = []
        for number, case in enumerate(cases):
            tail = f"_{number}" if len(cases) > 1 else ""
            path = self.folder / f"{stem}{tail}{net.suffix}"
            path.write_bytes(net.content(case))
            paths.append(path)
        with self._index.open("a") as index:
            print(net.name, problem.kind, how, *paths, sep="\t", file=index)
        command = f"python -m tests.fuzz --replay {' '.join(map(str, paths))}"
        note = (
            f"{problem.kind}\n{how}\n{command}\n"
            f"python -m tests.fuzz --seed {self.seed} --nets {net.name} --case {problem.case}\n\n"
        )
        (self.folder / f"{stem}.txt").write_text(note + problem.text, errors="replace")
        return paths


def _in_turn(
    cases: Sequence[tuple[Net[Any], Any]], seconds: float, queues: Sequence[str] = ()
) -> Callable[[], Work]:
    """Return the work of a child that runs cases one after another, repeatedly.

    The arguments are those of `Runner`.
    """

    def open_work() -> Work:
        runner = Runner(seconds, queues)

        def work(number: int) -> tuple[list[str], int]:
            net, case = cases[number % len(cases)]
            return net.run(runner, case, random.Random(f"again/{number}")), 0

        return work

    return open_work


def _fails_like(net: Net[Any], cases: Sequence[Any], kind: str, times: int) -> bool:
    """Return whether cases, run one after another in a new child, do the same again."""
    work = _in_turn([(net, case) for case in cases], net.seconds)
    outcome = run_child(range(len(cases) * times), work, hang_seconds=net.hang_seconds)
    return any(
        one.kind.partition(" in ")[0] == kind.partition(" in ")[0] for one in outcome.problems
    )


def replay(paths: Sequence[Path], times: int) -> Outcome:
    """Run files one after another in one child, repeatedly, on every queue.

    Runs that do not finish are cancelled.
    """
    nets = {
        net.suffix: net for net in reversed(all_nets().values())
    }  # the first net of each suffix wins
    cases = [(nets[p.suffix], nets[p.suffix].of_file(p.read_bytes(), p.name)) for p in paths]
    work = _in_turn(cases, REPLAY_SECONDS, QUEUES)
    return run_child(range(len(cases) * times), work, hang_seconds=20.0)


def show_replay(paths: Sequence[Path], times: int) -> int:
    """Run files, and report the problems of each.

    Files after one that ends the child are run in a new child.
    """
    left, count = list(paths), 0
    while left:
        outcome = replay(left, times)
        for problem in outcome.problems:
            name = left[problem.case % len(left)] if problem.case >= 0 else "at the end"
            print(f"{name}: {problem.kind}\n{problem.text}")
            count += 1
        if not outcome.has_ended_badly:
            break
        del left[outcome.last % len(left)]
    print(f"{len(paths)} files, {count} problems")
    return int(count > 0)


def say(text: str) -> None:
    """Print a line of progress over the last one."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def table(tallies: dict[str, Tally]) -> str:
    """Return a table of what was tried, net by net."""
    rows = [("net", "tried", "ran", "per s", "deaths", "hangs", "exceptions", "leaks")]
    rows += [
        (
            name,
            str(t.tried),
            str(t.ran),
            f"{t.tried / t.seconds:.0f}" if t.seconds else "-",
            *map(str, (t.deaths, t.hangs, t.exceptions, t.leaks)),
        )
        for name, t in tallies.items()
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in rows)


def prepare(nets: Sequence[Net[Any]]) -> None:
    """Import and load everything that children need, before the first child starts."""
    import tfrt_nb.compiled.kernels
    import tfrt_nb.convert.carried
    import tfrt_nb.jit.stages  # noqa: F401

    native_process()
    for net in nets:
        net.make(random.Random(0))
    gc.collect()
    gc.freeze()


def fuzz(
    session: Session,
    nets: Sequence[Net[Any]],
    tallies: dict[str, Tally],
    until: float,
    count: int | None,
) -> None:
    """Try cases of the nets in turn, by their weights, until the time is up or all are tried.

    `tallies`, by the nets' names, are up to date after each child, even if an interrupt ends the
    call.
    """
    while True:
        most = {net.name: 1 << 62 if count is None else int(count * net.weight) for net in nets}
        left = [net for net in nets if tallies[net.name].next < most[net.name]]
        if not left or time.monotonic() > until:
            return
        net = min(left, key=lambda net: tallies[net.name].seconds / net.weight)
        tally = tallies[net.name]
        end = min(most[net.name], tally.next + BATCH)
        seconds = min(BATCH_SECONDS, until - time.monotonic()) if count is None else BATCH_SECONDS
        outcome = run_child(
            range(tally.next, end),
            session.work(net),
            seconds=seconds,
            hang_seconds=net.hang_seconds,
        )
        session.take(net, outcome, tally.next)
        tally.next += max(1, outcome.tried)
        tally.add(outcome)
        tried = ", ".join(f"{name} {t.tried}" for name, t in tallies.items())
        say(f"{tried}; {len(session.finds)} finds")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--nets", default="", help="names with commas; default all")
    parser.add_argument("--count", type=int, help="cases of a net of weight 1, instead of minutes")
    parser.add_argument("--case", type=int, help="one case of one net")
    parser.add_argument("--finds", type=Path, default=FINDS, help="folder of what is found")
    parser.add_argument("--as-found", action="store_true", help="do not make finds small")
    parser.add_argument("--replay", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--times", type=int, default=3, help="how often each is replayed; default 3"
    )
    options = parser.parse_args(arguments)
    nets = all_nets()
    if options.replay:
        prepare([])
        return show_replay(options.replay, options.times)
    names = options.nets.replace(",", " ").split()
    if unknown := [name for name in names if name not in nets]:
        parser.error(f"no net is called {unknown[0]!r}; there are {', '.join(nets)}")
    chosen = [nets[name] for name in names] or list(nets.values())
    prepare(chosen)
    session = Session(options.seed, options.finds, not options.as_found)
    if options.case is not None:
        net = chosen[0]
        outcome = run_child([options.case], session.work(net), hang_seconds=net.hang_seconds)
        session.take(net, outcome, options.case)
        return int(bool(outcome.problems))
    forever = 1e12 if options.count is not None else time.monotonic() + 60 * options.minutes
    tallies = {net.name: Tally() for net in chosen}
    try:
        fuzz(session, chosen, tallies, forever, options.count)
        say("")
    except KeyboardInterrupt:
        say("Interrupted. Until then:\n")
    print(table(tallies))
    found = [find for find in session.finds.values() if find.count]
    for find in found:
        print(
            f"{find.net}: {find.problem.kind} ({find.count} times) {' '.join(map(str, find.files))}"
        )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
