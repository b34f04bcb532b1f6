"""Runs the contenders of a work in turns, and keeps the results: times, sizes, whether answers agree and targets are met."""

import csv
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from inputs import Inputs, remove
from measure import Failed, Run, median, run

HARNESS = Path(__file__).parent
#: The contender that only looks for line ends.
SCAN = "wc -l"


@dataclass
class Contender:
    """A contender: a program and how it does a work."""

    name: str
    command: list
    ours: bool = False
    #: Files and folders that must not be there before.
    clear: list = field(default_factory=list)
    #: Files that are to be read from the disk.
    cold: list = field(default_factory=list)
    #: The engine whose empty start is taken off.
    startup: str | None = None
    #: Rows of the answer, of what the command printed.
    answer: Callable | None = None
    #: Bytes of the table that was written.
    stored: Callable | None = None
    #: Raises `Failed` when a run was not right.
    check: Callable | None = None


@dataclass
class Target:
    """A figure of our own line of the table, and how much it may be at most, or must be at least."""

    figure: str
    bound: float
    least: bool = False


@dataclass
class Line:
    """What one contender needed."""

    name: str
    run: Run
    ours: bool = False
    per_row: float | None = None
    #: Of its input, where the contenders of a work have different ones.
    rows: int | None = None
    text: int | None = None


@dataclass
class Result:
    """A work that was done."""

    name: str
    rows: int
    text: int | None
    lines: list
    notes: list = field(default_factory=list)
    #: (figure, value, target, met)
    verdicts: list = field(default_factory=list)
    limit: float | None = None

    def run(self, name):
        return next(line.run for line in self.lines if line.name == name)

    def check(self, figure, value, bound, least=False):
        met = value >= bound if least else value <= bound
        self.verdicts.append((figure, value, f"{'≥' if least else '≤'} {bound:g}", met))

    @property
    def ours(self):
        return next(line for line in self.lines if line.ours)

    @property
    def best_peer(self):
        peers = [line for line in self.lines if not line.ours and line.name != SCAN]
        return min(peers, key=lambda line: line.run.cpu, default=None)


class Bench:
    """What a run of the benchmark has: programs, folders, sizes."""

    def __init__(self, options, peers):
        self.binary, self.work = options.binary, options.work
        self.repeat, self.timeout = options.repeat, options.timeout
        self.peers, self.small = peers, options.small
        #: Levels of zstd that the peers write with.
        self.levels = (1,) if options.small else (1, 3)
        self.sql = HARNESS / "sql"
        self.inputs = Inputs(options, self.btfdb)
        #: Most memory that each command of btfdb took: MiB in total, and of them anonymous.
        self.memory = {}

    def btfdb_command(self, *arguments):
        return [str(self.binary), "--quiet", *map(str, arguments)]

    def peer(self, engine, job, *arguments):
        return [sys.executable, "-B", str(HARNESS / "peers.py"), engine, job, *map(str, arguments)]

    def database(self, name):
        return self.inputs.databases / f"{name}.out.db"

    def data_database(self):
        """The database of the synthetic data export: made by the work `data`, or here."""
        database = self.database("data")
        if not database.exists():
            folder, _ = self.inputs.synthetic("data", 1)
            self.btfdb("ingest (data export)", "ingest", database, folder, "--no-map")
        return database

    def measure(self, label, command, cold=()):
        done = run(command, self.timeout, cold)
        if command[0] == str(self.binary):
            total, anonymous = self.memory.get(label, (0, 0))
            self.memory[label] = (max(total, done.total), max(anonymous, done.anonymous))
        return done

    def btfdb(self, label, *arguments):
        return self.measure(label, self.btfdb_command(*arguments))

    def query(self, database, sql):
        output = run(self.btfdb_command("query", database, sql, "--format", "csv"), self.timeout).output
        return list(csv.reader(output.splitlines()))[1:]

    def sums(self, kind, glob):
        if "duckdb" not in self.peers:
            return None
        return list(csv.reader(run(self.peer("duckdb", "sums", kind, glob), self.timeout).output.splitlines()))

    def start(self, engine):
        """Lets an engine do nothing."""
        return run(self.btfdb_command("metrics", "--list") if engine == "btfdb" else self.peer(engine, "start"), 60)

    def compare(self, name, contenders, rows, text, targets):
        """Runs all contenders in turns, as often as `repeat` says. A peer that fails is left out, with a note. Each turn begins
        with another contender, so that after-effects of a run (memory that the host of a virtual machine takes back) affect
        all of them."""
        runs, starts, answers, per_row, notes = {}, {}, {}, {}, []
        for turn in range(self.repeat):
            first = turn % len(contenders)
            for c in contenders[first:] + contenders[:first]:
                try:
                    list(map(remove, c.clear))
                    done = self.measure(f"{name}: {c.name}" if c.name != "btfdb" else name, c.command, c.cold)
                    if c.check:
                        c.check()
                    if turn == 0 and c.answer:
                        answers[c.name] = c.answer(done.output)
                    if turn == 0 and c.stored:
                        per_row[c.name] = c.stored() / rows
                    runs.setdefault(c.name, []).append(done)
                    if c.startup:
                        starts.setdefault(c.startup, []).append(self.start(c.startup))
                except Failed as failure:
                    if c.ours:
                        raise
                    contenders.remove(c)
                    runs.pop(c.name, None)
                    notes.append(f"{c.name} failed: {failure}")
        for c in contenders:
            if not c.ours:
                list(map(remove, c.clear))
        self._agree(contenders, answers, notes)
        lines = []
        for c in contenders:
            m = median(runs[c.name])
            if c.startup:
                start = median(starts[c.startup])
                m = Run(max(m.cpu - start.cpu, 0.001), max(m.wall - start.wall, 0.001), m.total, m.anonymous, m.output)
            lines.append(Line(c.name, m, c.ours, per_row.get(c.name)))
        if starts:
            walls = ", ".join(f"{engine} {median(s).wall:.3f}" for engine, s in starts.items())
            notes.append(f"Start-up that was taken off, wall s: {walls}.")
        result = Result(name, rows, text, lines, notes)
        self._targets(result, targets)
        return result

    @staticmethod
    def _agree(contenders, answers, notes):
        ours = next((c.name for c in contenders if c.ours), None)
        if answers.get(ours) is None:
            return
        for name, answer in answers.items():
            if not alike(answers[ours], answer):
                raise Failed(f"the answers of {ours} and {name} differ: {answers[ours][:3]} {answer[:3]}")
        if len(answers) > 1:
            notes.append(f"All answers agree: {', '.join(answers)}.")

    @staticmethod
    def _targets(result, targets):
        line, best = result.ours, result.best_peer
        figures = {
            "CPU-s per GB": line.run.cpu / (result.text / 1e9) if result.text else None,
            "bytes per row": line.per_row,
            "MiB at the peak": max(other.run.total for other in result.lines if other.ours),
            "times the best peer": best and best.run.cpu / line.run.cpu,
        }
        for target in targets:
            value = figures[target.figure]
            if value is not None:
                result.check(target.figure, value, target.bound, target.least)

    def limit(self, result, glob):
        """What the work needs at least: to look for line ends, and to compress the columns."""
        try:
            [[seconds, size]] = csv.reader(run(self.peer("limit", "zstd", glob), self.timeout).output.splitlines())
        except Failed as failure:
            result.notes.append(f"No limit: {failure}")
            return
        scan = result.run(SCAN).cpu
        result.limit = scan + float(seconds)
        result.notes.append(
            f"Limit: {scan:.2f} CPU-s of {SCAN} and {float(seconds):.2f} of zstd -1 over the columns (then "
            f"{int(size) / result.rows:.2f} bytes per row); btfdb takes "
            f"{result.ours.run.cpu / result.limit:.1f} times that.")


def alike(a, b):
    """The same rows, in any order; numbers with a point to nine digits."""
    if a is None or b is None or len(a) != len(b):
        return a is None or b is None
    return all(len(x) == len(y) and all(map(same_cell, x, y)) for x, y in zip(sorted(a, key=key), sorted(b, key=key)))


def key(row):
    return str(row[0])


def same_cell(x, y):
    x, y = str(x), str(y)
    if x == y:
        return True
    try:
        return ("." in x or "." in y) and math.isclose(float(x), float(y), rel_tol=1e-9)
    except ValueError:
        return False
