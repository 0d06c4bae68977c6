"""How the core becomes machine code.

`entries` says what it exports.  `collecting`, `lowering` and `tensor_lowering` make LLVM IR of it, `build` one object,
`compiling` that of this machine; `machines` and `prebuilding` make those of a wheel.
"""
