"""Kernels by name: the registry, the standard kernels, and those that a user writes in Python.

Stands on `host`.  Read in this order:

- What a kernel is: `registry`, `frame` (what one sees of its call), `arguments` (checks), `signatures`.
- Kernels of users: `user` (`@kernel`), `annotations` (what they say about types), `outcomes` (what becomes of
  what a kernel returns and raises), `policies`, `event_loop` and `remote` (retries, time limits, coroutines,
  clusters), `numba_kernels` (native ones).
- Standard kernels, listed by `standard`: `scalars`, `effects`, `functions`, `strings`, `lifetimes`,
  `test_kernels` with `benchmark_report`; of tensors `tensors`, `tensor_shapes`, `tensor_buffers`, `btf`, `coo`;
  of the CPU backend `cpu_elementwise`, `cpu_reductions`, `cpu_matmul`, `cpu_convolution`, on `blas` and `quiet`
  (numpy without warnings).
"""
