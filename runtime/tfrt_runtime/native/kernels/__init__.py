"""Native kernels: each reads arguments and writes results through its frame.

- `scalar_kernels`, `control_kernels`, `async_kernels`, `benchmark_kernel`.
- Of tensors: `tensor_loops`, `tensor_kernels`, `tensor_products`.
- Of users: `user_kernels` (machine code), `compiled_kernels` (functions of the async dialect); those of Python are in
  `python`.
"""
