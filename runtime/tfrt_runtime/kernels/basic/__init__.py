"""Standard kernels for values other than tensors.

`scalars`, `effects`, `functions` (calls of functions, and recovery from errors), `strings`, and
`test_kernels` with `benchmark_report`.
"""
