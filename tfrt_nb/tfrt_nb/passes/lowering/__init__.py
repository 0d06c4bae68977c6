"""From the async dialect to coroutines and runtime calls, as MLIR describes it.

`desugar_proposal` reads the seed's spellings; `number_functions` makes numbers of functions that
are values. `await_in_calls` makes async functions of those that wait in a task, by their
`call_graph`.

`async_func_to_async_runtime` and `async_to_async_runtime` build the coroutines: `outline` moves
bodies of tasks out, and finds equal ones, `task_counts` has the references that programs count at
tasks, `coroutines` the frame and the suspension points. `propagate_failures` makes errors results
of plain functions, `convert_scf_to_cf` ends with blocks and branches.
"""
