"""Standard kernels over values that are no tensors.

`scalars`, `effects`, `functions`, `mapping`, `recovering` (from errors), `strings`, `test_kernels`
with `benchmark_report`.
"""
