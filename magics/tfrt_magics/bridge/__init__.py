"""From worker threads to the notebook: what a run looks like, and who looks when.

Read in this order: `run` (what is needed of the runtime, as Protocols), `snapshot` (a run at one
moment, as a value), `stream` (two snapshots to one message), `log`, `job` (the functions of a cell,
one after another), `pump` (the one thread that looks at jobs and feeds their boards), `interrupts`,
`runtime` (the Protocols, kept by the real compiler and runtime).
"""
