"""Tensors of strings."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_runtime.host.tensor.shapes import TensorShape


@dataclass(frozen=True, slots=True)
class StringHostTensor:
    """Strings in a shape, row by row.

    Raises:
        ValueError: if their number is not the shape's.
    """

    shape: TensorShape
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.values) != self.shape.element_count:
            raise ValueError(
                f"Incorrect number of values for the tensor: {len(self.values)}, "
                f"but expected {self.shape.element_count}"
            )

    def __str__(self) -> str:
        values = ", ".join(f'"{value}"' for value in self.values)
        return f"StringHostTensor shape = {self.shape}, values = [{values}]"
