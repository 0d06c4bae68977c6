"""Passes on async programs: lowering to coroutines, reference counting, parallel loops.

Stands on `dialects`.  `pipeline` has the passes in the order in which they run, `notation` reads a pipeline of
MLIR's syntax; xDSL's own passes are known there, too.

- Before lowering: `desugar_proposal`, `number_functions`, `convert_linalg_to_parallel_loops` with `linear_loops`,
  `async_parallel_for` with `parallel_compute`, `parallel_reduction`, `index_math` and `constants`; `expand_buffers`,
  `expand_selects`, `outline_jit` (regions of host programs).
- Refusals and guards: `check_async`, `check_buffers`, `guard_operations`, `guard_buffers`, `guard_views`,
  `interruptible_loops`, `propagate_failures`; `errors`.
- Lowering: `await_in_calls`, `async_func_to_async_runtime`, `async_to_async_runtime`, `convert_scf_to_cf`, on
  `coroutines`, `awaiting`, `outline` and `structure` (equal task bodies).
- Speed: `call_directly`, `run_straight` with `rests`, `elide_coroutines`.
- Reference counting: `async_runtime_ref_counting`, `async_ref_counting`, `async_runtime_policy_based_ref_counting`,
  `async_runtime_ref_counting_opt`, `drop_on_error_paths`, `mark_explicit_counts`, on `reference_counts`,
  `shared_exits` and `liveness`.
- Host programs: `streams` (which kernels run together) and `print_streams`.
- Shared: `control_flow` (blocks and branches), `call_graph`, `copying` (the copy that is compiled), `printing` (a
  module as `mlir-opt` shows it), `remarks`.
"""
