"""The bridge from worker threads to the notebook: snapshots of runs, and the thread that takes
these.

Builds on the compiler and the runtime.  Read in this order: `snapshot` (a run at one moment, as a
value), `compiled` (leftover objects of compiled functions), `runtime` (the real compiler and
runtime, as the notebook uses them), `job` (the functions of a cell, one after another), `record` (a
job as a growing run document, and run documents in files), `broadcast` (page requests without a
control channel), `live` (runs that pages see, and the protocol between pages and kernel),
`cell_run` (a job as the value of its cell), `pump` (the only thread that publishes changes), and
`explored` (all schedules as a document).
"""
