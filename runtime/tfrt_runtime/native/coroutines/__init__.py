"""The async runtime of compiled code: tokens, values, and groups, and the C functions for them.

A *token* becomes available when an operation completes.  A *value* is a token with bytes of
storage.  A *group* becomes available when all of its members have become available.  An *object* is
a token, a value, or a group.

This package depends on `calls`.  Read in this order: `async_objects` (objects and their life
cycle), `async_groups`, `async_awaiting`, `async_interrupts`, `async_buffers`, `async_abi` (the C
functions).
"""
