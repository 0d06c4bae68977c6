"""The native core: AsyncValue, executor and work queues over raw addresses.

Every function here is plain Python in the subset that Numba compiles, and touches shared memory only
through `memory`.  Compiled, it runs without the GIL; uncompiled, the same text runs on a simulated
memory under the interleaving explorer.

Read in this order: `memory` (what an access is), `layouts` (the structs), `async_value`,
`events` (the log of watched runs), `tasks` and `blocking_pool` (work queues), `ready`, `waiters`, `delivery`, `activation` and `endings` (one call of a function, and
where its values go), `kernel_calls`, `sharing`, `starting` and `executor` (the run loop),
`scalar_kernels`; `tensors`, `tensor_loops`, `tensor_arguments`, `tensor_kernels` and `tensor_products`
(the native halves of tensor kernels), `user_kernels`, `python_functions`; `sync_layouts`, `sync_values`, `sync_frames` and
`sync_interpreter` (sync functions); `compiled_kernels`, `async_objects`, `async_groups`,
`async_awaiting`, `async_interrupts`, `async_buffers` and `async_abi` (compiled coroutines); then
`loaded` and `library` (how it is loaded), `lowering`, `tensor_lowering`, `collecting`, `build`, `compiling` (how it is
compiled and cached), `machines`, `prebuilding` (and linked for wheels); `simulator` (how it is explored).
"""
