"""The same work with other tools, a module each, with a tuple of works; `native.cpp` answers for C++.

A module imports its tool and the standard library, `inputs`, `sizes` and `work`, and nothing of ours: peers
have an environment of their own, and each is optional.
"""
