#!/usr/bin/env python3
"""How often `btfdb regress` is right about simulated builds: `python3 tests/regress.py BTFDB [WORK...]`, of these works

    reruns    200 random models, each run twice with other seeds: who says that it changed? At most 2.
    shifts    100 random systems whose runnable R_1 computes 1 % longer in the second build: is it found (95), and named first (90)?
    history   100 fleets of 20 recordings, in which R_1 computes 2 % longer from one recording on: is it that recording (95)?

all of them unless some are named; `WORK=N` tries N instead. Prints the counts, and exits with 1 when one is worse than that."""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = """duration = "{duration}"

[os]
access = "0ns"
dispatch = "200ns"
remote_call = "0ns"
timer_isr = false

[[core]]
name = "Core_0"
"""
TASK = """
[[alarm]]
name = "A_{n}"
activate = "T_{n}"
offset = "{offset}us"
period = "{period}us"

[[task]]
name = "T_{n}"
core = "Core_0"
priority = {priority}
steps = [{{ call = "R_{n}" }}, {{ call = "R_{n}b" }}, {{ terminate = true }}]

[[runnable]]
name = "R_{n}b"
steps = [{{ execute = "{constant}us" }}]

[[runnable]]
name = "R_{n}"
steps = [{{ execute = {{ normal = {{ mean = "{mean}ns", deviation = "{deviation}ns", min = "{least}ns", max = "{most}ns" }} }} }}]
"""


def run(*words, codes=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return done


def system(seed, duration, factor):
    """Three tasks of one core with 55 to 75 % load, their runnables with 3 to 6 % variation; `factor` on the mean of R_1."""
    of = random.Random(seed)
    text, load = MODEL.format(duration=duration), of.uniform(0.55, 0.75)
    for n, period in enumerate(of.sample((4000, 5000, 8000, 10000, 12000), 3)):
        mean = int(1000 * period * load / 3 * of.uniform(0.6, 0.9))
        varies = mean * of.uniform(0.03, 0.06)
        if n == 1:
            mean = int(mean * factor)
        text += TASK.format(
            n=n, offset=1000 * of.randrange(1, 5), period=period, priority=3 - n, constant=of.randrange(20, 60), mean=mean,
            deviation=int(varies), least=mean // 2, most=mean * 2)
    return text


class Builds:
    """A database of recordings of simulated builds, in a folder."""

    def __init__(self, btfdb, folder):
        self.btfdb, self.folder, self.database = btfdb, Path(folder), Path(folder) / "fleet.db"

    def record(self, name, seed, *model):
        out = self.folder / name
        run(self.btfdb, "simulate", *model, "--seed", seed, "-o", out)
        run(self.btfdb, "ingest", self.database, out / "reference.btf", "--name", name, "-q")
        shutil.rmtree(out)

    def system(self, name, seed, text):
        file = self.folder / f"{name}.toml"
        file.write_text(text)
        self.record(name, seed, file)

    def regress(self, *words):
        done = run(self.btfdb, "regress", self.database, *words, "--format", "json", codes=(0, 3))
        return done.returncode == 3, json.loads(done.stdout)


def reruns(btfdb, number, folder):
    builds = Builds(btfdb, folder)
    out = builds.folder / "model"
    run(btfdb, "simulate", "--random", number, "--duration", "1ms", "-o", out)
    for name, seed in (("a", 2 * number), ("b", 2 * number + 1)):
        builds.record(name, seed, out / "model.toml", "--duration", "3s")
    alarm, report = builds.regress("a", "--against", "b")
    return {"false alarms": alarm, "comparisons": len(report["rows"])}


def shifts(btfdb, number, folder):
    builds = Builds(btfdb, folder)
    builds.system("a", 2 * number, system(number, "40s", 1))
    builds.system("b", 2 * number + 1, system(number, "40s", 1.01))
    _, report = builds.regress("a", "--against", "b")
    changed = [one for one in report["rows"] if one["verdict"] == "changed"]
    found = any(one["entity"] == "R_1" for one in changed)
    causes = [one["causes"][0] for one in changed if one.get("causes")]
    named = bool(causes) and all(cause["name"] == "R_1" for cause in causes)
    return {"found": found, "named first": named, "others changed": any(one["entity"] in ("R_0", "R_2", "R_0b", "R_1b", "R_2b") for one in changed)}


def history(btfdb, number, folder):
    builds = Builds(btfdb, folder)
    at = random.Random(number).randrange(4, 17)
    for n in range(20):
        builds.system(f"r{n:02}", 100 * number + n, system(number, "3s", 1 if n < at else 1.02))
    _, report = builds.regress("--history", "RunnableNetExecutionTime:R_1")
    return {"exact": [one["recording"] for one in report["changes"]] == [f"r{at:02}"]}


WORKS = {
    "reruns": (reruns, 200, lambda sums, n: sums["false alarms"] * 100 <= n),
    "shifts": (shifts, 100, lambda sums, n: sums["found"] * 100 >= 95 * n and sums["named first"] * 100 >= 90 * n),
    "history": (history, 100, lambda sums, n: sums["exact"] * 100 >= 95 * n),
}


def main(btfdb, works):
    is_bad = False
    for work in works or WORKS:
        name, _, times = work.partition("=")
        one, tries, holds = WORKS[name]
        sums, tries = {}, int(times or tries)
        for number in range(1, tries + 1):
            with tempfile.TemporaryDirectory() as folder:
                for what, value in one(btfdb, number, folder).items():
                    sums[what] = sums.get(what, 0) + value
            if number % 20 == 0 or number == tries:
                print(f"{name}: of {number}", ", ".join(f"{value} {what}" for what, value in sums.items()), flush=True)
        is_bad |= not holds(sums, tries)
    return 1 if is_bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
