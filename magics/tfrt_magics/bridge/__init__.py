"""The bridge from worker threads to the notebook: it takes snapshots of runs and publishes them.

The package builds on the compiler and the runtime. Read the modules in this order:

- `snapshot` describes the state of a run at one moment, as an immutable value.
- `compiled` finds the objects that compiled functions left behind.
- `runtime` wraps the compiler and the runtime for the notebook.
- `job` runs the functions of a cell one after another.
- `record` keeps a run document that grows with its job, and writes run documents to files.
- `broadcast` answers requests from pages if the kernel has no control channel.
- `live` keeps the runs that pages see, and defines the protocol between pages and kernel.
- `cell_run` defines the Python value of a cell: its run.
- `pump` runs the only thread that publishes changes.
- `explored` writes the outcomes of all schedules of a function as a document.
"""
