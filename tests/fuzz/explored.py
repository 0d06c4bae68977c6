"""Explored programs: what a real run does is among the outcomes, unless the exploration says that some are missing."""

from __future__ import annotations

import random

from tests.fuzz.after_passes import golden_or
from tests.fuzz.random_async_programs import random_program as random_async_program
from tests.fuzz.random_programs import random_program as random_host_program
from tests.fuzz.random_runs import ENOUGH_SECONDS, extras
from tests.fuzz.running import Runner

from tfrt_nb.documents.previews import clean
from tfrt_nb.programs import Program
from tfrt_nb.schedules.explore import Explorer, Outcome, _text

RUNS = 200
QUEUE = "mstd:4"
MOST_SCHEDULES = 400
SECONDS = 2.0


def racy_program(chance: random.Random) -> str:
    """A small program of either kind whose prints have no order."""
    number, most = chance.getrandbits(40), chance.randrange(2, 7)
    if chance.random() < 0.7:
        return random_async_program(number, most, is_racy=True)
    text = random_host_program(number, extras(), most)
    lines = []
    for line in text.splitlines():
        if "= tfrt.print." in line:  # after nothing
            operands, _, _ = line.rpartition(", ")
            name = f"%free{len(lines)}"
            lines += [f"  {name} = tfrt.new.chain", f"{operands}, {name}"]
        else:
            lines.append(line)
    return "\n".join(lines)


golden_or_racy = golden_or(racy_program, "async", "tfrt")


def explored(runner: Runner, text: str, chance: random.Random) -> None:
    """No outcome of 200 real runs is missing in an exploration that says it has tried all orders."""
    program = Program.from_source(text, "random.mlir")
    functions = [one.name for one in program.functions if not one.argument_types]
    function = "main" if "main" in functions else chance.choice(functions)
    with Explorer(program, function) as explorer:
        found = explorer.explore(most=MOST_SCHEDULES, seconds=SECONDS)
    if found.early or not found.is_complete:
        return
    for _ in range(RUNS):
        outcome = _real(runner, program, function)
        if outcome not in found.outcomes:
            known = "".join(one.text for one in found.outcomes)
            runner.problems.append(
                f"an outcome is missing among {len(found.outcomes)}\n{outcome.text}known\n{known}"
            )
            return


def _real(runner: Runner, program: Program, function: str) -> Outcome:
    runner.ran += 1
    run = program.run(runner.host(QUEUE), function, output=lambda _: None)
    if not run.wait(ENOUGH_SECONDS):
        runner.problems.append("a random program does not end\n")
        run.cancel()
    errors = tuple(sorted(clean(one.message) for one in run.diagnostics))
    return Outcome(tuple(map(_text, run.results)), run.output, errors)
