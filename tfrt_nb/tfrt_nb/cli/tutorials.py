"""Implement `tfrt-nb tutorials`, which opens a copy of the tutorials in JupyterLab.

In a wheel, the notebooks are in the package. In a checkout, they are in the folder `notebooks`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import tfrt_nb
from tfrt_nb.cli.files import EXIT_OK
from tfrt_runtime.diagnostics import TfrtError, error

START = "tutorials.ipynb"
"""The page that lists the tutorials."""


def execute(options: argparse.Namespace) -> int:
    """Copy the tutorials and open them, and return JupyterLab's exit status.

    Raises:
        TfrtError: if the folder has a file with the same name and other contents, or JupyterLab is
            not installed.
    """
    folder = Path(options.folder)
    print(f"{copy_tutorials(folder)} files copied to {folder}", flush=True)
    if not options.open:
        return EXIT_OK
    if find_spec("jupyterlab") is None:
        raise TfrtError(error("JupyterLab is not installed: pip install 'tfrt-nb[lab]'"))
    # In a container, the user is often root. By default, JupyterLab refuses to run as root.
    root = ["--allow-root"] if os.geteuid() == 0 else []
    # With this option, the address that JupyterLab prints leads to the start page, in case no
    # browser opens.
    page = f"--LabApp.default_url=/lab/tree/{START}"
    command = [sys.executable, "-m", "jupyterlab", *root, page, str(folder)]
    return subprocess.run(command, check=False).returncode


def sources() -> list[Path]:
    """Return the notebooks, and the pages and pictures that they show.

    Raises:
        TfrtError: if the package was installed without them.
    """
    package = Path(tfrt_nb.__file__).parent
    for folder in (package / "tutorials", package.parents[1] / "notebooks"):
        if (folder / START).exists():
            endings = (".ipynb", ".md", ".svg")
            return sorted(path for path in folder.iterdir() if path.suffix in endings)
    raise TfrtError(error("this installation has no tutorials"))


def copy_tutorials(folder: Path) -> int:
    """Copy the missing files to the folder, and return their number. Copy either all or none.

    Raises:
        TfrtError: if a learner's file would be lost, or the folder cannot be written.
    """
    missing, changed = [], []
    try:
        for source in sources():
            target = folder / source.name
            if not target.exists():
                missing.append((source, target))
            elif not target.is_file() or target.read_bytes() != source.read_bytes():
                changed.append(target.name)
        if changed:
            named = ", ".join(changed[:3]) + (" …" if len(changed) > 3 else "")
            raise TfrtError(
                error(
                    f"{folder} has files that differ from the tutorials: {named}; nothing was copied."  # noqa: E501
                    f" To go on with them: jupyter lab {folder}."
                    " For a fresh copy, name another folder: tfrt-nb tutorials FOLDER"
                )
            )
        folder.mkdir(parents=True, exist_ok=True)
        for source, target in missing:
            target.write_bytes(source.read_bytes())
    except OSError as problem:
        raise TfrtError(error(f"cannot write '{folder}': {problem.strerror}")) from None
    return len(missing)
