"""Lower the async dialect to coroutines and runtime calls, as MLIR describes it.

- `desugar_proposal` replaces the operations of the 2020 proposal with today's operations.
- `number_functions` replaces function values with numbers.
- `await_in_calls` turns a function that waits into an async function if a task calls it. It uses
  `call_graph`. It also makes plain functions return errors as results.
- `async_to_async_runtime` builds the coroutines.
- `outline` moves task bodies into functions, and lets equal bodies share a function. It also
  handles the references that a program itself counts at tasks.
- `coroutines` builds a coroutine's frame and its suspension points.
- `convert_scf_to_cf` turns structured control flow into blocks and branches.
"""
