"""The async runtime of compiled code: tokens, values, and groups, and the C functions for them.

It depends on `calls`.  Read in this order: `async_objects` (and their life cycle), `async_groups`,
`async_awaiting`, `async_interrupts`, `async_buffers`, `async_abi` (their C functions).
"""
