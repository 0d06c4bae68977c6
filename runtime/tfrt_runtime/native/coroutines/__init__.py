"""The async runtime of compiled code: tokens, values and groups, and the C functions over them.

Stands on `calls`.  Read in this order: `async_objects` (with their life), `async_awaiting`, `async_interrupts`,
`async_buffers`, `async_abi` (their C functions).
"""
