"""Test that the explorer's scenarios find bugs planted into the core, one at a time."""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from tests.runtime.native.mutants.core_mutants import MUTANTS, Mutant

PLUGIN = "tests.runtime.native.mutants.planting"
ROOT = Path(__file__).parents[4]
PATIENCE = 250

# Each scenario runs in its own process, which imports the core with its bug. Pytest is imported
# once, before these processes start.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["pytest", "asyncio"])


def run_scenarios(mutant: Mutant, output: Path) -> None:
    """Run pytest in this process, with the bug of `mutant`; write what it prints to `output`."""
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(ROOT)
    os.environ["TFRT_NB_MUTANT"] = mutant.name
    arguments = ["-p", PLUGIN, "-p", "no:cacheprovider", "-xq", "--tb=line"]
    sys.exit(pytest.main([*arguments, *mutant.scenarios]))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_scenario_fails_when(mutant: Mutant, tmp_path: Path) -> None:
    output = tmp_path / "output"
    run = processes.Process(target=run_scenarios, args=(mutant, output))
    run.start()
    run.join(PATIENCE)
    run.kill()
    run.join()
    # An exception before the tests, which shows that nothing was planted, ends the process with the
    # same exit status.
    said = output.read_text()
    assert run.exitcode == pytest.ExitCode.TESTS_FAILED and "1 failed" in said, said
