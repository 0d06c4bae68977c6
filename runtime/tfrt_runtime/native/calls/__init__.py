"""A call of a function, from its first kernel to its last result.

Stands on `queues`.  Read in this order: `activation` (with its life), `delivery` (of results to registers), `kernel_calls`,
`frame` (what a kernel sees), `executor` (the run loop), `machine_calls` (of functions that are machine code).
"""
