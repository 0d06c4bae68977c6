"""What waits for what: `idleness` (whether a queue is quiescent), `kernel_waits` (whether kernels that wait can go
on), `blocking` (kernels that keep a worker).
"""
