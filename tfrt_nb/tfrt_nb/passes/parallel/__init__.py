"""`scf.parallel` as tasks.

`async_parallel_for` cuts the iterations into blocks, makes the function that computes one, and
starts them; `parallel_reduction` gives each block a part of the result; `index_math` emits their
arithmetic.
"""
