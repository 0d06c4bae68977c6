"""The explorer's scenarios find bugs that are planted into the core, one at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.runtime.native.mutants.core_mutants import MUTANTS, Mutant

PLUGIN = "tests.runtime.native.mutants.planting"
ROOT = Path(__file__).parents[4]
TESTS_FAILED = 1
"""Pytest's exit status; a mutant that cannot be planted ends with another one."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_scenario_fails_when(mutant: Mutant) -> None:
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-xq"]
    run = subprocess.run(
        [*command, "--tb=line", *mutant.scenarios],
        cwd=ROOT,
        env={**os.environ, "TFRT_NB_MUTANT": mutant.name},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert run.returncode == TESTS_FAILED, run.stdout + run.stderr
