"""The runtime: it reads BEF files, and runs their functions, whose results are AsyncValues.

It does not depend on MLIR or on notebooks.  Read from the bottom up:

- `hooks`: functions that higher packages install for lower ones
- `diagnostics`: source locations, errors that carry a location, and the user's line in Python
- `cache`: compiled code in files
- `once`: objects that exist once per process
- `texts`: converting users' objects to text, in bounded time
- `bef`: the binary format of host programs
- `scalars` and `native_table`: the tables of scalar operations and of the other native kernels
- `native`: the core, which is machine code
- `host`: the core as Python objects
- `kernels`: functions that programs call by name
- `executor`: execution of host programs
- `async_runtime`: execution of compiled programs
"""
