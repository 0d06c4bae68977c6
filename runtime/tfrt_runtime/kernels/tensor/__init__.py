"""Standard kernels over tensors.

`arguments` (what they stand on), `tensors`, `tensor_shapes`, `btf`; of the CPU backend
`cpu_elements`, `cpu_matmul`, `cpu_convolution`.
"""
