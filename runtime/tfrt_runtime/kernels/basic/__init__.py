"""Standard kernels over values that are no tensors.

`scalars`, `effects`, `functions` (calls of functions, and recovering from errors), `strings`,
`test_kernels` with `benchmark_report`.
"""
