"""The native core as machine code for this machine, made here: by Numba and llvmlite, once, into the cache.

A checkout comes here, and an installation without a core for this machine: `library` knows.  The cache is
keyed by the text of the core's modules, the versions of llvmlite and Numba, and the processor.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import llvmlite.binding as llvm

from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native.loaded import HERE, Library, Progress, sources_digest


def processor_features() -> str:
    """What the code may use of this processor.

    Not its wide registers: the core has no loops for them, and pays for leaving them clean.
    """
    features: str = llvm.get_host_cpu_features().flatten()
    return features + ",-avx" if platform.machine() == "x86_64" else features


def target_machine() -> llvm.TargetMachine:
    """Code for the processor that this process runs on.

    Its parts must lie within 2 GiB of each other, as `Library` sees to: calls are shorter then.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=processor_features(),
        opt=3,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


def code_module(text: str) -> llvm.ModuleRef:
    """A module for this machine with the LLVM IR given."""
    machine = target_machine()
    header = f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n'
    return llvm.parse_assembly(header + text)


def object_code(module: llvm.ModuleRef) -> bytes:
    """Optimise a module as a whole and compile it to an object file."""
    machine = target_machine()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def fingerprint() -> str:
    """Changes whenever the object file may be another one: what the key of the cache is made of."""
    digest = hashlib.sha256(sources_digest().encode())
    for part in (
        sys.implementation.cache_tag or "",
        version("llvmlite"),
        version("numba"),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
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


def build_object(progress: Progress) -> bytes:
    """Compile the core in another process, from the sources that this one has.

    Raises:
        TfrtError: if the compiler fails; its last words are in the message.
    """
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


class CompiledHere(Library):
    """The core as an object file that llvmlite has loaded."""

    def __init__(self, code: bytes) -> None:
        # llvmlite's own memory manager puts code and data into one piece of memory.
        self._engine = llvm.create_mcjit_compiler(code_module(""), target_machine(), use_lmm=True)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def __getitem__(self, name: str) -> int:
        """The address of an entry.

        Raises:
            KeyError: if there is none of that name.
        """
        address = int(self._engine.get_function_address(name))
        if address == 0:
            raise KeyError(name)
        return address
