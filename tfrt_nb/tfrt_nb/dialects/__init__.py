"""The operations, types and attributes of host programs, and their text.

Read in this order: `types` and `signatures` (what kernels take and give, as tables), the tables of
the dialects (`tfrt`, `tfrt_test`, `tensor`, `vt`), `control_flow`, `kernel_op` (operations made
from the tables), `catalog` (all of them by name), `printer`.  `async_` is the async dialect.
"""

from tfrt_nb.dialects.printer import print_module

__all__ = ["print_module"]
