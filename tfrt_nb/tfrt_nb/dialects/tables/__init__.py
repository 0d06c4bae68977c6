"""The kernels of each dialect as tables.

`signatures` defines a row. The tables are `tfrt`, `tfrt_test`, and `tensor`. This package does not
import xDSL, whose first import takes over a second.
"""

from collections.abc import Mapping

from tfrt_nb.dialects.tables import tensor, tfrt, tfrt_test
from tfrt_nb.dialects.tables.signatures import Signature

SIGNATURES: Mapping[str, Signature] = {
    **tfrt.SIGNATURES,
    **tfrt_test.SIGNATURES,
    **tensor.SIGNATURES,
}
