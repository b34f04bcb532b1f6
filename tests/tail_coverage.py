#!/usr/bin/env python3
"""How often the intervals of `btfdb metrics --tail` hold the true level, and how often samples are refused (tests/tails.txt):
`python3 tests/tail_coverage.py BTFDB [SETS] [DISTRIBUTION...]`, 1000 random sets of response times of each distribution unless it is
said otherwise. Of distributions that are fit for a fit, 93 to 97 % of the intervals of 95 % hold the level; of those that are not, 95 %
of the sets are refused. Exits with 1 when one is worse by more than chance: three standard deviations of that many sets.

Not how a fit is found: tails.py compares that with other programs."""

import csv
import io
import math
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy import optimize, stats

SAMPLES, TOGETHER = 3000, 50
AT, SCALE = 1_000_000, 10_000


def mixed(share, far):
    """A part of the samples is of a path that is longer: how to draw, and the value that a share of all exceeds."""
    def draw(random):
        return np.where(random.random(SAMPLES) < share, random.normal(far, 1, SAMPLES), random.normal(0, 1, SAMPLES))

    def level(exceeds):
        return optimize.brentq(lambda x: share * stats.norm.sf(x - far) + (1 - share) * stats.norm.sf(x) - exceeds, -10, far + 40)

    return draw, level


def of(distribution):
    return lambda random: distribution.rvs(size=SAMPLES, random_state=random), distribution.isf


def follows(share):
    """Each sample has a share of the one before."""
    def draw(random):
        noise, made = random.normal(size=SAMPLES), np.empty(SAMPLES)
        made[0] = noise[0]
        for n in range(1, SAMPLES):
            made[n] = share * made[n - 1] + math.sqrt(1 - share * share) * noise[n]
        return made

    return draw, None


def drifts(random):
    return random.normal(size=SAMPLES) + np.linspace(0, 1, SAMPLES)


#: How to draw, and the value that a share of all exceeds; none where no fit is right.
DISTRIBUTIONS = {
    "GEV, shape -0.2": of(stats.genextreme(0.2)),
    "GEV, shape 0.1": of(stats.genextreme(-0.1)),
    "GPD, shape -0.2": of(stats.genpareto(-0.2)),
    "GPD, shape 0": of(stats.expon()),
    "GPD, shape 0.1": of(stats.genpareto(0.1)),
    "normal": of(stats.norm()),
    "mixture, near": (mixed(0.1, 3)[0], None),
    "mixture, far": (mixed(0.01, 60)[0], None),
    "autocorrelated, 0.3": follows(0.3),
    "autocorrelated, 0.8": follows(0.8),
    "drift": (drifts, None),
}


def trace(sets):
    """A BTF trace in which each task has the response times of a set."""
    lines, now = ["#version 2.1.5", "#timeScale ns"], 0
    for task, samples in enumerate(sets):
        for n, length in enumerate(samples.tolist()):
            end = now + length
            lines.append(f"{now},STI,{n},T,T_{task},{n},activate\n{now},C,0,T,T_{task},{n},start\n{end},C,0,T,T_{task},{n},terminate")
            now = end + 1000
    return "\n".join(lines) + "\n"


def tails(btfdb, sets):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "sets.btf").write_text(trace(sets))
        subprocess.run([btfdb, "ingest", folder / "sets.db", folder / "sets.btf", "-q"], check=True)
        sql = "SELECT * FROM tails('ResponseTime')"
        done = subprocess.run([btfdb, "query", folder / "sets.db", sql, "--format", "csv"], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def tried(btfdb, name, number, count):
    """Of so many sets: fits and refusals of each method, and levels that are in their intervals, above and below."""
    draw, level = DISTRIBUTIONS[name]
    random = np.random.default_rng([sum(map(ord, name)), number])
    rows = tails(btfdb, [np.round(AT + SCALE * draw(random)).astype(np.int64).clip(1) for _ in range(count)])
    found = Counter()
    for entity, method in {(row["entity"], row["method"]) for row in rows}:
        fits = [row for row in rows if (row["entity"], row["method"]) == (entity, method)]
        found[method, "accepted" if fits[0]["shape"] else "refused"] += 1
        for row in fits:
            if row["level"] and level:
                true = AT + SCALE * level(1 / int(row["one_in"]))
                place = "below" if true < float(row["low"]) else "above" if true > float(row["high"]) else "in"
                found[method, int(row["one_in"]), place] += 1
    return found


def judged(name, found):
    """Prints what was found. Returns whether it is worse than chance."""
    is_bad = False
    for method in ("block_maxima", "peaks_over_threshold"):
        accepted, refused = found[method, "accepted"], found[method, "refused"]
        count = accepted + refused
        if DISTRIBUTIONS[name][1] is None:
            worse = refused / count < 0.95 - 3 * math.sqrt(0.95 * 0.05 / count)
            print(f"{name:20} {method:21} refused {refused} of {count}{', TOO FEW' if worse else ''}", flush=True)
            is_bad |= worse
            continue
        print(f"{name:20} {method:21} accepted {accepted} of {count}", flush=True)
        for one_in in sorted({key[1] for key in found if key[0] == method and len(key) == 3}):
            ins, below, above = (found[method, one_in, place] for place in ("in", "below", "above"))
            share, tries = ins / (ins + below + above), ins + below + above
            chance = 3 * math.sqrt(0.95 * 0.05 / tries)
            worse = not 0.93 - chance <= share <= 0.97 + chance
            is_bad |= worse
            print(f"    one in {one_in:>6}: {100 * share:5.1f} % of {tries} intervals hold the level; it is below {below}, "
                  f"above {above}{', NOT 93 to 97 %' if worse else ''}", flush=True)
    return is_bad


def main(btfdb, count, names):
    is_bad = False
    with ThreadPoolExecutor(2) as pool:
        for name in names or DISTRIBUTIONS:
            parts = [(begin, min(TOGETHER, count - begin)) for begin in range(0, count, TOGETHER)]
            found = Counter()
            for part in pool.map(lambda part: tried(btfdb, name, *part), parts):
                found += part
            is_bad |= judged(name, found)
    return 1 if is_bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000, sys.argv[3:]))
