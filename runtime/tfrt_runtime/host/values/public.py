"""Classes that show their users what these may rely on."""

from __future__ import annotations


class Public(type):
    """The class of classes whose `dir` has the names in their `_public` and the methods of the
    language.

    `help`, Tab, and the reference ask `dir`; members for the runtime's own modules stay out of it.
    """

    _public: tuple[str, ...]

    def __dir__(cls) -> list[str]:
        special = [name for name in super().__dir__() if name.startswith("__")]
        # Operators that only say what to write instead have no help either.
        hidden = getattr(cls, "_refuse_operator", None)
        return [*cls._public, *(n for n in special if getattr(cls, n, None) is not hidden)]
