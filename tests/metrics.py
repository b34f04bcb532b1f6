"""Computes every metric of a database a second time, from its BTF events alone, and compares the results with those of
btfdb: `python3 tests/metrics.py BTFDB DB`, where BTFDB is the program. Needs nothing but the standard library.

The definitions are those of AMALTHEA's metrics and of the states of BTF 2.1.5, written down here without a look at the
SQL of btfdb; of the database, only the tables of events are read, and of those that are derived from them the names of
interrupt handlers that several cores have (rule I9 of docs/mapping.md). Times must agree to the last tick. Exits with 1
when a result differs, is missing, or is not expected.
"""

import csv
import io
import math
import statistics
import subprocess
import sys
from collections import defaultdict
from fractions import Fraction

# BTF 2.1.5, section 2.3: the state that an action of a process ends, and the one that it begins.
CHART = {
    "activate": (None, "active"),
    "start": ("active", "running"),
    "preempt": ("running", "ready"),
    "resume": ("ready", "running"),
    "wait": ("running", "waiting"),
    "release": ("waiting", "ready"),
    "poll": ("running", "polling"),
    "run": ("polling", "running"),
    "park": ("polling", "parking"),
    "poll_parking": ("parking", "polling"),
    "release_parking": ("parking", "ready"),
    "terminate": ("running", None),
}
SHARES = {"waiting": "CPUWaiting", "polling": "CPUPolling", "parking": "CPUParking"}
PERCENT = {"CPULoad", "OsOverhead", *SHARES.values()}
ON_CORE = ("running", "polling")
LOST = ("mtalimitexceeded", "mtalimitexceded", "mpalimitexceeded")
PER_STATE = {"Net": "running", "Ready": "ready", "Waiting": "waiting", "Polling": "polling", "Parking": "parking"}
# Of a line of the result, apart from its key.
EXACT = ("core", "count", "incomplete", "min", "max", "min_at", "max_at")
ROUNDED = ("avg", "stddev", "p50", "p95", "p99")


class Instance:
    """An instance of a process or of a runnable: its events, in order."""

    def __init__(self, number, begin):
        self.number, self.at, self.core, self.preemptions = number, {}, None, 0
        self.stretches = []  # state, core, begin, end
        self.state, self.since, self.cut = None, begin, None

    def process_event(self, time, action, source):
        before, after = CHART[action]
        if self.cut is None:  # The first event of all: what it ends has lasted since the begin of the recording.
            self.cut = action != "activate"
            self.state, self.since = before, self.since if self.cut else time
        self.at.setdefault(action, time)
        if action != "activate":
            self.core = self.core or source
        self.leave(time)
        if action != "activate":
            self.core = source
        self.state, self.since = after, time
        self.preemptions += action in ("preempt", "park")

    def leave(self, time):
        if self.state and time > self.since:
            self.stretches.append((self.state, self.core, self.since, time))

    @property
    def complete(self):
        return not self.cut and all(moment in self.at for moment in ("activate", "start", "terminate"))

    def moment(self, *names):
        return next((self.at[name] for name in names if name in self.at), None)

    def spent(self, state):
        return sum(end - begin for s, _, begin, end in self.stretches if s == state)

    def runs(self):
        return [(core, begin, end) for s, core, begin, end in self.stretches if s in ON_CORE]


class Execution:
    """An instance of a runnable."""

    def __init__(self, number, core, start):
        self.number, self.core, self.start, self.end = number, core, start, None
        self.net = self.own = 0
        self.running = True


class Recording:
    """What the events of one recording say."""

    def __init__(self, events, begin, end):
        self.begin, self.end = begin, end
        self.processes = defaultdict(dict)  # (name, type) -> number -> Instance
        self.lost = defaultdict(list)  # (name, type) -> (number, time)
        self.runnables = defaultdict(list)
        self.executing = {}  # (runnable, number) -> Execution
        self.stack = defaultdict(list)  # process instance -> Executions, the innermost last
        self.clock = {}  # process instance -> time of its last event of a runnable
        for event in events:
            if event["target_type"] in ("T", "I"):
                self.process(event)
            elif event["target_type"] == "R":
                self.runnable(event)
        for instances in self.processes.values():
            for instance in instances.values():
                instance.leave(end)

    def process(self, event):
        key, number = (event["target"], event["target_type"]), int(event["target_instance"])
        if event["action"] in LOST:
            self.lost[key].append((number, int(event["time"])))
        elif event["action"] in CHART:
            instances = self.processes[key]
            if number not in instances:
                instances[number] = Instance(number, self.begin)
            instances[number].process_event(int(event["time"]), event["action"], event["source"])

    def core_of(self, process):
        found = [i.get(process[1]) for (name, _), i in self.processes.items() if name == process[0]]
        return next((i.core for i in found if i), None)

    def runnable(self, event):
        process, key = (event["source"], event["source_instance"]), (event["target"], event["target_instance"])
        time, action, stack = int(event["time"]), event["action"], self.stack[process]
        # All that are open and not suspended have run since the last event; the innermost one on its own behalf.
        since = self.clock.get(process, time)
        running = [e for e in stack if e.running]
        for execution in running:
            execution.net += time - since
        if running:
            running[-1].own += time - since
        self.clock[process] = time
        if action == "start":
            execution = Execution(key[1], self.core_of((process[0], int(process[1]))), time)
            self.executing[key] = execution
            self.runnables[key[0]].append(execution)
            stack.append(execution)
        elif key not in self.executing:  # It was there before the recording began.
            execution = self.executing[key] = Execution(key[1], self.core_of((process[0], int(process[1]))), None)
            self.runnables[key[0]].append(execution)
            stack.insert(0, execution)
        execution = self.executing[key]
        execution.running = action in ("start", "resume")
        if action == "terminate":
            execution.end = time
            stack.remove(execution)
            del self.executing[key]

    def samples(self, window):
        """Yields metric, entity, type, core, value (None: cut off) and time of every sample in the window, or of all."""
        first, last = window or (-math.inf, math.inf)

        def inside(at):
            # An instance may show neither its activation nor its start nor its end.
            return window is None if at is None else first <= at < last

        for who, by_number in self.processes.items():
            instances = [by_number[number] for number in sorted(by_number)]
            lost = {number for number, _ in self.lost[who]}
            pairs = [
                (i, n)
                for i, n in zip(instances, instances[1:])
                if all(number in lost for number in range(i.number + 1, n.number))
            ]
            for i in instances:
                yield from ((metric, *who, i.core, v, at) for metric, v, at in self.of_instance(i) if inside(at))
            yield from (sample for sample in self.of_pairs(who, instances, dict(pairs)) if inside(sample[-1]))
            yield from self.counts(who, instances, inside)
            yield from self.migrations(who, instances, pairs, inside)
        for who in {*self.processes, *self.lost}:
            core = only({i.core for i in self.processes[who].values() if i.core})
            times = [at for _, at in self.lost[who] if inside(at)]
            yield ("MtaLimitExceeding", *who, core, len(times), min(times, default=None))
        yield from self.loads(max(self.begin, first), min(self.end, last))
        yield from self.overhead(max(self.begin, first), min(self.end, last))
        for name, executions in self.runnables.items():
            for e in executions:
                at = e.start if e.start is not None else e.end
                if inside(at):
                    whole = e.start is not None and e.end is not None
                    yield ("RunnableNetExecutionTime", name, "R", e.core, e.net if whole else None, at)
                    yield ("RunnableSelfExecutionTime", name, "R", e.core, e.own if whole else None, at)
                    yield ("RunnableGrossExecutionTime", name, "R", e.core, e.end - e.start if whole else None, at)

    @staticmethod
    def of_instance(i):
        activated, started, ended = (i.at.get(m) for m in ("activate", "start", "terminate"))
        some = i.moment("activate", "start", "terminate")
        at = some if activated is None else activated
        yield "StartDelay", started - activated if i.complete else None, at
        yield "ResponseTime", ended - activated if i.complete else None, at
        at = some if started is None else started
        yield "GrossExecutionTime", ended - started if i.complete else None, at
        for prefix, state in PER_STATE.items():
            metric = prefix + ("ExecutionTime" if prefix == "Net" else "Time")
            yield metric, i.spent(state) if i.complete else None, at

    @staticmethod
    def of_pairs(who, instances, next_of):
        for metric, moment, other in (
            ("ActivateToActivate", "activate", "activate"),
            ("StartToStart", "start", "start"),
            ("EndToEnd", "terminate", "terminate"),
            ("EndToStart", "terminate", "start"),
        ):
            for i in instances:
                begin = i.at.get(moment)
                end = next_of[i].at.get(other) if i in next_of else None
                at = begin if begin is not None else i.moment("activate", "start", "terminate")
                if begin is not None and end is not None:
                    yield (metric, *who, i.core, end - begin, at)
                elif not i.complete:
                    yield (metric, *who, i.core, None, at)

    def counts(self, who, instances, inside):
        core = only({i.core for i in instances if i.core})
        activated = [i.at["activate"] for i in instances if "activate" in i.at and inside(i.at["activate"])]
        yield ("Activations", *who, core, len(activated), min(activated, default=None))
        shown = [(i.preemptions, i.moment("activate", "start", "terminate")) for i in instances]
        shown = [(n, self.begin if at is None else at) for n, at in shown]
        preempted = [(n, at) for n, at in shown if n and inside(at)]
        first_at = min((at for _, at in preempted), default=None)
        yield ("Preemptions", *who, core, sum(n for n, _ in preempted), first_at)

    @staticmethod
    def migrations(who, instances, pairs, inside):
        runs = {i: i.runs() for i in instances}
        cores = {core for r in runs.values() for core, _, _ in r}
        if not cores:
            return
        core = only(cores)
        full = []
        for r in runs.values():
            if r and inside(r[0][1]):
                full += [r[0][1] for a, b in zip(r, r[1:]) if a[0] != b[0]]
        yield ("FullMigrations", *who, core, len(full), min(full, default=None))
        bounded = [runs[n][0][1] for i, n in pairs if runs[i] and runs[n] and runs[i][-1][0] != runs[n][0][0]]
        bounded = [at for at in bounded if inside(at)]
        yield ("BoundedMigrations", *who, core, len(bounded), min(bounded, default=None))

    def loads(self, first, last):
        occupied = defaultdict(int)
        for (name, kind), instances in self.processes.items():
            for i in instances.values():
                for core, begin, end in i.runs():
                    inside = min(end, last) - max(begin, first)
                    if inside > 0:
                        idle = kind == "T" and name in self.idle_tasks
                        occupied[core, "C", core] += 0 if idle else inside
                        if not idle:
                            occupied[name, kind, core] += inside
        for (name, kind, core), time in occupied.items():
            yield ("CPULoad", name, kind, core, 100 * Fraction(time, last - first), first)
        spans = defaultdict(list)
        for (name, kind), instances in self.processes.items():
            for i in instances.values():
                for state, core, begin, end in i.stretches:
                    begin, end = max(begin, first), min(end, last)
                    if state in SHARES and core and begin < end:
                        spans[SHARES[state], name, kind, core].append((begin, end))
                        spans[SHARES[state], core, "C", core].append((begin, end))
        for (metric, name, kind, core), found in spans.items():
            # What happens to several at once counts once for their core.
            time, until = 0, first
            for begin, end in sorted(found):
                time, until = time + max(0, end - max(begin, until)), max(until, end)
            yield (metric, name, kind, core, 100 * Fraction(time, last - first), first)

    def overhead(self, first, last):
        """The parts of outermost calls of services in which their callers run."""
        spent = defaultdict(int)
        for call in self.calls:
            instance = self.processes[call["process"], call["type"]][int(call["instance"])]
            for state, core, begin, end in instance.stretches:
                inside = min(end, int(call["exit_at"]), last) - max(begin, int(call["enter_at"]), first)
                if state == "running" and inside > 0:
                    spent[call["process"], call["type"], core] += inside
                    spent[core, "C", core] += inside
        for (name, kind, core), time in spent.items():
            yield ("OsOverhead", name, kind, core, 100 * Fraction(time, last - first), first)


def apart(events, calls, shared):
    """Makes the ISRs of a name that cores share the processes of their cores, counted for each of them."""
    cores, own, counts = {}, {}, defaultdict(int)
    for e in events:
        if e["target_type"] == "I" and e["target"] in shared and e["action"] != "activate" and e["action"] in CHART:
            cores.setdefault((e["target"], e["target_instance"]), e["source"])
    for e in events:
        actor = e["target"], e["target_instance"]
        if e["target_type"] == "I" and actor in cores:
            if actor not in own:
                name = f"{cores[actor]}.{actor[0]}"
                own[actor] = name, str(counts[name])
                counts[name] += 1
            e["target"], e["target_instance"] = own[actor]
        source = e["source"], e["source_instance"]
        if e["target_type"] == "R" and source in own:
            e["source"], e["source_instance"] = own[source]
    for call in calls:
        actor = call["process"], call["instance"]
        if call["type"] == "I" and actor in own:
            call["process"], call["instance"] = own[actor]


def only(cores):
    return next(iter(cores)) if len(cores) == 1 else None


def summary(samples):
    """The lines of the result, by metric, entity, type (and core, for loads)."""
    groups = defaultdict(list)
    for metric, name, kind, core, value, at in samples:
        groups[metric, name, kind, core if metric in PERCENT else None].append((core, value, at))
    return {key: statistics_of(rows) for key, rows in groups.items()}


def statistics_of(rows):
    cores = {core for core, _, _ in rows if core}
    known = sorted((value, math.inf if at is None else at) for _, value, at in rows if value is not None)
    values = [value for value, _ in known]
    line = dict.fromkeys(EXACT + ROUNDED)
    line.update(core=only(cores), count=len(values), incomplete=len(rows) - len(values))
    if not values:
        return line

    def percentile(p):
        rank = p * (len(values) - 1)
        low, high = math.floor(rank), math.ceil(rank)
        return values[low] + (values[high] - values[low]) * (rank - low)

    times = {value: min(at for v, at in known if v == value) for value in (values[0], values[-1])}
    line.update(min=values[0], max=values[-1], avg=Fraction(sum(values)) / len(values))
    line.update({f"{m}_at": None if times[line[m]] == math.inf else times[line[m]] for m in ("min", "max")})
    line.update(p50=percentile(Fraction(1, 2)), p95=percentile(Fraction(95, 100)), p99=percentile(Fraction(99, 100)))
    if len(values) > 1:
        line["stddev"] = math.sqrt(statistics.variance(values))
    return line


def same(column, percent, mine, theirs):
    if mine is None or theirs == "":
        return mine is None and theirs == ""
    if column == "core":
        return mine == theirs
    if column in EXACT and not (percent and column in ("min", "max")):
        return int(mine) == Fraction(theirs)
    return math.isclose(float(mine), float(theirs), rel_tol=1e-9, abs_tol=1e-9)


def ask(program, *arguments):
    done = subprocess.run([program, *arguments, "--format", "csv"], check=True, capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def main(program, database):
    if int(ask(program, "query", database, "SELECT count(*) AS n FROM gap")[0]["n"]):
        sys.exit("a recording has gaps, which are not thought of here")
    # A recording lasts from its first record to its last one; system events that were made of software events are none.
    ranges = ask(program, "query", database, """
        SELECT b.recording, coalesce(s.first, b.first) AS first, coalesce(s.last, b.last) AS last
        FROM (SELECT recording, min(time) AS first, max(time) AS last FROM btf_event GROUP BY recording) AS b
        LEFT JOIN (
            SELECT recording, min(time) AS first, max(time) AS last FROM (
                SELECT recording, time FROM data_event UNION ALL SELECT recording, time FROM function_event) AS software
            GROUP BY recording) AS s
        ON b.recording = s.recording ORDER BY b.recording""")
    lines = differing = 0
    for r in ranges:
        begin, end = int(r["first"]), int(r["last"])
        where = r["recording"].replace("'", "''")
        events = ask(program, "query", database, f"SELECT * FROM btf_event WHERE recording = '{where}' ORDER BY seq")
        idle = ask(program, "query", database, f"SELECT entity FROM entity WHERE recording = '{where}' AND idle")
        calls = ask(program, "query", database, f"""
            SELECT process, type, instance, enter_at, exit_at FROM os_call
            WHERE recording = '{where}' AND depth = 0 AND process IS NOT NULL AND exit_at IS NOT NULL""")
        isrs = ask(program, "query", database, f"""
            SELECT DISTINCT process FROM process_instance WHERE recording = '{where}' AND type = 'I'""")
        isrs = {row["process"] for row in isrs}
        names = {e["target"] for e in events if e["target_type"] == "I"} - isrs
        apart(events, calls, {name for name in names if any(isr.endswith("." + name) for isr in isrs)})
        recording = Recording(events, begin, end)
        recording.idle_tasks, recording.calls = {row["entity"] for row in idle}, calls
        third = (end - begin) // 3
        for window in (None, (begin + third, end - third)):
            mine = summary(recording.samples(window))
            cut = ["--from", str(window[0]), "--to", str(window[1])] if window else []
            asked = ask(program, "metrics", database, "--recording", r["recording"], *cut)
            theirs = {}
            for row in asked:
                core = row["core"] or None if row["metric"] in PERCENT else None
                theirs[row["metric"], row["entity"], row["type"], core] = row
            wrong = []
            for key in sorted({*mine, *theirs}, key=str):
                if key not in mine or key not in theirs:
                    wrong.append(f"{key}: {'not expected' if key in theirs else 'missing'}")
                    continue
                for column in EXACT + ROUNDED:
                    value = mine[key][column]
                    if not same(column, key[0] in PERCENT, value, theirs[key][column]):
                        wrong.append(f"{key} {column}: {theirs[key][column]!r}, expected {value}")
            name = r["recording"] + (" {}..{}".format(*window) if window else "")
            print(f"{name:30} {len(events):8} events {len(mine):5} lines  {'DIFFERS' if wrong else 'same'}")
            print("".join(f"    {line}\n" for line in wrong[:20]), end="")
            lines, differing = lines + len(mine), differing + len(wrong)
    if not lines:
        sys.exit(f"{database} holds no events: nothing to compare")
    return 1 if differing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: metrics.py BTFDB DB")
    sys.exit(main(sys.argv[1], sys.argv[2]))
