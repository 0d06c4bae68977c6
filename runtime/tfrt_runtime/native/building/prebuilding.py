"""The core as linked shared objects: `python -m tfrt_runtime.native.building.prebuilding FOLDER [MACHINE ...]`.

Numba writes the IR once, it is the same for all machines.  What the build hook of the project calls.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

from tfrt_runtime.native.building import build
from tfrt_runtime.native.building.machines import MACHINES, Machine
from tfrt_runtime.native.loaded import SOURCES, sources_digest


def object_for(machine: Machine, wrappers: list[str]) -> bytes:
    """The core as an object file for every processor of a kind."""
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, opt=3, reloc="pic", codemodel="small"
    )
    header = f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n'
    module = build.linked(wrappers, machine, lambda text: llvm.parse_assembly(header + text))
    stamp = f'@{SOURCES} = constant [64 x i8] c"{sources_digest()}"\n'
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.link_in(llvm.parse_assembly(header + stamp))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


def link(object_file: Path, shared: Path) -> None:
    """Any linker that knows the machine: LLVM's knows all.

    Raises:
        subprocess.CalledProcessError: if it fails; it has said why on standard error.
    """
    found = shutil.which("ld.lld")
    command = [found] if found else [sys.executable, "-m", "ziglang", "ld.lld"]
    flags = ["-shared", "--strip-all", "--hash-style=gnu", "-z", "now", "-z", "noexecstack"]
    subprocess.run([*command, *flags, "-o", str(shared), str(object_file)], check=True)


def show(line: str) -> None:
    """A line of progress: of the entries every hundredth."""
    number, slash, _ = line.partition("/")
    if not slash or int(number) % 100 == 1:
        print(f"native core: {line}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> None:
    """Write `core-MACHINE.elf` into a folder for each machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    folder, machines = Path(arguments[0]), arguments[1:] or list(MACHINES)
    wrappers = build.collect(show)
    for name in machines:
        show(f"optimising for {name}")
        made = folder / f"core-{name}.o"
        made.write_bytes(object_for(MACHINES[name], wrappers))
        link(made, made.with_suffix(".elf"))
        made.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
