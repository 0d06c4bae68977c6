"""Load a BEF file into native memory.

- `type_check` reads attributes, and checks the types of kernel arguments.
- `resolve` makes the record of each kernel. `python_kernels` contains the records of Python
  kernels. `native_functions` adds bodies to native functions, and determines which functions are
  sync.
- `decode` lays out the functions in native memory.
"""
