"""The operations, types, and attributes of host programs, and their syntax.

Every module except `tables` uses xDSL. Read the modules in this order: `types` (types and their
short forms), `tables` (each kernel's operands and results), `control_flow`, `kernel_op` (operations
built from the tables), `catalog` (all operations by name).

- Parsing and printing: `literals` (numbers), `attribute_printer` and `printer`, and `fast_ir`
  (creates operations at a third of the usual cost).
- Checks: `definitions` (MLIR's checks of operations), `crossing` (types of compiled functions that
  host programs call).
- `async_` is the async dialect, with the upstream dialects that its programs use.
"""
