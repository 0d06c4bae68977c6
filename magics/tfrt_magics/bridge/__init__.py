"""From worker threads to the notebook: snapshots of a run, and the thread that takes them.

Stands on the compiler and the runtime.  Read in this order: `run` (what is needed of the runtime, as Protocols),
`snapshot` (a run at one moment, as a value), `log`, `job` (the functions of a cell, one after another), `record` (a
job as a run document that grows), `channel` (how kernel and pages speak), `live` (runs that pages see), `pump` (the
one thread that polls them), `interrupts`, `value_view` (a value and its text), `page_program`, `explored` (all
schedules as a document), `stepping` (runs by hand), `compiled`, `runtime` (the Protocols, kept by the real compiler
and runtime).
"""
