"""The same work with other tools: a module for each, with a tuple of works.

`native.cpp` is the C++ peer. A module imports its tool, the standard library, `inputs`, `sizes`,
and `work`, but nothing of ours: peers have their own environment, and each is optional.
"""
