"""Native kernels: each reads arguments and writes results through its frame.

- `scalar_kernels`, `control_kernels`, `async_kernels`, `benchmark_kernel`.
- Tensors: `tensor_loops`, `tensor_kernels`, `tensor_products`.
- User code: `user_kernels` (machine code), `compiled_kernels` (functions of the async dialect);
  kernels in Python are in `python`.
"""
