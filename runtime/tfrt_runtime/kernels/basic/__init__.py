"""Standard kernels over values that are no tensors.

`scalars`, `effects`, `functions`, `recovering` (from errors), `strings`, `test_kernels` with `benchmark_report`.
"""
