"""Line magics around `%%tfrt`."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class

from tfrt_magics.session import Session


@magics_class
class LineMagics(Magics):
    """`%tfrt_kernels` and `%tfrt_reset`."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._session = session

    @line_magic
    def tfrt_kernels(self, line: str) -> None:
        """List the kernels that a program may use.

        `%tfrt_kernels add` lists those with `add` in their name, `%tfrt_kernels tfrt.*.i32` those
        that match.  The notebook's own kernels are among them.
        """
        # Here, because %load_ext loads no runtime.
        from tfrt_runtime.kernels.standard import available_kernels

        names = matching(available_kernels(), line.strip())
        print("\n".join(names) if names else f"no kernel's name has {line.strip()!r} in it")

    @line_magic
    def tfrt_reset(self, line: str) -> None:
        """Cancel what runs, and close every host; the next cell starts afresh."""
        self._session.close()
        print("%%tfrt: every run is stopped and every host is closed")


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match `pattern`, or contain it when it has no wildcard, in order."""
    wanted = pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    return sorted(name for name in names if fnmatchcase(name, wanted))
