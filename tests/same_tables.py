#!/usr/bin/env python3
"""Do two binaries make the same database of the same inputs?

    tests/same_tables.py OLD NEW [INPUT...]

Ingests and maps every input with both binaries, with NEW also with 1, 2, 3 and 8 threads, and compares what is on the disk: the
files of all tables byte by byte, table `source` without the digest of the input, the exit codes and what was said. Without
inputs: all of tests/data, the demo, and the folder of recordings that BTFDB_CORPUS names. Exit code 1 when anything differs.

For a change that is meant to change no answer. Not part of `tests/run.sh`: there is no older binary.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
THREADS = (1, 2, 3, 8)
SUFFIXES = {".btf", ".kev", ".grasp", ".log", ".gz", ".zst"}
UNSTABLE = {"sha256", "digest"}


def inputs():
    """Recordings and traces below the folders of test data."""
    folders = [ROOT / "tests/data", ROOT / "demo"]
    if corpus := os.environ.get("BTFDB_CORPUS"):
        folders.append(Path(corpus))
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name == "recording.toml":
                yield path.parent
            elif path.is_file() and (path.suffix in SUFFIXES or "expected_print" in path.name):
                yield path
            elif path.name.endswith("_func.csv") and not (path.parent / "recording.toml").exists():
                yield path


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def said(text):
    """What was said, without times and paths of databases."""
    return [re.sub(r"done in [0-9.]+ s", "done", line) for line in text.splitlines()]


def source_rows(binary, database):
    """Table `source` without the digest."""
    result = run(binary, "query", database, "SELECT * FROM source ORDER BY ALL", "--format", "csv")
    if result.returncode:
        result = run(binary, "query", database, "SELECT * FROM source", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    return sorted(tuple((k, v) for k, v in row.items() if k not in UNSTABLE) for row in rows)


def tables(database):
    """The files of all tables but `source`, by their places."""
    files = {}
    for path in sorted(Path(database).rglob("*.parquet")):
        place = path.relative_to(database)
        if place.parts[0] != "source":
            # A part has a name of its own in each database; its number and place are what counts.
            key = (str(place.parent), re.sub(r"-[0-9a-f]{8,}", "", place.name))
            files.setdefault(key, []).append(path.read_bytes())
    return files


def ingest(binary, folder, path, *options):
    database = str(folder / "a.db")
    result = run(binary, "ingest", database, str(path), *options)
    return database, result


def differences(old, new, path):
    """What differs for one input."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        found = []
        (folder / "old").mkdir()
        before, told = ingest(old, folder / "old", path)
        for threads in (None, *THREADS):
            here = folder / f"new{threads}"
            here.mkdir()
            options = [] if threads is None else ["--threads", str(threads)]
            after, result = ingest(new, here, path, *options)
            label = "as usual" if threads is None else f"{threads} threads"
            if told.returncode != result.returncode:
                found.append(f"{label}: exit code {told.returncode} -> {result.returncode}: {result.stderr[:300]}")
                continue
            if said(told.stderr) != said(result.stderr):
                lines = [f"- {l}" for l in said(told.stderr) if l not in said(result.stderr)]
                lines += [f"+ {l}" for l in said(result.stderr) if l not in said(told.stderr)]
                found.append(f"{label}: said\n      " + "\n      ".join(lines or ["the same lines in another order"]))
            if told.returncode:
                continue
            one, other = tables(before), tables(after)
            for key in sorted(set(one) | set(other)):
                if one.get(key) != other.get(key):
                    found.append(f"{label}: {'/'.join(key)} differs ({len(one.get(key, []))}, {len(other.get(key, []))} files)")
            if source_rows(old, before) != source_rows(new, after):
                found.append(f"{label}: table source differs")
        return found, sum(len(files) for files in tables(before).values()) if not told.returncode else 0


def main():
    old, new, *paths = sys.argv[1:]
    paths = [Path(p) for p in paths] or list(inputs())
    bad = compared = refused = 0
    for path in paths:
        found, files = differences(old, new, path)
        compared += files
        refused += files == 0
        if found:
            bad += 1
            print(f"{path}:")
            for line in found:
                print(f"    {line}")
    print(f"{len(paths)} inputs ({refused} refused by both), {compared} files each: {bad} inputs differ")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
