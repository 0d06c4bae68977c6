"""Standard kernels over tensors.

`arguments` (their basis), `tensors`, `tensor_shapes`, `btf`; for the CPU backend, `cpu_elements`
and `cpu_matmul`.
"""
