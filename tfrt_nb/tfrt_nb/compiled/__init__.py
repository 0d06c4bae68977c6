"""The functions of a program that become machine code.

Such a function is an `async.func`, or a `func.func` that ends in a return.

The package builds on the passes and the JIT, which define async functions and compile them. Read in
this order: `division` (selects these functions, declares them for host functions, and puts both
kinds in one BEF file), `interface` (the facts about them that a run needs) and `signatures` (which
reads these facts from the IR), `module` (their stages, their code), `kernels` (their code as
kernels that host functions call, each kernel as a host function with a single call, and the state
that they share on a host).
"""
