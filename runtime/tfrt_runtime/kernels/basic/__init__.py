"""Standard kernels over values other than tensors.

`scalars`, `effects`, `functions` (calls of functions, and recovering from errors), `strings`,
`test_kernels` with `benchmark_report`.
"""
