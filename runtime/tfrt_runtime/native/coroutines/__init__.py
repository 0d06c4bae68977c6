"""The async runtime for compiled code: tokens, values, groups, and the C functions that use them.

A *token* becomes available when an operation completes.  A *value* is a token with bytes of
storage.  A *group* becomes available when all of its members have become available.  An *object* is
a token, a value, or a group.

This package depends on `calls`.  Read in this order: `async_objects` (objects and their life
cycle), `async_groups`, `async_awaiting`, `async_interrupts`, `async_buffers`, `async_abi` (the C
functions).
"""
