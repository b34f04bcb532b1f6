"""What grows with the number of recordings, names or open instances: each input is doubled twice, and the exponent says
how the time grows (1: linear). Start-up counts, so that small inputs grow by less. Not the speed for one large trace (see
works)."""

import math
import shutil
from pathlib import Path

from bench import Line, Result
from inputs import remove
from measure import median, run

#: How often the size is doubled.
DOUBLINGS = 2


def growth(bench):
    """What doubling an input costs: numbers of recordings, entities, names and open instances"""
    folder = bench.work / "growth"
    folder.mkdir(parents=True, exist_ok=True)
    lines, exponents = [], []
    for title, size, prepare, command in WORKS:
        size = max(size // 50, 20) if bench.small else size
        sizes = [size << n for n in range(DOUBLINGS + 1)]
        made = [prepare(bench, folder, n) for n in sizes]
        done = [[] for _ in sizes]
        # In turns: a machine that becomes slower while this runs is no growth.
        for turn in range(bench.repeat):
            for n, arguments, of in zip(sizes, made, done):
                out = folder / f"out-{n}-{turn}"
                of.append(bench.btfdb(f"growth: {title}", *command(out, arguments)))
        runs = [median(of) for of in done]
        lines += [Line(f"{title}, {n}", of, ours=True, rows=n) for n, of in zip(sizes, runs)]
        exponent = math.log2(runs[-1].wall / runs[0].wall) / DOUBLINGS
        memory = math.log2(runs[-1].anonymous / max(runs[0].anonymous, 1)) / DOUBLINGS
        exponents.append((title, exponent, memory))
        # Not before: some file systems are slow to make files after many were removed.
        for left in folder.iterdir():
            remove(left)
    result = Result("growth", sum(line.rows for line in lines), None, lines)
    for title, exponent, memory in exponents:
        result.check(f"{title}: exponent of the time", exponent, 1.1)
        result.notes.append(f"{title}: time grows with n^{exponent:.2f}, memory with n^{memory:.2f}.")
    shutil.rmtree(folder)
    return result


def recordings(bench, folder, n):
    """As many small BTF files."""
    inputs = folder / f"inputs-{n}"
    inputs.mkdir()
    text = small_trace(40)
    for i in range(n):
        (inputs / f"r{i:05}.btf").write_text(text)
    return sorted(inputs.iterdir())


def fleet(bench, folder, n):
    """A database of as many recordings."""
    database = folder / f"fleet-{n}.db"
    ingest(bench, database, recordings(bench, folder, n))
    return database


def limits(bench, folder, n):
    """The same, and requirements that all of them keep."""
    (folder / "limits.toml").write_text("""
[[limit]]
metric = "ResponseTime"
upper = "1ms"
[[deadline]]
entity = "T_1"
deadline = "1ms"
[[load]]
window = "20us"
upper = 100
[[chain]]
name = "one to two"
steps = [{ entity = "T_1", action = "terminate" }, { entity = "T_2", action = "start" }]
reaction = "1ms"
[[synchronisation]]
name = "one and two"
events = [{ entity = "T_1", action = "terminate" }, { entity = "T_2", action = "start" }]
tolerance = "1ms"
""")
    return fleet(bench, folder, n)


def small_trace(instances):
    lines = ["#version 2.1.5", "#timeScale ns"]
    for i in range(instances):
        at, task = i * 1000, f"T_{i % 4},{i // 4}"
        lines += [f"{at},STI_{i % 4},{i // 4},T,{task},activate", f"{at + 10},Core_0,0,T,{task},start",
                  f"{at + 400 + i % 7},Core_0,0,T,{task},terminate"]
    return "\n".join(lines) + "\n"


def entities(bench, folder, n):
    """A trace of as many tasks, ten instances each."""
    database, text = folder / f"entities-{n}.db", folder / "entities.btf"
    with text.open("w") as out:
        out.write("#version 2.1.5\n#timeScale ns\n")
        for i in range(n * 10):
            at, task = i * 1000, f"Task_{i % n}"
            out.write(f"{at},SIM,-1,T,{task},{i // n},activate\n{at + 10},Core_0,0,T,{task},{i // n},start\n"
                      f"{at + 500 + i % 13},Core_0,0,T,{task},{i // n},terminate\n")
    ingest(bench, database, [text])
    return database


def names(bench, folder, n):
    """A trace that activates as many tasks once."""
    database, text = folder / f"names-{n}.db", folder / "names.btf"
    with text.open("w") as out:
        out.write("#version 2.1.5\n#timeScale ns\n")
        out.writelines(f"{i * 10},Core_0,0,T,Task_with_a_distinct_name_{i},0,activate\n" for i in range(n))
    ingest(bench, database, [text])
    return database


def open_instances(bench, folder, n):
    """A trace in which as many instances are active at once."""
    database, text = folder / f"open-{n}.db", folder / "open.btf"
    with text.open("w") as out:
        out.write("#version 2.1.5\n#timeScale ns\n")
        out.writelines(f"{i * 10},STI_1,0,T,T_1,{i},activate\n" for i in range(n))
        out.writelines(f"{100_000_000 + i * 10},Core_0,0,T,T_1,{i},start\n" for i in range(n))
    ingest(bench, database, [text])
    return database


def ingest(bench, database, inputs):
    remove(database)
    run(bench.btfdb_command("ingest", database, *inputs, "--no-hash"), bench.timeout)


def on(*words, out=None):
    """A command on the database that was made; `out` is how the name of the file ends that it writes."""
    def command(place: Path, database):
        written = ["-o", f"{place}.{out}"] if out else []
        return [words[0], database, *words[1:], *written]
    return command


#: Title, smallest size, what is made of it, and the command that is measured.
WORKS = [
    ("ingest of recordings", 250, recordings, lambda place, inputs: ["ingest", f"{place}.db", *inputs]),
    ("metrics of recordings", 250, fleet, on("metrics", "ResponseTime", out="csv")),
    ("samples of recordings as one", 250, fleet, on("metrics", "--across", out="csv")),
    ("requirements of recordings", 250, limits,
     lambda place, database: ["check", database, "--requirements", database.parent / "limits.toml"]),
    ("rules of recordings", 250, fleet, on("check")),
    ("query of all recordings", 250, fleet, on("query", "SELECT count(*) FROM process_instance")),
    ("metrics of entities", 5000, entities, on("metrics", out="csv")),
    ("plot of entities", 5000, entities, on("plot", out="svg")),
    ("plot of names", 50_000, names, on("plot", out="svg")),
    ("metrics of names", 50_000, names, on("metrics", out="csv")),
    ("perfetto of open instances", 10_000, open_instances, on("export", "--format", "perfetto", out="pftrace")),
    ("plot of open instances", 10_000, open_instances, on("plot", out="svg")),
    ("btf of open instances", 10_000, open_instances, on("export", "--format", "btf", out="btf")),
    ("check of entities", 5000, entities, on("check")),
    ("compare of entities", 5000, entities, lambda _, database: ["compare", database, database]),
]
