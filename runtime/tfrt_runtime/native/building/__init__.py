"""Compilation of the core to machine code.

`entries` lists its exports.  `lowering` turns the core into LLVM IR, and `build` turns that IR into
a shared object for one of `machines`; `python_api` adapts the core to CPython on machines whose
pointers are narrower than words.
"""
