"""Programs from Python: functions that are traced, and kernels that are called one by one.

A function of `@program` runs once with stand-ins for its arguments.  What it does with them, operators
and calls of kernels, becomes the text of a program with the Python lines as locations.
"""
