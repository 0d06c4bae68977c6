"""Standard kernels over tensors.

`arguments` (what they stand on), `tensors`, `tensor_shapes`, `btf`, `coo`; of the CPU backend `cpu_elementwise`, `cpu_reductions`, `cpu_matmul`,
`cpu_convolution`.
"""
