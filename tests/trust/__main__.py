"""What a database promises, tried with the program: no answer comes from a damaged file, a command that is killed leaves the
database as it was, or as it would be, and readers and writers do not disturb each other.

    python3 tests/trust BTFDB [flips=N] [cuts=N] [kills=N] [writers=N] [--together K] [--seed N] [--threads N]

flips: a bit of a file is changed; each reading command then gives the answer from before, or an error, and `verify` names the
file. cuts: the same with a file that is cut off. kills: a writing command is killed at a moment of its run. writers: N commits
by turns of K writers at the same time (2 to 20 without K), beside readers, each of which must answer from one state. Prints
figures, and each case that is wrong; exit code 1 if there is one."""

import random
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
from damage import cut, damaged, flip
from kills import killed
from run import Figures, Run
from writers import written

INPUTS = ["demo/recording", "tests/data/btf/library.btf", "tests/data/btf/gaps.btf", "tests/data/btf/words.btf",
          "tests/data/grasp/control.grasp", "tests/data/qnx/services.txt", "tests/data/erika2/events",
          "tests/data/erika2/resources", "tests/data/erika2/remote_calls", "tests/data/systemview/motor"]


def make(btfdb, folder):
    """A database with files of each kind, and a log with checkpoints."""
    database = folder / "sound.db"
    for source in INPUTS:
        run = Run(btfdb, "ingest", database, source, "-q", "--label", f"from={Path(source).stem}")
        if run.code != 0:
            sys.exit(f"cannot ingest {source}: {run.err}")
    return database


def main():
    words = sys.argv[1:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    btfdb = Path(words[0]).resolve()
    options = dict(zip(words[1:], words[2:]))
    seed, threads, together = (int(options.get(name, default)) for name, default in
                               (("--seed", 1), ("--threads", 2), ("--together", 0)))
    rounds = dict(flips=100, cuts=20, kills=40, writers=200)
    given = dict(word.split("=") for word in words[1:] if "=" in word)
    if given:
        rounds = {kind: int(given.get(kind, 0)) for kind in rounds}
    # How many are done at a time, and with what.
    works = {"flips": (threads, damaged, flip), "cuts": (threads, damaged, cut), "kills": (threads, killed),
             "writers": (1, written, together)}
    figures, begun = Figures(), time.monotonic()
    threading.excepthook = lambda failed: figures.fail("".join(traceback.format_exception(failed.exc_value)))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        sound = make(btfdb, folder)
        for kind, (count, work, *more) in works.items():
            share = [rounds[kind] // count + (n < rounds[kind] % count) for n in range(count)]
            running = []
            for n, some in enumerate(share):
                if some == 0:
                    continue
                own = folder / f"{kind}-{n}"
                own.mkdir()
                arguments = (btfdb, sound, own, figures, random.Random(f"{seed} {kind} {n}"), some, *more)
                running.append(threading.Thread(target=work, args=arguments))
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
            if rounds[kind]:
                print(f"{kind}: {rounds[kind]}", flush=True)
    for kind, count in sorted(figures.counts.items()):
        print(f"  {count:6} {kind}")
    print(f"{figures.bad} wrong, {time.monotonic() - begun:.0f} s")
    sys.exit(1 if figures.bad else 0)


if __name__ == "__main__":
    main()
