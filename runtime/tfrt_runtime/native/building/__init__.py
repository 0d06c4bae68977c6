"""How the core becomes machine code.

`entries` says what it exports.  `lowering` and `tensor_lowering` make LLVM IR of it, `build` a shared object of that.
"""
