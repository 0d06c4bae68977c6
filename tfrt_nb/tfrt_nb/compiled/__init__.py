"""The functions of a program that become machine code: an `async.func`, or a `func.func` that ends
in a return.

Stands on the passes and the JIT, which say what an async function is and how it gets there.  Read
in this order: `division` (which functions these are, what host functions see of them, both kinds in
one BEF file), `interface` (what a run knows of them) and `signatures` (that, from the IR), `module`
(their stages, their code), `kernels` (their code as kernels, which host functions call, and each as
a host function of one call; what they share on a host).
"""
