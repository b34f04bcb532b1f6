"""A command of btfdb that is run and judged, and the figures of many."""

import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# No command may take longer, in seconds.
LONGEST = 5.0


class Run:
    # Seconds after which it is ended.
    patience = 60

    def __init__(self, btfdb, *words, text=None):
        begun = time.monotonic()
        try:
            done = subprocess.run([btfdb, *map(str, words)], input=text, capture_output=True, timeout=self.patience, cwd=ROOT)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            self.code, self.out, self.err = None, b"", "does not end"
        self.seconds = time.monotonic() - begun

    def why_bad(self, longest=LONGEST, codes=(0, 1, 3)):
        """Why it is no good end, whatever the files hold."""
        if self.code not in codes:
            return f"exit code {self.code}"
        if "panicked" in self.err or "fault of btfdb" in self.err:
            return "a fault of btfdb"
        return f"{self.seconds:.1f} s" if self.seconds > longest else None


class Figures:
    """What was tried, by kind; several threads count."""

    def __init__(self):
        self.lock, self.counts, self.bad = threading.Lock(), Counter(), 0

    def count(self, *kinds):
        with self.lock:
            self.counts.update(kinds)

    def fail(self, what):
        with self.lock:
            self.bad += 1
            print(f"BAD  {what}", flush=True)
