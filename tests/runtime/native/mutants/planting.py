"""A pytest plugin that imports the native core with the planted bug that `TFRT_NB_MUTANT` names.

Load it with `-p`, before the core is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from tests.runtime.native.mutants.core_mutants import MUTANTS, Mutant

NATIVE = "tfrt_runtime.native"


class _Loader(SourceFileLoader):
    """Compiles the changed source without reading or writing Python's cache."""

    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        source = self.mutant.applied(self.get_data(self.path).decode())
        return compile(source, self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != f"{NATIVE}.{self.mutant.module}":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None and spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin)
        spec.loader.mutant = self.mutant
        return spec


name = os.environ["TFRT_NB_MUTANT"]
[chosen] = [mutant for mutant in MUTANTS if mutant.name == name]
assert not any(module.startswith(NATIVE) for module in sys.modules), "the core is imported already"
sys.meta_path.insert(0, _Finder(chosen))

from tests.exploring import explorer

explorer.SHRINKING_SECONDS = 0.0  # no readable schedule is needed here
