"""Simpler forms of operations, by the names of the operations.

Each pattern looks at one operation and says whether it has changed anything.  The modules are named by
dialect; `table` puts their patterns together in the order in which they are tried.
"""
