"""The operations, types, and attributes of host programs, and their text.

Every module but `tables` builds on xDSL. Read in this order: `types` (and short forms), `tables`
(the kernels' operands and results), `control_flow`, `kernel_op` (operations built from the tables),
`catalog` (all of them by name).

- Text: `literals` (numbers), `attribute_printer` and `printer`, `fast_ir` (creates operations at a
  third of the usual cost).
- Checks: `definitions` (MLIR's checks of operations), `crossing` (calls of compiled functions).
- `async_` is the async dialect, with the upstream dialects that its programs use.
"""
