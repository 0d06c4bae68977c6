"""Standard kernels over values that are no tensors.

`scalars`, `effects`, `functions`, `strings`, `test_kernels` with `benchmark_report`.
"""
