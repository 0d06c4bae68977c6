"""A call of a function, from its first kernel to its last result.

It depends on `queues`.  Read in this order: `activation` (and its life cycle), `delivery` (of
results to registers), `kernel_calls`, `in_order` (sync functions), `frame` (the kernel's view),
`executor` (the run loop), `machine_calls` and `hot_calls` (calls of functions that are machine
code).
"""
