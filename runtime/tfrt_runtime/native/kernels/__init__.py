"""Native kernels.  Each kernel reads its arguments and writes its results through its frame.

- `scalar_kernels`, `control_kernels`, `async_kernels`, `benchmark_kernel`.
- Tensors: `tensor_loops`, `tensor_kernels`, `tensor_products`.
- Users' functions: `user_kernels` (machine code), `compiled_kernels` (functions in the async
  dialect).

Kernels that are Python functions are in the package `python`.  In a kernel's docstring, "data: ..."
lists the data words in the kernel's record.
"""
