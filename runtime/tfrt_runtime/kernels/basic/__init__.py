"""Standard kernels for values that are not tensors.

- `scalars`, `strings`
- `effects`: kernels that print, sleep, or read the host's state
- `functions`: kernels that call functions, and recovery from errors
- `test_kernels`, with `benchmark_report`
"""
