"""The execution of a function call, from its first kernel to its last result.

This package depends on `queues`.  Read in this order:

- `decoding`: writes a function's records and slots when a program is loaded.
- `activation`: the state of a call, and its life cycle.
- `delivery`: how results get into registers.
- `kernel_calls`: how one kernel runs.  `in_order`: how sync functions run.  `frame`: how a kernel
  accesses its arguments and results.
- `executor`: the run loop.
- `machine_calls` and `hot_calls`: calls to functions that are machine code.
"""
