"""Explored programs: what a real run does is among the outcomes, unless the exploration says that some are missing."""

from __future__ import annotations

import random

from tests.fuzz.after_passes import golden_or
from tests.fuzz.random_runs import ENOUGH_SECONDS
from tests.fuzz.running import Runner

from tfrt_nb.documents.previews import clean
from tfrt_nb.programs import Program
from tfrt_nb.schedules.explore import Explorer, Outcome, _text

HEAD = """func.func private @printI64(i64)
func.func @main() {
  %zero = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %cell = memref.alloc() : memref<1xi64>
  memref.store %none, %cell[%zero] : memref<1xi64>
  """
PRINT = "func.call @printI64({}) : (i64) -> ()"
RUNS = 200
QUEUE = "mstd:4"
MOST_SCHEDULES = 400
SECONDS = 2.0


def racy_program(chance: random.Random) -> str:
    """A small program of either kind whose prints and stores have no order."""
    return racy_host_program(chance) if chance.random() < 0.3 else racy_async_program(chance)


def racy_host_program(chance: random.Random) -> str:
    """Numbers, some of which come late; each print has a chain of its own, or the one of another print."""
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


def racy_async_program(chance: random.Random) -> str:
    """Tasks that print, and read and write one cell; each depends on some of those before it."""
    lines, tokens = [], [""]
    for number in range(chance.randrange(2, 5)):
        before = sorted(set(chance.choices(tokens, k=2)) - {""})
        lines.append(f"%t{number} = async.execute [{', '.join(before)}] {{".replace("[] ", ""))
        lines += [line for _ in range(chance.randrange(1, 3)) for line in _act(chance, tokens)]
        lines += ["  async.yield", "}"]
        tokens.append(f"%t{number}")
        if chance.random() < 0.2:
            lines += _act(chance, tokens)
    lines += [f"async.await {token} : !async.token" for token in tokens[1:]]
    for line in ("%n = memref.load %cell[%zero] : memref<1xi64>", PRINT.format("%n")):
        lines.append(line)
    return HEAD + "\n  ".join(lines) + "\n  return\n}\n"


def _act(chance: random.Random, tokens: list[str]) -> list[str]:
    """Something that others may notice, or a wait."""
    name = f"%v{chance.getrandbits(40)}"
    load = f"{name} = memref.load %cell[%zero] : memref<1xi64>"
    constant = f"{name} = arith.constant {chance.randrange(9)} : i64"
    match chance.choice(("print", "print", "load", "store", "await", "task")):
        case "print":
            return [constant, PRINT.format(name)]
        case "load":
            return [load, PRINT.format(name)]
        case "store":
            return [constant, f"memref.store {name}, %cell[%zero] : memref<1xi64>"]
        case "await" if tokens[1:]:
            return [f"async.await {chance.choice(tokens[1:])} : !async.token"]
        case _:
            return [constant, f"{name}t = async.execute {{", PRINT.format(name), "async.yield", "}"]


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
