"""Displayed values and runs, kept up to date on the page.

Read the modules in this order:

- `lines` shows values as lines, with pure functions.
- `values_run` publishes lines as an output that changes.
- `reprs` writes static HTML of values and runs.
- `python_run` shows batches and runs that Python started, as boards.
- `watching` finds the runs that a cell will show.
- `widgets` contains ipywidgets for all of these. The first widget loads it; `static/` contains the
  modules that pages load.
- `audience` finds out who views an output.
- `display` decides which objects are shown live, and for whom.
- `formatters` connects this package to IPython.
"""
