"""The native core for this machine, made here: by Numba and llvmlite, once, into the cache.

A checkout comes here, and an installation without a core for this machine: `library` knows.  The cache is
keyed by the text of the core's modules and the versions of llvmlite and Numba.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native.loaded import HERE, Progress, sources_digest


def fingerprint() -> str:
    """Changes whenever the core may be another one: what the key of the cache is made of."""
    digest = hashlib.sha256(sources_digest().encode())
    for part in (
        sys.implementation.cache_tag or "",
        version("llvmlite"),
        version("numba"),
    ):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:32]


def version(package: str) -> str:
    """What stands in the package's module of its version: unlike `importlib.metadata`, which takes
    30 ms, this imports neither the package nor a parser of e-mails.

    Raises:
        TfrtError: if it is not installed.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise TfrtError(
            error(
                f"this installation has no native core that fits, and no {package} to compile it:"
                " pip install 'tfrt-nb[native]'"
            )
        )
    return Path(found.origin).with_name("_version.py").read_text()


def build_core(progress: Progress) -> bytes:
    """Compile the core in another process, from the sources that this one has.

    Raises:
        TfrtError: if the compiler fails; its last words are in the message.
    """
    import subprocess  # with the core from the cache, a process starts without them
    import tempfile

    # The package is found where it was found here: the other process may have other paths by itself.
    command = [sys.executable, "-c", _BUILD, str(HERE.parents[1]), *sys.path]
    try:
        with tempfile.TemporaryFile() as output:
            with subprocess.Popen(
                command, stdout=output, stderr=subprocess.PIPE, text=True, errors="replace"
            ) as compiler:
                lines = []
                for line in compiler.stderr or ():
                    lines.append(line.rstrip())
                    progress(line.rstrip())
            output.seek(0)
            made_of, _, code = output.read().partition(b"\n")
    except OSError as problem:
        raise TfrtError(error(f"the native core could not be compiled: {problem}")) from None
    if compiler.returncode != 0:
        last = "\n".join(lines[-20:])
        raise TfrtError(error(f"the native core could not be compiled:\n{last}"))
    if made_of.decode() != fingerprint():
        raise TfrtError(
            error("the sources of the native core changed while it was compiled: start again")
        )
    return code


_BUILD = """
import sys
sys.path[:] = sys.argv[1:]
from tfrt_runtime.native.building.compiling import fingerprint
before = fingerprint()
from tfrt_runtime.native.building.build import main
main(before)
"""
