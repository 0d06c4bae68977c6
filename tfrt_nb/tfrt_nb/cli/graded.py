"""The process in which `tfrt-nb grade` checks one notebook's answers, which may be malicious.

    python -P -m tfrt_nb.cli.graded < REQUEST

REQUEST is a JSON object: `folder`, the bytes of `memory`, the `seconds` of processor time, the
`modules` with exercises, and `answers` as pairs of an exercise and a string. The process writes
lines to standard output. After the imports, it writes the first line, which names the missing
protections. Then it writes `[mark, hint]` in JSON for each answer, before the next answer runs.
Therefore, no answer can change earlier verdicts. The output of answers is discarded.

unshare(1) describes the namespaces. Without privileges, a process can create the other namespaces
only inside a new user namespace (man 7 user_namespaces). Containers and some distributions forbid
namespaces. Then only the limits apply.
"""

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path

_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38
_NAMESPACES = 0x10000000 | 0x00020000 | 0x40000000 | 0x20000000 | 0x08000000
"""CLONE_NEWUSER, NEWNS (mounts), NEWNET, NEWPID, and NEWIPC."""
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_NO_SUID_OR_DEVICES, _CAPABILITIES_VERSION = 2 | 4, 0x20080522
_FILE_SIZE, _PROCESSES, _LONGEST_HINT = 64 << 20, 128, 2000


def main() -> None:
    """Read the request, confine this process, grade, and exit.

    The exit does not wait for threads that are still running.
    """
    request = json.load(sys.stdin)
    results = os.fdopen(os.dup(1), "w")  # programs that an answer starts do not inherit it
    for descriptor in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), descriptor)
    _limit(request["memory"], request["seconds"])
    opened = _withhold(request["folder"])

    # Import this only now, because a process with threads, such as numpy's, cannot enter a user
    # namespace.
    from tfrt_nb.exercises.exercise import exercises, grade

    for module in request["modules"]:
        importlib.import_module(module)
    # Import the courses before the first line is written, because the time limit starts with it.
    exercises()
    print(opened, file=results, flush=True)
    for name, text in request["answers"]:
        verdict = grade(name, text)
        print(json.dumps([verdict.mark, verdict.hint[:_LONGEST_HINT]]), file=results, flush=True)
    os._exit(0)


def _limit(memory: int, seconds: int) -> None:
    """Set limits, which the operating system applies to this process and each child process."""
    # For RLIMIT_NPROC, Linux counts all tasks of the user, so add the existing tasks.
    tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
        (resource.RLIMIT_NPROC, tasks + _PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        # A process without privileges cannot raise its hard limit.
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _withhold(folder: str) -> str:
    """Continue in a new process that sees no network and no other processes.

    The new process can write only to `folder`. Return the missing protections. The intermediate
    processes pass on the exit status of the new process.
    """
    libc = ctypes.CDLL(None)
    user, group = os.geteuid(), os.getegid()
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if libc.unshare(_NAMESPACES):
        return "the network, other processes, files that you may write"
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)
    # The first process in the namespace is its init, which ignores signals, so the second process
    # grades. When the first one exits, the kernel kills all processes in the namespace.
    for _ in range(2):
        if child := os.fork():
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            os._exit(code if code >= 0 else 128 - code)
        libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    is_writable = libc.syscall(
        _MOUNT_SETATTR, _HERE, b"/", _RECURSIVE, (ctypes.c_uint64 * 4)(_READ_ONLY), 32
    )
    libc.mount(b"proc", b"/proc", b"proc", _NO_SUID_OR_DEVICES, None)
    for where in (os.fsencode(folder), b"/dev/shm"):
        libc.mount(b"tmpfs", where, b"tmpfs", _NO_SUID_OR_DEVICES, b"size=%d" % _FILE_SIZE)
    os.chdir(folder)
    # Without capabilities, even root cannot undo this, neither here nor in a new namespace.
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION), (ctypes.c_uint32 * 6)())
    return "files that you may write" if is_writable else ""


if __name__ == "__main__":
    main()
