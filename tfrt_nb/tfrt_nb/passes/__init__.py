"""Passes on programs, grouped by purpose.

Passes for compiled functions are in six packages. `lowering` turns the async dialect into
coroutines. `buffers` makes memory accesses simple and safe. `safety` rejects or guards other
operations that could crash the process. `counting` adds and drops references. `parallel` splits
loops into tasks. `speed` contains the passes that only `-O1` runs.

Passes for host programs: `streams` decides which kernels run one after another, `print_streams`
reports that decision, and `outline_jit` moves the regions of `tfrt.jit` into functions.

`copying` copies a program for these passes, without attributes that only passes may set. `pipeline`
defines the order in which a run applies the passes, and parses pipelines in MLIR's notation. Some
of those passes, such as canonicalization, are part of xDSL. `log_events` inserts calls that report
which blocks of a program run, and calls at which an explored program can switch tasks. `printing`
prints a module as `mlir-opt` does. `control_flow` contains helpers for all passes, including errors
and remarks.
"""
