"""The functions of a program that become machine code.

Such a function is an `async.func`, or a `func.func` that ends in a return.

The package builds on the passes and the JIT, which define async functions and compile them. Read in
this order: `division` selects these functions, declares them for host functions, and puts both
kinds in one BEF file. `interface` has the facts about them that a run needs, and `signatures` reads
these facts from the IR. `module` has their stages and their code. `kernels` makes their code
available as kernels that host functions call, wraps each kernel in a host function with a single
call, and has the state that they share on a host.
"""
