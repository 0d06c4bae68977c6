"""Compiled functions: the functions of a program that become machine code.

Such a function is an `async.func`, or a `func.func` that ends in `func.return`. The package builds
on the passes and the JIT, which define async functions and compile them. Read the modules in this
order:

- `division` finds the compiled functions, declares them for host functions, and puts both kinds in
  one BEF file.
- `interface` contains the facts about compiled functions that a run needs, and `signatures` reads
  these facts from the IR.
- `module` contains their stages and their code.
- `kernels` makes each compiled function a kernel that host functions can call. It also has the
  state that compiled functions share on a host.
"""
