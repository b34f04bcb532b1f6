#!/usr/bin/env python3
"""Aligned clocks against their truth: `python3 tests/clocks.py BTFDB [SIMULATIONS]`, 100 unless it is said otherwise. Two control units
send each other numbered messages, of which one in five is lost; the clock of one of them has an offset, drifts by up to 100 ppm, and
wanders by up to 2 ppm (not in every third simulation).

Of each event of that unit, the true time must be within `clock_bound` of the aligned one, and no message may be received before it
was sent. Prints the events, how wide bounds are against the latencies of the messages, and exits with 1 when one is wrong."""

import bisect
import csv
import io
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = "#version 2.2.1\n#creator simulation\n#creationDate 2026-01-01T00:00:00Z\n#timeScale ns\n"
CLOCKS = """wander_ppm = 2
[[clock]]
recording = "a"
[[clock]]
recording = "b"
[[message]]
send = "SELECT time, note AS key FROM btf_event WHERE target = 'Request' AND is_action(action, 'write')"
receive = "SELECT time, note AS key FROM btf_event WHERE target = 'Received' AND is_action(action, 'read')"
[[message]]
send = "SELECT time, note AS key FROM btf_event WHERE target = 'Reply' AND is_action(action, 'write')"
receive = "SELECT time, note AS key FROM btf_event WHERE target = 'Replied' AND is_action(action, 'read')"
"""
EVENTS = """SELECT target, note, time FROM btf_event WHERE recording = 'vehicle' AND target IN ('Received', 'Reply') ORDER BY time"""
BOUNDS = "SELECT time, early, late FROM clock_bound WHERE recording = 'vehicle' AND ecu = 'b' ORDER BY time"
MESSAGES = "SELECT sent_at, received_at, latency, fate FROM clock_message WHERE recording = 'vehicle'"


class Clock:
    """What the clock of the second unit shows at a time."""

    def __init__(self, dice, wanders):
        self.offset = dice.randrange(1_000_000_000, 1_000_000_000_000)
        self.rate = dice.uniform(-1e-4, 1e-4)
        self.wander = dice.uniform(0, 2e-6) if wanders else 0.0
        self.turn = math.tau / (1e7 * dice.uniform(1, 100))
        self.phase = dice.uniform(0, math.tau)

    def shows(self, time):
        wandered = [-self.wander / self.turn * math.cos(self.turn * x + self.phase) for x in (time, 0)]
        return self.offset + round(time * (1 + self.rate) + wandered[0] - wandered[1])


def rows(btfdb, database, sql):
    text = subprocess.run([btfdb, "query", database, sql, "--format", "csv"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def simulate(number, folder):
    """Writes both recordings; the true time of each event of the second one."""
    dice, truth, units = random.Random(number), {}, {"a": [], "b": []}
    clock = Clock(dice, number % 3 != 0)
    time = 1_000_000

    def event(unit, at, process, signal, action, key):
        name, instance = f"{process}_{unit}", len(units[unit])
        shown = at if unit == "a" else clock.shows(at)
        units[unit] += [
            (shown, f"Bus,{instance},I,{name},{instance},activate"), (shown, f"Core_0,0,I,{name},{instance},start"),
            (shown, f"{name},{instance},SIG,{signal},0,{action},{key}"),
            (shown + 10, f"Core_0,0,I,{name},{instance},terminate")]
        if unit == "b":
            truth[signal, str(key)] = at

    for key in range(dice.randrange(40, 400)):
        time += dice.randrange(100_000, 2_000_000)
        latency, is_lost = dice.randrange(200, 4000), dice.randrange(5) == 0
        (sender, send), (receiver, receive) = (("a", "Request"), ("b", "Received")) if dice.randrange(2) else (("b", "Reply"), ("a", "Replied"))
        event(sender, time, "Send", send, "write", key)
        if not is_lost:
            event(receiver, time + latency, "Get", receive, "read", key)
    for unit, events in units.items():
        (folder / f"{unit}.btf").write_text(HEAD + "".join(f"{at},{rest}\n" for at, rest in events))
    (folder / "clocks.toml").write_text(CLOCKS)
    return truth


def main(btfdb, simulations):
    events, wrong, messages, widths = 0, [], 0, []
    for number in range(1, simulations + 1):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            truth = simulate(number, folder)
            database = folder / "v.db"
            for words in (["ingest", database, folder / "a.btf", folder / "b.btf"], ["align", database, folder / "clocks.toml", "--into", "vehicle"]):
                subprocess.run([btfdb, *words, "-q"], check=True, capture_output=True)
            bounds = [[int(row[column]) for column in ("time", "early", "late")] for row in rows(btfdb, database, BOUNDS)]
            begins = [bound[0] for bound in bounds]
            for row in rows(btfdb, database, EVENTS):
                aligned, true = int(row["time"]), truth.pop((row["target"], row["note"]))
                _, early, late = bounds[max(bisect.bisect_right(begins, aligned) - 1, 0)]
                events += 1
                widths.append(early + late)
                if not aligned - early <= true <= aligned + late:
                    wrong.append(f"simulation {number}: {row} was at {true}, bound -{early} +{late}")
            wrong += [f"simulation {number}: {event} is missing" for event in truth]
            for row in rows(btfdb, database, MESSAGES):
                if row["fate"] == "used":
                    messages += 1
                    if int(row["received_at"]) < int(row["sent_at"]):
                        wrong.append(f"simulation {number}: {row}")
                elif row["fate"] == "refused":
                    wrong.append(f"simulation {number}: refused {row}")
    widths.sort()
    print(f"{simulations} simulations, {events} events, {messages} messages, {len(wrong)} wrong; width of bounds: "
          f"median {widths[len(widths) // 2]} ns, greatest {widths[-1]} ns (messages take 200 to 4000 ns)")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100))
