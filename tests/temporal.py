"""Compares `[[temporal]]` of `check --requirements` with rtamt (PyPI), a monitor of signal temporal logic: `python3
tests/temporal.py BTFDB [TRACES]`. Random traces as BTF, each a recording of one database; each requirement in each of
them has the violations and the open obligations that follow from the robustness that rtamt computes tick by tick. Exits
with 1 when one differs.

rtamt knows no order within a tick, no gaps and no edges: at most one write is in a tick, after what the task does there,
and there are no gaps. Alternation is no formula of a length that does not depend on the trace, and left out.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import rtamt

WITHIN = range(10)
WINDOWS = range(2, 10)
A, B = '{ entity = "A", action = "write" }', '{ entity = "B", action = "write" }'
RUNS = '{ entity = "T", state = "running" }'


def requirements():
    """Names, entries and formulas."""
    for within in WITHIN:
        yield (
            f"response {within}",
            f"after = {A}\nthen = {B}\nwithin = {within}",
            f"(a >= 0) implies (eventually[0:{within}] (b >= 0))",
        )
    for window in WINDOWS:
        yield (
            f"rate {window}",
            f"at_most = 1\nof = {A}\nwindow = {window}",
            f"(a >= 0) implies (always[1:{window - 1}] (not (a >= 0)))",
        )
    yield "absence", f"never = {A}\nduring = {RUNS}", "not ((a >= 0) and (c >= 0))"
    yield (
        "hold",
        f"once = {A}\nheld = {RUNS}\nuntil = {B}",
        "(a >= 0) implies ((always (c >= 0)) or ((c >= 0) until (b >= 0)))",
    )


def parsed(formula):
    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    for name in "abc":
        spec.declare_var(name, "float")
    spec.spec = formula
    spec.parse()
    return spec


def trace(rng, change):
    """What is written at each tick, and whether T runs."""
    length = rng.randint(5, 40)
    writes = [rng.choice([None, None, "A", "B"]) for _ in range(length)]
    runs, states = rng.random() < 0.5, []
    for _ in range(length):
        runs ^= rng.random() < change
        states.append(runs)
    # That T runs is known from the first time that it does.
    states[rng.randrange(length)] = True
    return writes, states


def btf(writes, states):
    lines, instance = ["#version 2.1.5", "#timeScale ns", "0,SIM,-1,SIG,EDGE,0,write,0"], -1
    before = False
    for time, (write, runs) in enumerate(zip(writes, states)):
        if runs and not before:
            instance += 1
            lines += [f"{time},STI,{instance},T,T,{instance},activate", f"{time},C,0,T,T,{instance},start"]
        elif before and not runs:
            lines.append(f"{time},C,0,T,T,{instance},terminate")
        if write:
            lines.append(f"{time},SIM,-1,SIG,{write},0,write,1")
        before = runs
    lines.append(f"{len(writes)},SIM,-1,SIG,EDGE,0,write,0")
    return "\n".join(lines) + "\n"


def expected(name, robustness, writes, states):
    """The number of obligations, the begins of the violated ones, and how many are open."""
    length = len(writes)
    at = [time for time in range(length) if writes[time] == "A"]
    kind, _, number = name.partition(" ")
    if kind == "response":
        below = [time for time in at if robustness[time] < 0]
        # A window that reaches beyond the trace is open.
        violated = [time for time in below if time + int(number) < length]
        return len(at), violated, len(below) - len(violated)
    if kind == "rate":
        violated = [time for time in at if robustness[time] < 0]
        return len(at), violated, sum(robustness[t] >= 0 and t + int(number) > length for t in at)
    if kind == "absence":
        # One obligation per run of T.
        begins = [t for t in range(length) if states[t] and (t == 0 or not states[t - 1])]
        spans = [[t for t in range(begin, length) if all(states[begin : t + 1])] for begin in begins]
        violated = [span[0] for span in spans if any(robustness[t] < 0 for t in span)]
        return len(spans), violated, sum(span[-1] == length - 1 and span[0] not in violated for span in spans)
    # Those that no other one comes before without its end.
    starts, is_open = [], False
    for time in range(length):
        is_open &= writes[time] != "B"
        if writes[time] == "A" and not is_open:
            starts.append(time)
            is_open = True
    violated = [t for t in starts if robustness[t] < 0]
    return len(starts), violated, sum(robustness[t] >= 0 and "B" not in writes[t:] for t in starts)


def main(btfdb, traces):
    rng = random.Random(1)
    made = {f"r{n}": trace(rng, 0.2 if n % 2 else 0.08) for n in range(traces)}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, (writes, states) in made.items():
            (folder / f"{name}.btf").write_text(btf(writes, states))
        file = folder / "temporal.toml"
        entries = [f'[[temporal]]\nname = "{name}"\n{entry}\n' for name, entry, _ in requirements()]
        file.write_text("".join(entries))
        database = folder / "traces.db"
        names = list(made)
        for n in range(0, len(names), 100):
            files = [folder / f"{name}.btf" for name in names[n : n + 100]]
            subprocess.run([btfdb, "ingest", database, *files, "-q"], check=True)
        check = [btfdb, "check", database, "--requirements", file, "--format", "json"]
        outcomes = json.loads(subprocess.run(check, capture_output=True, text=True).stdout)
    found = {(o["recording"], o["requirement"]): o for o in outcomes}
    counts, different = Counter(), 0
    for name, _, formula in requirements():
        spec = parsed(formula)
        for recording, (writes, states) in made.items():
            signals = {"a": "A", "b": "B"}
            values = {key: [1.0 if w == word else -1.0 for w in writes] for key, word in signals.items()}
            values["c"] = [1.0 if runs else -1.0 for runs in states]
            robustness = [value for _, value in spec.evaluate({"time": list(range(len(writes))), **values})]
            obligations, violated, opened = expected(name, robustness, writes, states)
            outcome = found[recording, name]
            begins = [v["begin"] for v in outcome.get("temporal", {}).get("violations", [])]
            is_same = (
                outcome["samples"] == obligations
                and outcome["incomplete"] == opened
                and (outcome["violations"] or 0) == len(violated)
                and set(begins) <= set(violated)
                and len(begins) == min(len(violated), 5)
            )
            kind = name.split()[0]
            counts[kind, "requirements"] += 1
            counts[kind, "obligations"] += obligations
            counts[kind, "violated"] += len(violated)
            counts[kind, "open"] += opened
            if not is_same:
                different += 1
                print(f"{recording}, {name}: {(obligations, violated, opened)}, but {outcome}\n{btf(writes, states)}")
    for kind in ["response", "rate", "absence", "hold"]:
        print(kind, ", ".join(f"{counts[kind, what]} {what}" for what in ["requirements", "obligations", "violated", "open"]))
    print(f"{different} different")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500))
