"""Displayed values and runs, kept live on the page.

Read in this order: `lines` (values as lines; pure functions), `values_run` (changing lines as a
live output), `reprs` (static HTML of values and runs), `python_run` (batches and runs that Python
started, as boards), `watching` (which runs a cell will show), `widgets` (all of these as
ipywidgets, loaded when the first widget is created; the modules that pages load are in `static/`),
`audience` (who views an output), `display` (which objects are shown live, and for whom), and
`formatters` (how IPython calls this package).
"""
