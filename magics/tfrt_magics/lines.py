"""Line magics around `%%tfrt`."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class

from tfrt_magics.session import Session


@magics_class
class LineMagics(Magics):
    """`%tfrt_kernels`, `%async_leaks` and `%tfrt_reset`."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self._shell = shell
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
    def async_leaks(self, line: str) -> None:
        """List the tokens, values and groups that compiled programs have left behind.

        Each with the operation that made it, its place, its state, and who still holds it: what
        names of yours hold, such as that of `-o`, goes with them.  While a
        cell runs (`--no-wait`) the objects that it uses are among them.  `%config
        TFRT.check_references = False` leaves only groups to be seen.
        """
        objects = self._session.live_objects()
        if not objects:
            print("no async object is left over")
            return
        # Here, because %load_ext loads no runtime.
        from tfrt_magics.bridge.compiled import holders
        from tfrt_magics.bridge.names import held_by_names

        names = held_by_names(self._shell.user_ns)
        for one in objects:
            held = holders(one, names.get(one.address, ()))
            print(f"{one.location or 'somewhere'}: {one.kind}{_made_by(one.maker)}, {held}")

    @line_magic
    def tfrt_reset(self, line: str) -> None:
        """Cancel what runs, and close every host; the next cell starts afresh."""
        self._session.close()
        print("%%tfrt: every run is stopped and every host is closed")


def _made_by(maker: str | None) -> str:
    return f" of '{maker}'" if maker else ""


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match `pattern`, or contain it when it has no wildcard, in order."""
    wanted = pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    return sorted(name for name in names if fnmatchcase(name, wanted))
