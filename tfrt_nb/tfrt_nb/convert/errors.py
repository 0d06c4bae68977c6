"""Why a conversion cannot be done."""

from __future__ import annotations

from tfrt_runtime.diagnostics import TfrtError


class ConversionError(TfrtError):
    """A module that no file can hold, or a file that is no program.

    `diagnostics` has every reason.
    """
