"""Displayed values and runs, kept live on the page.

Read in this order: `lines` (values as lines, pure functions), `values_run` (lines that change, as
an output that is live), `reprs` (what Python shows of values and runs at one moment), `python_run`
(batches and runs that Python started, as boards), `watching` (which runs a cell will show),
`widgets` (all of these as ipywidgets, loaded when the first one is created; the modules that pages
load are in `static/`), `audience` (who looks at an output), `display` (which objects are shown
live, and for whom), `formatters` (how IPython calls this package).
"""
