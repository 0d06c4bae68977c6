"""Displayed values and runs, kept live on the page.

Read in this order: `pictures` (a tensor as a heat map), `lines` (values as lines, pure functions), `following` (lines that
change), `reprs` (what Python shows of values and runs at one moment), `widgets` (values and runs as ipywidgets, loaded
when the first is made; their pages' modules are in `static/`).
"""
