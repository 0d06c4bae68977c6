"""Passes on programs, grouped by purpose.

The packages: `lowering` turns the async dialect into coroutines. `buffers` makes memory accesses
simple and safe. `safety` rejects or guards all other operations that would crash the process.
`counting` keeps reference counts correct. `parallel` splits loops into tasks. `speed` has the
shortcuts of `-O1`.

`pipeline` defines the order in which a run applies the passes, and parses pipelines in MLIR's
notation; canonicalize, cse, and dce are xDSL's. `log_events` makes watched programs report which
blocks run, and makes explored programs yield between effects. `printing` prints a module as
`mlir-opt` does. All passes use `control_flow`, which has the errors, the remarks, and the shared
helpers.

For host programs: `streams` decides which kernels run one after another, `print_streams` reports
that, and `outline_jit` outlines the regions of `tfrt.jit` into functions.
"""
