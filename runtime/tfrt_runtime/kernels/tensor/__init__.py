"""Standard kernels over tensors.

`tensors`, `tensor_shapes`, `tensor_buffers`, `btf`, `coo`; of the CPU backend `cpu_elementwise`, `cpu_reductions`,
`cpu_matmul`, `cpu_convolution`, on `blas` and `quiet` (numpy without warnings).
"""
