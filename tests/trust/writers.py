"""Many writers and readers at once. Each answer of a reader is that of one state that was the newest one while it ran: what
each recording gives is known from a database in which it is alone, and the log says which recordings each commit left. Each
change that a writer reports is in the log once, and nothing else."""

import csv
import io
import json
import shutil
import subprocess
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import ROOT, Run

# The table in pieces is cut before this line.
CUT = 18
# Stands for the label of a recording that is alone.
SERIAL = 4711_0815
NAMES = [f"pool{n:02}" for n in range(40)]
TABLES = {"btf_event": "time", "process_instance": "coalesce(activate_at, 0) + coalesce(terminate_at, 0)",
          "process_state": "end_at - begin_at", "source": "bytes", "entity": "length(entity)", "gap": "1", "diagnostic": "1",
          "recording": "begin_at + end_at", "recording_label": "CAST(value AS BIGINT)"}
UNION = " UNION ALL ".join(f"SELECT recording, '{table}' AS of, count(*) AS n, sum({value}) AS s FROM {table} GROUP BY 1"
                           for table, value in TABLES.items())
JOIN = """SELECT r.recording, l.value, r.begin_at, r.end_at, e.n, e.last, s.n, s.spent, i.n FROM recording r
          LEFT JOIN recording_label l ON l.recording = r.recording
          FULL JOIN (SELECT recording, count(*) AS n, max(time) AS last FROM btf_event GROUP BY 1) e ON e.recording = r.recording
          FULL JOIN (SELECT recording, count(*) AS n, sum(end_at - begin_at) AS spent FROM process_state GROUP BY 1) s
          ON s.recording = r.recording
          FULL JOIN (SELECT recording, count(*) AS n FROM process_instance GROUP BY 1) i ON i.recording = r.recording"""
METRICS = ["ResponseTime", "NetExecutionTime", "CPULoad"]
# Seconds that a command may take while many others run, and in a bucket.
LONGEST, LONGEST_IN_BUCKET = 60.0, 300.0
# What a reader may say before the first commit.
NONE = ("is not a btfdb database", "does not exist", "there is no database at")
# What a writer may say if another one changes the same recording.
LOST = ("has just changed the recording", "already has a recording", "there is no recording", "no recording is called", "begins at",
        "has just published", "vacuum")


def by_first_column(out, _):
    """The rows of each recording."""
    rows = {}
    for name, *row in list(csv.reader(io.StringIO(out)))[1:]:
        rows.setdefault(name, []).append(row)
    return {name: sorted(rows) for name, rows in rows.items()}


def by_recording(out, _):
    tables = lambda r: sorted([table["table"], table["rows"]] for table in r["tables"])
    recordings = json.loads(out)["recordings"]
    return {r["recording"]: [str(r["labels"]), r["begin_at"], r["end_at"], tables(r)] for r in recordings}


def whole(out, name):
    return {name: out.replace(name, "alone")} if out else {}


# How each command asks, whether it asks for one recording, and what its answer says of each one.
QUESTIONS = {
    "query": (lambda db, _: ["query", db, UNION, "--format", "csv", "-q"], False, by_first_column),
    "query of a join": (lambda db, _: ["query", db, JOIN, "--format", "csv", "-q"], False, by_first_column),
    "metrics": (lambda db, _: ["metrics", db, *METRICS, "--format", "csv", "-q"], False, by_first_column),
    "info": (lambda db, _: ["info", db, "--format", "json"], False, by_recording),
    "export": (lambda db, name: ["export", db, "--recording", name, "-o", "-", "-q"], True, whole),
}


class Log:
    """The commits of a database, read before a vacuum deletes them, and the state that each one left."""

    def __init__(self, database):
        self.database, self.lock = database, threading.Lock()
        self.states, self.changes = [{}], [Counter()]

    def content(self, number):
        """The file of a commit, or None."""
        path = self.database / f"log/{number:020}.json"
        return path.read_bytes() if path.exists() else None

    def tip(self):
        """The number of the newest commit."""
        with self.lock:
            while content := self.content(len(self.states)):
                commit, state = json.loads(content)["content"], dict(self.states[-1])
                changes = [("drop", name) for name in commit.get("drops", [])]
                for name in commit.get("drops", []):
                    del state[name]
                for put in commit["puts"]:
                    name, before = put["name"], state.get(put["name"])
                    is_new = before is None or before["labels"] != put["labels"]
                    changes.append(("new", name, int(put["labels"]["serial"])) if is_new else ("again", name))
                    state[name] = put
                self.states.append(state)
                self.changes.append(Counter(changes))
            return len(self.states) - 1


class Kinds:
    """What can be ingested: each kind in one piece or several, with the answers when it is alone."""

    def __init__(self, btfdb, folder):
        table = ROOT / "tests/data/erika2/shared_masks"
        lines = (table / "core0_data.csv").read_text().splitlines(keepends=True)
        pieces = []
        for n, some in enumerate((lines[:CUT], lines[CUT:])):
            pieces.append(shutil.copytree(table, folder / f"piece{n}"))
            (pieces[-1] / "core0_data.csv").write_text("".join(some))
        self.pieces = {"pieces": pieces, "demo": [ROOT / "demo/recording"], "qnx": [ROOT / "tests/data/qnx/services.txt"],
                       "btf": [ROOT / "tests/data/btf/thesis_t52.btf"], "grasp": [ROOT / "tests/data/grasp/control.grasp"]}
        self.mapped = ("pieces", "demo")
        self.of_serial = {}
        # By kind: for each number of pieces where it ends, and its answers.
        self.alone = {kind: self.answers(btfdb, folder / f"{kind}.db", pieces) for kind, pieces in self.pieces.items()}

    def answers(self, btfdb, database, pieces):
        found, log = [], Log(database)
        for n, piece in enumerate(pieces):
            how = ["--continue", "alone"] if n else ["--name", "alone", "--label", f"serial={SERIAL}"]
            runs = {"ingest": Run(btfdb, "ingest", database, piece, *how, "-q")}
            runs |= {what: Run(btfdb, *words(database, "alone")) for what, (words, *_) in QUESTIONS.items()}
            if bad := [f"{what}: {run.err}" for what, run in runs.items() if run.code != 0]:
                raise SystemExit(f"{piece}: {bad}")
            of = {what: QUESTIONS[what][2](run.out.decode(), "alone") for what, run in runs.items() if what != "ingest"}
            end = log.states[log.tip()]["alone"]["end_at"]
            found.append((end, {what: json.dumps(answer.get("alone")) for what, answer in of.items()}))
        return found

    def version(self, put):
        """The kind of a recording, and the number of its last piece."""
        kind = self.of_serial[int(put["labels"]["serial"])]
        return kind, [end for end, _ in self.alone[kind]].index(put["end_at"])

    def answer(self, question, put):
        kind, version = self.version(put)
        return json.loads(self.alone[kind][version][1][question].replace(str(SERIAL), put["labels"]["serial"]))


class Trial:
    def __init__(self, btfdb, folder, figures, chance, log):
        self.btfdb, self.figures, self.chance = btfdb, figures, chance
        self.database, self.log, self.kinds = log.database, log, Kinds(btfdb, folder)
        self.longest = Run.patience = LONGEST if isinstance(self.database, Path) else LONGEST_IN_BUCKET
        self.serial, self.is_over = 0, threading.Event()
        # Begin and end of each vacuum without grace: then readers may fail.
        self.vacuums = []

    # ---- readers

    def read(self, chance):
        try:
            self.read_on(chance)
        except Exception:
            self.figures.fail(traceback.format_exc())

    def read_on(self, chance):
        while not self.is_over.is_set():
            what = chance.choice([*QUESTIONS, "verify", "shell"])
            name = chance.choice(NAMES)
            first, begun = self.log.tip(), time.monotonic()
            run = self.asked(what, name, chance)
            last = self.log.tip()
            if wrong := self.wrong(what, name, run, (first, last), begun):
                beside = "beside a vacuum without grace, " if self.may_be_gone(begun) else ""
                self.figures.fail(f"{what} of commits {first} to {last}: {beside}{wrong}")
            self.figures.count(f"reader: {what}", *(["reader: beside commits"] if last > first else []))

    def may_be_gone(self, begun):
        """Whether a vacuum may have deleted what a reader needs."""
        return any(end > begun for _, end in self.vacuums)

    def asked(self, what, name, chance):
        if what == "verify":
            return Run(self.btfdb, "verify", self.database)
        if what != "shell":
            return Run(self.btfdb, *QUESTIONS[what][0](self.database, name))
        # Says the same twice, whatever is committed in between.
        shell = subprocess.Popen([self.btfdb, "shell", self.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, cwd=ROOT)
        run = Run.__new__(Run)
        statement = f"SELECT * FROM ({UNION}) ORDER BY 1, 2;\n".encode()
        try:
            shell.stdin.write(statement)
            shell.stdin.flush()
            time.sleep(chance.uniform(0, 1.5))
        except BrokenPipeError:
            pass
        try:
            run.out, err = shell.communicate(statement)
        except BrokenPipeError:
            run.out, err = shell.stdout.read(), shell.stderr.read()
        run.code, run.err, run.seconds = shell.wait(), err.decode(errors="replace"), 0
        return run

    def wrong(self, what, name, run, span, begun):
        said = run.err.strip()[:600]
        if why := run.why_bad(self.longest, (0, 1, 2, 3)):
            return f"{why}: {said}"
        if run.code == 1 and span[0] == 0 and any(text in said for text in NONE):
            return self.figures.count("reader: before the first commit")
        if run.code == 1 and "vacuum" in said and self.may_be_gone(begun):
            return self.figures.count("reader: refused because of a vacuum")
        if what == "verify":
            is_sound = run.code == 0 and "all as written" in said and "interrupted" not in said
            return None if is_sound else f"exit code {run.code}: {run.out.decode()[:600]} {said}"
        out = run.out.decode(errors="replace")
        if what == "shell":
            half = out[:len(out) // 2]
            if run.code != 0 or out != half + half:
                return f"exit code {run.code}: two answers: {said}"
            what, out = "query", half
        _, is_one, told = QUESTIONS[what]
        is_absent = is_one and run.code == 2 and "there is no recording" in said
        if run.code != 0 and not is_absent:
            return f"exit code {run.code}: {said}"
        answer = json.loads(json.dumps({} if is_absent else told(out, name)))
        nearest = None
        for number in range(span[0], span[1] + 1):
            state = self.log.states[number]
            chosen = [n for n in state if n == name] if is_one else state
            expected = {n: block for n in chosen if (block := self.kinds.answer(what, state[n])) is not None}
            if expected == answer:
                return None
            differs = {n: (expected.get(n), answer.get(n)) for n in {*expected, *answer} if expected.get(n) != answer.get(n)}
            nearest = min(nearest or differs, differs, key=len)
        return f"is the answer of no state; expected and found: {str(nearest)[:1500]}"

    # ---- writers

    def job(self, state):
        """A command, what it changes if it does it, and the recordings that it is about."""
        chance, database = self.chance, self.database
        kind = chance.choices(["change", "vacuum", "vacuum without grace", "publish"], [20, 1, 1, 1])[0]
        if kind != "change":
            words = {"vacuum": ["vacuum", database, "--older-than", "1h"], "publish": ["publish", database, "--delta"],
                     "vacuum without grace": ["vacuum", database, "--older-than", "0s"]}
            return kind, words[kind], Counter(), []
        name = chance.choice(NAMES)
        version = self.kinds.version(state[name]) if name in state else None
        choices = ["ingest"]
        if version:
            choices += ["remove"] * 5 + ["map"] * 3 * (version[0] in self.kinds.mapped)
            choices += ["continue"] * 6 * (version[1] + 1 < len(self.kinds.pieces[version[0]]))
        what = chance.choice(choices)
        if what == "ingest":
            self.serial += 1
            kind = self.kinds.of_serial[self.serial] = chance.choice([*self.kinds.pieces, "pieces"])
            words = ["ingest", database, self.kinds.pieces[kind][0], "--name", name, "--label", f"serial={self.serial}"]
            return "ingest of a name that is taken" if version else what, words, Counter([("new", name, self.serial)]), [name]
        if what == "continue":
            words = ["ingest", database, self.kinds.pieces[version[0]][version[1] + 1], "--continue", name]
            return what, words, Counter([("again", name)]), [name]
        names = [name]
        if what == "remove" and chance.random() < 0.3:
            names += [other for other in state if other != name][:1]
        change = "drop" if what == "remove" else "again"
        return what, [what, database, "--recording", ",".join(names)], Counter((change, n) for n in names), names

    def write(self, job):
        what, words, *_ = job
        span = [time.monotonic(), float("inf")]
        if what == "vacuum without grace":
            self.vacuums.append(span)
        run = Run(self.btfdb, *words, "-q")
        span[1] = time.monotonic()
        return run

    def turn(self, count):
        """Some writers at the same time; then each commit is of one of them."""
        before = self.log.tip()
        state = self.log.states[before]
        jobs = [self.job(state) for _ in range(count)]
        if before == 0:
            jobs = [job for job in jobs if job[0] == "ingest"]
        with ThreadPoolExecutor(count) as pool:
            runs = list(pool.map(self.write, jobs))
        made, about = Counter(), Counter(name for job in jobs for name in job[3])
        publishers = sum(job[0] == "publish" for job in jobs)
        for (what, _, changes, names), run in zip(jobs, runs):
            said = run.err.strip()[:600]
            is_alone = all(about[name] == 1 for name in names)
            # In a bucket, no lock keeps others away who publish.
            is_taken = what == "publish" and publishers > 1 and not isinstance(self.database, Path)
            may_fail = not is_alone or is_taken or what == "ingest of a name that is taken"
            if run.code == 0:
                made += changes
            if why := run.why_bad(self.longest, (0, 1, 2)):
                self.figures.fail(f"{what}: {why}: {said}")
            elif (run.code != 0 and not may_fail) or (run.code == 0 and is_alone and what == "ingest of a name that is taken"):
                self.figures.fail(f"{what} of {names}: exit code {run.code}: {said}")
            elif run.code != 0 and not any(text in said for text in LOST):
                self.figures.fail(f"{what} of {names}: {said}")
            self.figures.count(f"writer: {what}{'' if run.code == 0 else ': refused'}")
        found = sum(self.log.changes[before + 1:self.log.tip() + 1], Counter())
        if made != found:
            self.figures.fail(f"writers: reported, not in the log: {made - found}; in the log, not reported: {found - made}")

    def tidy(self):
        """At the end, the files are those of the last state."""
        tip, verify = self.log.tip(), Run(self.btfdb, "verify", self.database)
        last = Run(self.btfdb, "vacuum", self.database, "--older-than", "0s")
        again = Run(self.btfdb, "verify", self.database)
        for run in (verify, last, again):
            if run.code != 0 or "interrupted" in run.err or "at work" in run.err:
                self.figures.fail(f"at the end: exit code {run.code}: {run.out.decode()[:600]} {run.err.strip()[:600]}")
        for what in QUESTIONS:
            run = Run(self.btfdb, *QUESTIONS[what][0](self.database, NAMES[0]))
            if wrong := self.wrong(what, NAMES[0], run, (tip, tip), float("inf")):
                self.figures.fail(f"{what} at the end: {wrong}")
        if not isinstance(self.database, Path):
            return
        parts = lambda path: path.relative_to(self.database).parts
        files = {"/".join(parts(path)) for path in self.database.rglob("*") if path.is_file()}
        rest = {file for file in files if not file.startswith("log/") and "/_delta_log/" not in file} - {".lock", ".reserve"}
        named = {file["path"] for put in self.log.states[tip].values() for file in put["files"] + put.get("blobs", [])}
        empty = [path for path in self.database.rglob("*") if path.is_dir() and not any(path.iterdir())]
        if rest != named or empty:
            gone = sorted(named - rest)[:5]
            self.figures.fail(f"at the end: left over: {sorted(rest - named)[:5]}, {empty[:5]}; gone: {gone}")


def written(btfdb, _sound, folder, figures, chance, commits, together, log=None):
    """So many commits, by writers in turns of `together`, or of 2 to 20; readers all the time. In the database of `log`, or in one
    that is made."""
    trial = Trial(btfdb, folder, figures, chance, log or Log(folder / "many.db"))
    readers = [threading.Thread(target=trial.read, args=(type(chance)(chance.random()),)) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        while trial.log.tip() < commits:
            trial.turn(together or chance.randint(2, 20))
    finally:
        trial.is_over.set()
        for reader in readers:
            reader.join()
    trial.tidy()
    figures.count(*["writer: commits"] * trial.log.tip())
