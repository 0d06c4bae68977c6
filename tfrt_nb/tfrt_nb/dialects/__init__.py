"""The operations, types and attributes of host programs, and their text.

Stands on xDSL.  Read in this order: `types`, `tables` (what kernels take and give), `control_flow`, `kernel_op` (operations
made from the tables), `catalog` (all of them by name).

- Text: `assembly` (short forms), `literals` (numbers), `attribute_printer` and `printer`, `fast_ir` (operations at a third
  of the usual cost).
- Checks: `definitions` (what MLIR checks), `crossing` (calls of compiled functions).
- `async_` is the async dialect, with the upstream dialects that its programs use.
"""

from tfrt_nb.dialects.printer import print_module

__all__ = ["print_module"]
