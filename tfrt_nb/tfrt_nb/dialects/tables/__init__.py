"""The kernels of each dialect as tables.

`signatures` defines a row; the tables are `tfrt`, `tfrt_test`, and `tensor`. Nothing here needs
xDSL, which takes over a second to import the first time.
"""

from collections.abc import Mapping

from tfrt_nb.dialects.tables import tensor, tfrt, tfrt_test
from tfrt_nb.dialects.tables.signatures import Signature

SIGNATURES: Mapping[str, Signature] = {
    **tfrt.SIGNATURES,
    **tfrt_test.SIGNATURES,
    **tensor.SIGNATURES,
}
"""The signature of each kernel that has one."""
