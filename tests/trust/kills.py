"""Writing commands are killed: the database is the one before or the one after."""

import shutil
import signal
import subprocess
import time

from run import ROOT, Run


def killed(btfdb, sound, folder, figures, chance, rounds):
    """Kills writing commands at any moment. Then the database is sound, and is the one before or the one after."""
    writing = {
        "ingest": lambda db: ["ingest", db, "demo/recording", "--name", "new", "-q"],
        "ingest of several": lambda db: ["ingest", db, "tests/data/btf/metrics.btf", "tests/data/btf/suspended.btf", "-q"],
        "map": lambda db: ["map", db, "--recording", "demo,events", "-q"],
        "remove": lambda db: ["remove", db, "--recording", "demo,words", "-q"],
        "vacuum": lambda db: ["vacuum", db, "--older-than", "0s", "-q"],
        "publish": lambda db: ["publish", db, "--delta", "-q"],
        "new database": lambda db: ["ingest", db.with_name("new.db"), "demo/recording", "-q"],
    }
    state = ("SELECT recording, (SELECT count(*) FROM btf_event b WHERE b.recording = r.recording) AS events, (SELECT "
             "sum(end_at - begin_at) FROM process_state s WHERE s.recording = r.recording) AS spent FROM recording r "
             "ORDER BY recording")
    database = folder / "killed.db"

    def fresh():
        for each in (database, folder / "new.db"):
            shutil.rmtree(each, ignore_errors=True)
        shutil.copytree(sound, database)

    def now(of):
        return Run(btfdb, "query", of, state, "--format", "csv")

    ends = {}
    for what, words in writing.items():
        fresh()
        of = folder / "new.db" if what == "new database" else database
        before = now(of).out
        took = []
        for _ in range(3):
            fresh()
            run = Run(btfdb, *words(database))
            took.append(run.seconds)
        ends[what] = (of, before, now(of).out, max(took))
    for _ in range(rounds):
        what = chance.choice(sorted(writing))
        of, before, after, seconds = ends[what]
        fresh()
        process = subprocess.Popen([btfdb, *map(str, writing[what](database))], cwd=ROOT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        moment = chance.uniform(0, seconds)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        figures.count(f"killed: {what}")
        # A database that was not made yet is none.
        found = now(of)
        is_none = what == "new database" and found.code == 1 and "fault" not in found.err
        if not is_none and (found.code != 0 or found.out not in (before, after)):
            figures.fail(f"{what}, killed after {moment:.4f} s: {found.code} {found.err.strip()[:300]}\n{found.out.decode()[:500]}")
            continue
        figures.count(f"killed: left {'none' if is_none else 'the old one' if found.out == before else 'the new one'}")
        # The next writer tidies up.
        next_writer = Run(btfdb, "ingest", of, "tests/data/btf/thesis_t52.btf", "-q")
        verify = Run(btfdb, "verify", of)
        said = verify.out.decode(errors="replace") + verify.err
        if next_writer.code != 0 or verify.code != 0 or "left" in verify.err:
            figures.fail(f"{what}, killed after {moment:.4f} s: the next writer: {next_writer.err.strip()[:300]}: {said[:300]}")
        left = [p for p in of.rglob("*") if p.is_dir() and not any(p.iterdir())] + list(of.glob(".staging/*"))
        if left:
            figures.fail(f"{what}, killed after {moment:.4f} s: left over: {left[:3]}")
