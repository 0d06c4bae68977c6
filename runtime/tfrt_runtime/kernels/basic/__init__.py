"""Standard kernels over values that are no tensors.

`scalars`, `effects`, `functions`, `strings`, `lifetimes`, `test_kernels` with `benchmark_report`.
"""
