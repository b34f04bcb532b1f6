#!/usr/bin/env python3
"""Looks for new inputs with the fuzz targets of fuzz/, so many seconds of the processor for each, and prints what was tried.

    fuzz.py [--seconds N] [--together N] [TARGET...]

A run goes on where the last one ended: seconds so far are kept in fuzz/figures.json, inputs in fuzz/corpus, which is not committed.
The target with the fewest seconds is next. Delete the figures when all is to be tried anew. It exits with 1 if there are findings,
which are in fuzz/artifacts. Ctrl-C ends it with its figures.

Not for the inputs that are known: the tests replay fuzz/seeds (it/fuzz_corpus.rs)."""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
SO_FAR = FUZZ / "figures.json"
ROUND = 240
"""Seconds after which another target has its turn: a finding of one does not wait for the others."""
MEMORY = 4 << 30
"""A small input that asks for more is a finding."""
INTERRUPTED = 72
"""Exit code of a target that Ctrl-C ended."""
COVERAGE = (
    "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters "
    "-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Clink-dead-code "
    "-Ccodegen-units=1 --cfg fuzzing"
)
"""What `cargo fuzz run -s none` builds with. Every toolchain has it."""


def build():
    """The folder of the targets. `--target` keeps the flags away from scripts and macros."""
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))[1]
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target", host], cwd=FUZZ, check=True,
                   env={**os.environ, "RUSTFLAGS": COVERAGE})
    return Path(os.environ.get("CARGO_TARGET_DIR", FUZZ / "target")) / host / "release"


class Turns:
    """The figures of each target, and whose turn it is. Shared by the threads that run them."""

    def __init__(self, targets, seconds):
        self.lock = threading.Lock()
        self.seconds = seconds
        self.figures = json.loads(SO_FAR.read_text()) if SO_FAR.exists() else {}
        for target in targets:
            self.figures.setdefault(target, {"seconds": 0.0, "executions": 0})
        self.waiting = set(targets)
        self.findings = 0

    def next(self):
        """The target with the fewest seconds that is not at work, and for how long; none when all have enough."""
        with self.lock:
            left = {target: self.seconds - self.figures[target]["seconds"] for target in self.waiting}
            target = max(left, key=left.get, default=None)
            if target is None or left[target] <= 0:
                return None
            self.waiting.remove(target)
            return target, min(ROUND, int(left[target]) + 1)

    def done(self, target, seconds, executions, is_finding):
        with self.lock:
            figures = self.figures[target]
            figures["seconds"] += seconds
            figures["executions"] += executions
            self.findings += is_finding
            self.waiting.add(target)
            # A run that is killed while it writes leaves the figures from before.
            new = SO_FAR.with_suffix(".new")
            new.write_text(json.dumps(self.figures, indent=1, sort_keys=True) + "\n")
            new.replace(SO_FAR)


def fuzzed(binaries, target, seconds):
    """Seconds of the processor, executions, and whether it found something."""
    corpus, found = FUZZ / "corpus" / target, FUZZ / "artifacts" / target
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    limit = lambda: (resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)), os.nice(19))
    # `log` writes files: a folder in memory is the fastest.
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [binaries / target, corpus, FUZZ / "seeds" / target, f"-max_total_time={seconds}", "-print_final_stats=1",
             f"-artifact_prefix={found}/"],
            stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limit, env={**os.environ, "TMPDIR": folder},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    executions = re.search(r"number_of_executed_units:\s*(\d+)", text)
    new = sorted(path.name for path in set(found.iterdir()) - before)
    is_finding = process.returncode not in (0, INTERRUPTED)
    if is_finding:
        print(f"{target}: exit code {process.returncode}: {', '.join(new) or text[-2000:]}", flush=True)
    return usage.ru_utime + usage.ru_stime, int(executions[1]) if executions else 0, is_finding


def main():
    known = sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=1800)
    arguments.add_argument("--together", type=int, default=1)
    arguments.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *known], default=[])
    given = arguments.parse_args()
    targets = given.targets or known
    binaries, turns = build(), Turns(targets, given.seconds)

    def work():
        while turn := turns.next():
            turns.done(turn[0], *fuzzed(binaries, *turn))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(given.together)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        turns.seconds = 0
        for thread in threads:
            thread.join()
    print(f"{'target':20} {'seconds':>8} {'executions':>14}")
    for target, figures in sorted(turns.figures.items()):
        print(f"{target:20} {figures['seconds']:8.0f} {figures['executions']:14,}")
    sys.exit(1 if turns.findings else 0)


if __name__ == "__main__":
    main()
