"""Passes on programs, by what they are for.

Rooms: `lowering` turns the async dialect into coroutines, `buffers` makes accesses to memory simple
and safe, `safety` refuses or guards what else would end the process, `counting` keeps references
right, `parallel` splits loops into tasks, `speed` has the shortcuts of `-O1`.

`pipeline` knows the order in which a run has them, and reads pipelines as MLIR writes them;
canonicalize, cse and dce are xDSL's.  `log_events` lets watched programs say which blocks run,
`interleave` lets explored ones change places between effects.  `printing` shows a module as
`mlir-opt` does, `errors` is what passes say.  All passes use the steps of `control_flow`.

For host programs: `streams` decides which kernels run one after the other, `print_streams` shows
that, `outline_jit` makes functions of the regions of `tfrt.jit`.
"""
