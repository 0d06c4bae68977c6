"""How the core becomes machine code.

`entries` says what it exports.  `collecting`, `lowering` and `tensor_lowering` make LLVM IR of it, `build` a
shared object for one of `machines`; `compiling` has that done for this machine, `prebuilding` for a wheel.
"""
