"""Add the native core, linked for each machine, to wheels and source distributions.

Wheels also get the tutorials and the page's modules. A checkout, or an editable install of it, gets
no core: it compiles its own whenever the sources have changed. TFRT_NB_PREBUILT=no leaves the core
out; TFRT_NB_PREBUILT=x86_64 compiles it for that machine only.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EXTENSION = "share/jupyter/labextensions/tfrt-nb-labextension"
PAGES = "magics/tfrt_pages.py"
PACKAGE = "runtime/tfrt_runtime/native"
TOOLS = ["llvmlite>=0.50,<0.51", "numba>=0.68,<0.69", "numpy>=2.0,<3", "ziglang>=0.13,<0.18"]


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the core once, bundles the page's modules, and adds both to the build."""

    PLUGIN_NAME = "custom"

    @property
    def _shipped(self) -> list[Path]:
        """The cores that came with the sources, if these are a source distribution."""
        return sorted(Path(self.root, PACKAGE).glob("core-*"))

    @property
    def _machines(self) -> list[str]:
        """The machines to compile for; [] means all."""
        named = os.environ.get("TFRT_NB_PREBUILT", "")
        return named.replace(",", " ").split()

    @property
    def _is_wanted(self) -> bool:
        return self._machines != ["no"]

    def dependencies(self) -> list[str]:
        """Return the compiler's packages, if the core has to be compiled.

        Hatch asks for them before it is known what is built, so `make` sets TFRT_NB_PREBUILT=no.
        """
        return TOOLS if self._is_wanted and not self._shipped else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to the build."""
        if self.target_name == "wheel":
            folder = Path(self.root, "build", "pages")
            bundler = runpy.run_path(str(Path(self.root, PAGES)))
            bundler["write_pages"](folder)
            build_data["shared_data"][str(folder)] = EXTENSION
        if self.target_name == "wheel" and version != "editable":
            widgets = Path(self.root, "build", "widgets")
            bundler["write_widgets"](widgets)
            build_data["force_include"][str(widgets)] = "tfrt_magics/live/static"
            pages = [
                path
                for path in Path(self.root, "notebooks").iterdir()
                if path.suffix in (".ipynb", ".md", ".svg")
            ]
            # Hatch strips the first "tfrt_nb/", as it does for the package itself.
            build_data["force_include"].update(
                {str(path): f"tfrt_nb/tfrt_nb/tutorials/{path.name}" for path in sorted(pages)}
            )
        if version == "editable" or not (self._shipped or self._is_wanted):
            return
        made = self._shipped or self._compile()
        inside = "tfrt_runtime/native" if self.target_name == "wheel" else PACKAGE
        build_data["force_include"].update({str(path): f"{inside}/{path.name}" for path in made})

    def _compile(self) -> list[Path]:
        """Compile the core once for all builds from the same sources.

        pip asks for metadata first, which is a build, too.
        """
        machines = self._machines
        folder = Path(self.root, "build", "-".join(["core", self._digest(), *machines]))
        if not folder.exists():
            self.app.display_info("compiling the native core, about a minute")
            partial = folder.with_suffix(".tmp")
            partial.mkdir(parents=True, exist_ok=True)
            # Not by PYTHONPATH: pip's build isolation uses it, and hides installed packages.
            script = f"import sys; sys.path.insert(0, {str(Path(self.root, 'runtime'))!r})\n"
            script += "from tfrt_runtime.native.building.build import build_for_wheel\n"
            script += "build_for_wheel(*sys.argv[1:])"
            command = [sys.executable, "-c", script, str(partial), *machines]
            # The order of Numba's variables depends on its sets, and so on the hash seed.
            subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)
            partial.rename(folder)
        return sorted(folder.glob("core-*"))

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for source in sorted(Path(self.root, PACKAGE).rglob("*.py")):
            digest.update(source.name.encode() + source.read_bytes())
        return digest.hexdigest()[:16]
