"""The inputs: the generators in `benches` make them once, and they stay in the work folder while they are needed. Databases
that the measured btfdb wrote are not kept for the next run."""

import json
import shutil
import subprocess
from pathlib import Path

from measure import Failed

BENCHES = Path(__file__).parent.parent
SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text):
    """Bytes of `2G`, `64M`, `100K` or plain bytes."""
    return int(float(text.rstrip("KMG")) * SUFFIXES.get(text[-1:], 1))


class Inputs:
    """Files of the work folder. Each has a note that says what it holds. `btfdb(label, argument, …)` runs btfdb."""

    def __init__(self, options, btfdb):
        self.work, self.databases, self.keep = options.work, options.work / "databases", options.keep
        self.bytes, self.recording = options.size, options.recording
        self.btfdb = btfdb
        # Ten million of them at 1 GB.
        self.events = self.bytes // 100
        self.clear()
        self.databases.mkdir(parents=True)

    def clear(self):
        """Removes what is not to be kept."""
        remove(self.databases if self.keep else self.work)

    @staticmethod
    def made(path, make):
        """A path and its note, which `make(path)` makes and returns when it is not there yet."""
        note = path.with_name(f"{path.name}.json")
        if not note.exists():
            remove(path)
            note.write_text(json.dumps(make(path)))
        return path, json.loads(note.read_text())

    def generator(self, name):
        # In a folder of their own: an input may have the name of the program that makes it.
        program = self.work / "generators" / name
        source = BENCHES / f"{name}.rs"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            program.parent.mkdir(exist_ok=True)
            self.tool("rustc", "--edition", "2024", "-O", "-D", "warnings", source, "-o", program)
        return program

    @staticmethod
    def tool(*command):
        """Lines of what a command prints, as lists of cells."""
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{command[0]}: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def synthetic(self, mode, share, shape="thesis"):
        """A folder with one synthetic export, and its file, rows, bytes."""

        def make(path):
            wanted = int(self.bytes * share)
            [(file, rows, length)] = self.tool(self.generator("generate"), path, "--mode", mode, "--bytes", wanted,
                                             "--shape", shape)
            return {"file": str(path / file), "rows": int(rows), "bytes": int(length)}

        return self.made(self.work / f"synthetic-{mode}-{share}-{shape}", make)

    def ctf(self):
        """A folder with a CTF trace of a kernel."""

        def make(path):
            [(events, length)] = self.tool(self.generator("ctf"), path, self.events)
            return {"rows": int(events), "bytes": int(length)}

        return self.made(self.work / "ctf", make)

    def long(self, rounds=None):
        """The real recording made long, to a number of bytes or of rounds."""

        def make(path):
            much = ("--rounds", rounds) if rounds else ("--bytes", self.bytes)
            *files, (_, done, _) = self.tool(self.generator("lengthen"), self.recording, path, *much)
            return {"rows": sum(int(f[1]) for f in files), "bytes": sum(int(f[2]) for f in files), "rounds": int(done)}

        return self.made(self.work / (f"long-{rounds}" if rounds else "long"), make)

    def long_database(self):
        """The long recording, stored and not yet mapped."""

        def make(path):
            folder, note = self.long()
            self.btfdb("ingest, not mapped (long recording)", "ingest", path, folder, "--no-map", "--name", "long")
            return note

        return self.made(self.databases / "long.db", make)

    def btf(self, factor):
        """A BTF trace: the events of the long recording, repeated until there are enough."""

        def make(path):
            database, _ = self.long_database()
            if "btf_event" not in rows_of(database):
                self.btfdb("map (long recording)", "map", database)
            once = self.work / "once.btf"
            self.btfdb("export (long recording)", "export", database, "-o", once, "--force")
            [(rows, length, _)] = self.tool(self.generator("repeat"), once, path, self.events * factor)
            once.unlink()
            with open(path) as text:
                headers = next(n for n, line in enumerate(text) if not line.startswith("#"))
            return {"rows": int(rows), "bytes": int(length), "headers": headers}

        return self.made(self.work / f"events-{factor}.btf", make)

    def btf_database(self, factor):
        """A database of such a trace; the text of the large one is not kept."""

        def make(path):
            text, note = self.btf(factor)
            self.btfdb(f"ingest BTF ({note['rows'] / 1e6:.3g} M events)", "ingest", path, text, "--name", "trace")
            if factor > 1 and not self.keep:
                remove(text)
                remove(text.with_name(f"{text.name}.json"))
            return note

        return self.made(self.databases / f"events-{factor}.db", make)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def live_files(database, table=None):
    """The files of a database, as its log lists them."""
    database = Path(database)
    recordings = {}
    for entry in sorted((database / "log").glob("*.json")):
        commit = json.loads(entry.read_text())["content"]
        recordings.update((put["name"], put["files"]) for put in commit["puts"])
        for name in commit.get("drops", []):
            del recordings[name]
    files = [file for of_recording in recordings.values() for file in of_recording]
    return [f for f in files if table in (None, f["table"])]


def rows_of(database):
    rows = {}
    for file in live_files(database):
        rows[file["table"]] = rows.get(file["table"], 0) + file["rows"]
    return rows
