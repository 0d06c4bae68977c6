"""Check explorations: a real run's outcome is among the explored ones.

The exploration may also say that some outcomes are missing.
"""

from __future__ import annotations

import random

from tests.fuzz.after_passes import golden_or
from tests.fuzz.random_racy_programs import random_racy_program
from tests.fuzz.random_runs import ENOUGH_SECONDS
from tests.fuzz.running import Runner

from tfrt_nb.programs import Program
from tfrt_nb.schedules.explore import Explorer, comparable_outcome
from tfrt_nb.schedules.outcomes import Outcome

HOST_SHARE = 0.3
RUNS = 200
QUEUE = "mstd:4"
MOST_SCHEDULES = 400
SECONDS = 2.0


def racy_program(chance: random.Random) -> str:
    """Return a small program of either kind whose prints and stores are unordered."""
    if chance.random() < HOST_SHARE:
        return racy_host_program(chance)
    return random_racy_program(chance.getrandbits(40), chance.randrange(2, 7))


def racy_host_program(chance: random.Random) -> str:
    """Return a program of numbers, some of which come late, with prints.

    Each print has its own chain, or that of another print.
    """
    lines, numbers, chains = [], ["%one"], ["%c"]
    for step in range(chance.randrange(2, 6)):
        number, chain = chance.choice(numbers), chance.choice(chains)
        match chance.randrange(3):
            case 0:
                lines.append(
                    f'%n{step} = "tfrt_test.async_add.i32"({number}, %one) : (i32, i32) -> i32'
                )
                numbers.append(f"%n{step}")
            case _:
                lines.append(f"%c{step} = tfrt.print.i32 {number}, {chain}")
                chains.append(f"%c{step}")
    body = "\n  ".join(["%one = tfrt.constant.i32 1", "%c = tfrt.new.chain", *lines])
    returned = ", ".join(chains)
    types = ", ".join(["!tfrt.chain"] * len(chains))
    return f"func @main() -> ({types}) {{\n  {body}\n  tfrt.return {returned} : {types}\n}}\n"


golden_or_racy = golden_or(racy_program, "async", "tfrt")


def explored(runner: Runner, text: str, chance: random.Random) -> None:
    """Check explorations that claim to be complete against 200 real runs.

    Every outcome of the real runs must be among the explored ones.
    """
    program = Program.from_source(text, "random.mlir")
    functions = [one.name for one in program.functions if not one.argument_types]
    function = "main" if "main" in functions else chance.choice(functions)
    with Explorer(program, function) as explorer:
        found = explorer.explore(most=MOST_SCHEDULES, seconds=SECONDS)
    if not found.is_complete:
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
    return comparable_outcome(run, run.output)
