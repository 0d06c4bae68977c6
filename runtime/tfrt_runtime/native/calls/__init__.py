"""A call of a function, from its first kernel to its last result.

Depends on `queues`.  Read in this order: `activation` (and its life cycle), `delivery` (of results
to registers), `kernel_calls`, `frame` (the kernel's view), `executor` (the run loop),
`machine_calls` (of functions that are machine code).
"""
