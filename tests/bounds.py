#!/usr/bin/env python3
"""Bounds of simulated systems against their worst responses: `python3 tests/bounds.py BTFDB [MODELS] [FIRST]`, 500 random models
unless it is said otherwise, each simulated, recorded, mapped, and asked with `btfdb bound`.

A bound that the recording does not contradict must not be below any response of a process that never waits, nor below the slowest
job that `btfdb bound` itself measured: the wait for an event is in no bound. Prints how many bounds there are, why others have none, and the distribution of bound / worst response. Exits with 1 when a bound is too low."""

import csv
import io
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PERCENTILES = (1, 10, 50, 90, 99)
RESPONSES = """SELECT process, max(terminate_at - coalesce(activate_at, start_at)) AS worst
FROM process_instance AS i
WHERE complete AND NOT EXISTS (SELECT 1 FROM process_state AS s WHERE s.process = i.process AND s.state = 'waiting')
GROUP BY process"""


def rows(btfdb, *words):
    text = subprocess.run([btfdb, *words, "--format", "csv"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def main(btfdb, models, first):
    ratios, why, wrong, contradicted = [], Counter(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + models):
            of = Path(folder) / str(number)
            of.mkdir()
            for words in (
                ["simulate", "--random", str(number), "--duration", "1s", "-o", of / "model"],
                ["ingest", of / "trace.db", of / "model/recording"],
            ):
                subprocess.run([btfdb, *words], check=True, capture_output=True)
            worst = {row["process"]: int(row["worst"]) for row in rows(btfdb, "query", of / "trace.db", RESPONSES)}
            for row in rows(btfdb, "bound", of / "trace.db"):
                responses = [worst.get(row["process"]), int(row["measured"]) if row["measured"] else None]
                measured = max((time for time in responses if time is not None), default=None)
                if not row["bound"]:
                    why[row["reason"].split(":")[0] or "none"] += 1
                elif measured is None:
                    why["no complete response"] += 1
                else:
                    is_low = int(row["bound"]) < measured
                    if row["contradiction"]:
                        contradicted += 1
                        why["too low, and says what contradicts it" if is_low else "contradicted"] += 1
                    elif is_low:
                        wrong.append((number, row["process"], row["bound"], measured))
                    if measured and not is_low:
                        ratios.append(int(row["bound"]) / measured)
            shutil.rmtree(of)
            if (number - first + 1) % 50 == 0:
                print(f"{number - first + 1} models, {len(ratios)} bounds, {len(wrong)} too low", flush=True)
    ratios.sort()
    print("bound / worst response:", end="")
    for percent in PERCENTILES:
        print(f"  {percent} %: {ratios[min(len(ratios) - 1, len(ratios) * percent // 100)]:.2f}" if ratios else "", end="")
    print(f"\n{len(ratios)} bounds hold, {contradicted} of all have a contradiction; " + ", ".join(f"{n} {what}" for what, n in why.most_common()))
    for one in wrong:
        print("TOO LOW: model {}, {}: bound {}, response {}".format(*one))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    numbers = [int(word) for word in sys.argv[2:4]]
    sys.exit(main(sys.argv[1], *(numbers + [500, 1][len(numbers):])))
