"""From worker threads to the notebook: snapshots of a run, and the thread that takes them.

Builds on the compiler and the runtime.  Read in this order: `snapshot` (a run at one moment, as a
value), `compiled` (what compiled functions leave behind), `runtime` (the real compiler and runtime,
as the notebook uses them), `job` (the functions of a cell, one after another), `saved` (run
documents as files hold them), `record` (a job as a run document that grows), `broadcast` (questions
of pages without a control channel), `live` (runs that pages see, and how pages and kernel speak),
`cell_run` (a job as the value of its cell), `pump` (the one thread that publishes what is new),
`explored` (all schedules as a document).
"""
