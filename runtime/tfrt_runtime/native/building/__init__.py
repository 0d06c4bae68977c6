"""Compilation of the core to machine code.

`entries` lists the functions that the core exports.  `lowering` turns the core's Python source into
LLVM IR.  `build` compiles that IR into a shared object for one of the `machines`.  `python_api`
connects the core to CPython on machines whose pointers are narrower than a word (64 bits).
"""
