"""Lower the async dialect to coroutines and runtime calls, as MLIR describes it.

`desugar_proposal` reads the spellings of the 2020 proposal. `number_functions` replaces function
values with numbers. `await_in_calls` uses the `call_graph` to turn functions that wait inside a
task into async functions. It also makes plain functions return errors as results, and finds the
parts of coroutines again after other passes.

`async_to_async_runtime` builds the coroutines: `outline` moves task bodies into functions, finds
equal ones, and tracks the references that programs count at tasks; `coroutines` builds the frame
and the suspension points.

Finally, `convert_scf_to_cf` creates blocks and branches.
"""
