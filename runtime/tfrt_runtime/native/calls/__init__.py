"""A call of a function, from its first kernel to its last result.

This package depends on `queues`.  Read in this order:

- `decoding`: the tables of a function, for the loader.
- `activation`: the state of a call, and its life cycle.
- `delivery`: how results get into registers.
- `kernel_calls`: how one kernel runs.  `in_order`: sync functions.  `frame`: a kernel's arguments
  and results.
- `executor`: the run loop.
- `machine_calls` and `hot_calls`: calls of functions that are machine code.
"""
