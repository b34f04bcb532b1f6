"""Runs a command and measures it: processor time, wall time, memory. Knows nothing of what is run."""

import os
import select
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass
from tempfile import TemporaryFile


class Failed(Exception):
    """A command did not do what it should."""


@dataclass
class Run:
    """One run of a command, or the medians of several: seconds, and MiB at the peak."""

    cpu: float
    wall: float
    total: float
    anonymous: float
    output: str = ""


def run(command, timeout, cold=()):
    """Runs `command`. `cold` are files that are to be read from the disk. "total" is what the kernel counted at the
    peak, file pages included; "anonymous" is the heap alone, looked at every 5 ms, after a tenth of a second every 20: to look
    takes time from a program that keeps all processors busy, and from no other."""
    for path in cold:
        forget(path)
    begun = time.monotonic()
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=output, stderr=errors, process_group=0)
        end = os.pidfd_open(child.pid)
        anonymous = 0
        while not select.select([end], [], [], 0.005 if time.monotonic() - begun < 0.1 else 0.02)[0]:
            anonymous = max(anonymous, anonymous_kib(child.pid))
            if time.monotonic() - begun > timeout:
                os.killpg(child.pid, signal.SIGKILL)
                os.wait4(child.pid, 0)
                os.close(end)
                child.returncode = -signal.SIGKILL  # what Popen would wait for is gone
                raise Failed(f"did not end in {timeout} s: {shown(command)}")
        wall = time.monotonic() - begun
        os.close(end)
        _, code, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(code)
        if child.returncode:
            errors.seek(0)
            raise Failed(f"exit code {child.returncode}: {shown(command)}\n{errors.read().strip()[-1000:]}")
        output.seek(0)
        text = output.read()
    return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, anonymous / 1024, text)


def shown(command):
    text = " ".join(command)
    return text if len(text) < 300 else text[:300] + "…"


def anonymous_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def forget(path):
    """Removes a file from the page cache, as far as the kernel does it. The file is read first: the host of a virtual machine
    takes back memory that is free for a while, and the first program to touch it waits for every page of it."""
    with open(path, "rb", buffering=0) as file:
        piece = bytearray(1 << 20)
        while file.readinto(piece):
            pass
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def median(runs):
    """Medians of times, maxima of memory."""
    return Run(
        statistics.median(r.cpu for r in runs),
        statistics.median(r.wall for r in runs),
        max(r.total for r in runs),
        max(r.anonymous for r in runs),
        runs[-1].output,
    )
