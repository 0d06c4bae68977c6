"""Types of the IR from the spellings that a file has."""

from __future__ import annotations

from xdsl.ir import Attribute

from tfrt_nb.convert.errors import ConversionError
from tfrt_nb.dialects.catalog import new_context
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.source.attributes import AttributeParser
from tfrt_nb.source.text import SourceText
from tfrt_runtime.diagnostics import OpaqueLocation, error


class TypeReader:
    """Reads spellings, each once.  `file_name` is where they come from."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._types = {str(value_type): value_type for value_type in WORDS.values()}

    def read(self, spelling: str) -> Attribute:
        """The type that is written so.

        Raises:
            ConversionError: none is.
        """
        value_type = self._types.get(spelling)
        if value_type is None:
            value_type = self._types[spelling] = self._parse(spelling)
        return value_type

    def _parse(self, spelling: str) -> Attribute:
        try:
            parser = AttributeParser(SourceText(spelling, self._file_name), new_context())
            value_type = parser.parse_type()
            if str(value_type) != spelling:
                raise ValueError(f"reads as {value_type}")
        except Exception as reason:  # xDSL's parsers raise all kinds for text that is none
            message = f"{spelling!r} is not a type"
            raise ConversionError(error(message, OpaqueLocation(self._file_name))) from reason
        return value_type
