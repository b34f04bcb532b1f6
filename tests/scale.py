"""Does a database slow down? Fills one with many small recordings and measures, at 1, 100, 1,000 … of them, how long it takes to
add one more and to open it for a question about one: `python3 tests/scale.py BTFDB [COUNT]`. Half of the recordings come in
commits of their own, the others hundred at a time.

Exits with 1 when one of these times at the end is more than 1.3 times that at the begin."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
LIMIT = 1.3


def trace(n):
    lines = ["#version 2.1.5", "#timeScale ns"]
    for i in range(20):
        at = i * 1000
        lines += [f"{at},T,{i},T,T,{i},activate", f"{at + n % 7},Core_0,0,T,T,{i},start", f"{at + 400},Core_0,0,T,T,{i},terminate"]
    return "\n".join(lines) + "\n"


def main(program, count):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        inputs, database = folder / "inputs", folder / "fleet.db"
        inputs.mkdir()

        def run(*words):
            begun = time.monotonic()
            done = subprocess.run([program, "-q", *map(str, words)], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(map(str, words))[:200]}: {done.stderr}")
            return time.monotonic() - begun

        def add(first, many):
            made = []
            for n in range(first, first + many):
                file = inputs / f"r{n:06}.btf"
                file.write_text(trace(n))
                made.append(file)
            took = run("ingest", database, *made, "--no-hash")
            for file in made:
                file.unlink()
            return took

        measured = {}
        present = 0
        extra = 10**6

        def measure():
            nonlocal extra
            times = {"add one": [], "info of one": [], "query of one": [], "metrics of one": []}
            for _ in range(ROUNDS):
                extra += 1
                times["add one"].append(add(extra, 1))
                one = f"r{extra:06}"
                times["info of one"].append(run("info", database, "--recording", one))
                times["query of one"].append(run("query", database, f"SELECT count(*) FROM btf_event WHERE recording = '{one}'"))
                times["metrics of one"].append(run("metrics", database, "ResponseTime", "--recording", one))
                run("remove", database, "--recording", one)
            return {what: statistics.median(of) for what, of in times.items()}

        stops = [n for n in (1, 100, 1000, 10_000, 100_000) if n <= count]
        for stop in stops:
            while present < stop:
                many = 1 if present < stop // 2 or stop < 1000 else min(100, stop - present)
                add(present, many)
                present += many
            measured[stop] = measure()
            shown = ", ".join(f"{what} {seconds * 1000:.1f} ms" for what, seconds in measured[stop].items())
            print(f"{stop} recordings: {shown}", flush=True)
        first, last = measured[stops[0]], measured[stops[-1]]
        slower = {what: last[what] / first[what] for what in first}
        print("at the end, times the begin: " + ", ".join(f"{what} {ratio:.2f}" for what, ratio in slower.items()))
        run("verify", database)
        return 1 if any(ratio > LIMIT for ratio in slower.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
