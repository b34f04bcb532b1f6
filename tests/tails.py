#!/usr/bin/env python3
"""Compares `btfdb metrics --tail` with scipy and pyextremes (tests/tails.txt): `python3 tests/tails.py BTFDB [SETS]`. Random response
times of several distributions, as a BTF trace with one task for each set; each fit that btfdb accepts has the shape, the scale and
the levels that the other two find by searches of their own. Exits with 1 when a fit differs and the likelihood of the other is not
worse.

Samples are in the order of time; how many are in a block is the rule of docs/insight.md. Shapes, places and levels are compared in
scales of the fit.
"""

import csv
import io
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from pyextremes import EVA
from scipy import stats

SAMPLES = 3000
AT, SCALE = 1_000_000, 10_000
#: The greatest difference, in scales of the fit.
MOST = 0.01


def draws(random):
    return {
        "GEV_bounded": lambda: stats.genextreme.rvs(0.2, size=SAMPLES, random_state=random),
        "GEV_heavy": lambda: stats.genextreme.rvs(-0.2, size=SAMPLES, random_state=random),
        "GPD": lambda: stats.genpareto.rvs(0.1, size=SAMPLES, random_state=random),
        "normal": lambda: random.normal(size=SAMPLES),
        "mixture": lambda: np.where(random.random(SAMPLES) < 0.1, random.normal(3, 1, SAMPLES), random.normal(0, 1, SAMPLES)),
    }


def trace(sets):
    """A BTF trace in which each task has the response times of a set."""
    lines, now = ["#version 2.1.5", "#timeScale ns"], 0
    for task, samples in sets.items():
        for n, length in enumerate(samples):
            lines += [f"{now},STI,{n},T,{task},{n},activate", f"{now},Core_0,0,T,{task},{n},start"]
            now += int(length)
            lines.append(f"{now},Core_0,0,T,{task},{n},terminate")
            now += 1000
    return "\n".join(lines) + "\n"


def maxima(row, samples):
    """Differences of a fit of block maxima from scipy and pyextremes, and how much worse scipy's likelihood is."""
    blocks = int(min(1.8 * math.sqrt(len(samples)), 180))
    block = max(len(samples) // blocks, 20)
    greatest = samples[len(samples) % block:].reshape(-1, block).max(axis=1).astype(float)
    assert len(greatest) == int(row["used"]), row
    shape, place, scale = (float(row[name]) for name in ("shape", "location", "scale"))
    c, other, width = stats.genextreme.fit(greatest, -shape, loc=place, scale=scale)
    worse = stats.genextreme.nnlf((c, other, width), greatest) - stats.genextreme.nnlf((-shape, place, scale), greatest)
    level = lambda one_in: stats.genextreme.isf(-math.expm1(block * math.log1p(-1 / one_in)), -shape, place, scale)
    eva = EVA(series(samples[len(samples) % block:]))
    eva.get_extremes("BM", block_size=f"{block}s", errors="ignore")
    eva.fit_model("MLE", distribution="genextreme")
    return max(abs(shape + c), abs(place - other) / scale, abs(width / scale - 1)), worse, level, eva, -1


def peaks(row, samples):
    """The same of a fit of what is above a threshold."""
    shape, place, scale = (float(row[name]) for name in ("shape", "location", "scale"))
    above = samples[samples > place].astype(float) - place
    assert len(above) == int(row["used"]), row
    c, _, width = stats.genpareto.fit(above, shape, floc=0, scale=scale)
    worse = stats.genpareto.nnlf((c, 0, width), above) - stats.genpareto.nnlf((shape, 0, scale), above)
    share = len(above) / len(samples)
    level = lambda one_in: place + stats.genpareto.isf(1 / one_in / share, shape, 0, scale)
    eva = EVA(series(samples))
    eva.get_extremes("POT", threshold=(place - AT) / SCALE, r="0.1s")
    assert len(eva.extremes) == len(above), row
    eva.fit_model("MLE", distribution="genpareto", distribution_kwargs={"floc": (place - AT) / SCALE})
    return max(abs(shape - c), abs(width / scale - 1)), worse, level, eva, 1


def series(samples):
    # In scales: the search of pyextremes finds no maximum far from 0.
    return pd.Series((samples - AT) / SCALE, pd.date_range("2000-01-01", periods=len(samples), freq="s"))


def main(btfdb, count):
    random = np.random.default_rng(5)
    sets = {
        f"{name}_{n}": np.round(AT + SCALE * draw()).astype(np.int64).clip(1)
        for n in range(count)
        for name, draw in draws(random).items()
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "sets.btf").write_text(trace(sets))
        subprocess.run([btfdb, "ingest", folder / "sets.db", folder / "sets.btf", "-q"], check=True)
        sql = "SELECT * FROM tails('ResponseTime') ORDER BY entity, method, one_in"
        text = subprocess.run(
            [btfdb, "query", folder / "sets.db", sql, "--format", "csv"], check=True, capture_output=True, text=True
        ).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["entity"] for row in rows} == set(sets), "each set has rows"
    fits, outcome, greatest, bad = {}, Counter(), Counter(), 0
    for row in rows:
        key = (row["entity"], row["method"])
        if not row["shape"]:
            outcome[f"refused, {row['method']}"] += 1
            continue
        if key not in fits:
            samples = sets[row["entity"]]
            off, worse, level, eva, sign = (maxima if row["method"] == "block_maxima" else peaks)(row, samples)
            found = eva.distribution.mle_parameters
            # Without `c`, pyextremes has chosen the distribution of shape 0: no comparison.
            theirs = 0.0
            if "c" in found:
                theirs = max(abs(float(row["shape"]) - sign * found["c"]), abs(SCALE * found["scale"] / float(row["scale"]) - 1))
            fits[key] = level
            outcome[f"fits, {row['method']}"] += 1
            greatest["scipy"], greatest["pyextremes"] = max(greatest["scipy"], off), max(greatest["pyextremes"], theirs)
            # A search that ends at a lower likelihood has found less, not something else.
            if (off > MOST and worse <= 1e-6) or worse < -1e-4 or theirs > MOST:
                bad += 1
                print(f"{key}: differs by {off:.4f} from scipy, whose likelihood is worse by {worse:.6f}, {theirs:.4f} from pyextremes")
        if row["level"]:
            off = abs(float(row["level"]) - fits[key](int(row["one_in"]))) / float(row["scale"])
            greatest["levels"] = max(greatest["levels"], off)
            outcome["levels"] += 1
            if off > 1e-6:
                bad += 1
                print(f"{key}: the level of one in {row['one_in']} is off by {off:.7f} scales")
    assert outcome["fits, block_maxima"] and outcome["fits, peaks_over_threshold"], "both methods are compared"
    counts = ", ".join(f"{n} {what}" for what, n in sorted(outcome.items()))
    print(f"{len(sets)} sets: {counts}; {bad} differ")
    print("greatest differences in scales: " + ", ".join(f"{name} {off:.2g}" for name, off in greatest.items()))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20))
