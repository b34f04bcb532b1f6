"""The works that are measured: their contenders, and what the answers must be. Each public function is a work; its
documentation is the title."""

import csv
import filecmp
from dataclasses import replace

from bench import SCAN, Contender, Line, Result, Target
from cluster import cluster
from growth import growth
from inputs import live_files, remove, rows_of
from measure import Failed
from remote import is_installed, remote

COLUMNS = "time, source, source_instance, target_type, target, target_instance, action, note"
#: btfdb without the digest of its inputs.
UNHASHED = "btfdb --no-hash"
# The ways to write a data export that `generate --shape` knows.
SHAPES = ["thesis", "blanks", "bare", "hex_mark", "quoted", "unit", "semicolons", "no_record", "header", "crlf",
          "decimals_6", "decimals_9", "decimals_12", "record_8", "record_14", "value_8", "value_16", "long_names", "late",
          "excel"]
# What a mapping makes.
MAPPED = ("btf_event", "process_instance", "process_state", "runnable_instance")


# ---- text to tables ------------------------------------------------------------------------------------------


def data(bench):
    """A data export becomes a database, not mapped"""
    folder, note = bench.inputs.synthetic("data", 1)
    return _import(bench, "data", note, "data_event", ["ingest", bench.database("data"), folder, "--no-map"],
                   [Target("CPU-s per GB", 1.4), Target("times the best peer", 3.5, least=True),
                    Target("bytes per row", 3.0), Target("MiB at the peak", 300)])


def functions(bench):
    """A function export becomes a database, not mapped"""
    folder, note = bench.inputs.synthetic("func", 0.3)
    return _import(bench, "functions", note, "function_event",
                   ["ingest", bench.database("functions"), folder, "--no-map"],
                   [Target("CPU-s per GB", 1.65), Target("times the best peer", 3.9, least=True),
                    Target("MiB at the peak", 300)])


def btf(bench):
    """A BTF trace becomes a database, with instances and states (the peers: the events alone)"""
    text, note = bench.inputs.btf(1)
    note["file"] = str(text)
    return _import(bench, "btf", note, "btf_event", ["ingest", bench.database("btf"), text, "--name", "trace"],
                   [Target("CPU-s per GB", 4.0), Target("bytes per row", 5.0), Target("MiB at the peak", 300)])


def _import(bench, kind, note, table, command, targets):
    database, text = bench.database(kind), note["file"]
    extra = [note["headers"]] if "headers" in note else []

    def peer(engine, level):
        out = bench.work / f"{engine}.parquet"
        return Contender(f"{engine} zstd-{level}", bench.peer(engine, kind, text, out, level, *extra), clear=[out],
                         stored=lambda: out.stat().st_size, answer=lambda _: bench.sums(kind, out))

    ours = Contender(
        "btfdb", bench.btfdb_command(*command), clear=[database], ours=True,
        stored=lambda: sum(f["bytes"] for f in live_files(database, table)),
        answer=lambda _: bench.sums(kind, database / table / "**" / "*.parquet"))
    bare = Contender(UNHASHED, [*ours.command, "--no-hash"], clear=[database], ours=True)
    peers = [peer(engine, level) for engine in bench.peers for level in bench.levels]
    scan = Contender(SCAN, ["wc", "-l", text])
    result = bench.compare(kind, [ours, bare, *peers, scan], note["rows"], note["bytes"], targets)
    if best := result.best_peer:
        times = best.run.cpu / result.run(UNHASHED).cpu
        result.notes.append(f"The peers make no digest. Without its own, btfdb takes {times:.2f} times less than {best.name}.")
    if rows_of(database)[table] != note["rows"]:
        raise Failed(f"{note['rows']} rows were written, {rows_of(database)[table]} are in the database")
    derived = sum(f["bytes"] for f in live_files(database)) / note["rows"]
    result.notes.append(f"With all tables: {derived:.2f} bytes per row.")
    bench.limit(result, database / table / "**" / "*.parquet")
    return result


def shapes(bench):
    """Data exports that are written in other ways become databases, not mapped"""
    lines, notes, per_row, lengths, threads, times = [], [], {}, {}, {}, {}
    rows = text = 0
    for shape in SHAPES:
        folder, note = bench.inputs.synthetic("data", 0.15, shape)
        database, out = bench.database("shape"), bench.work / "shape.parquet"
        ours = Contender(
            "btfdb", bench.btfdb_command("ingest", database, folder, "--no-map"), clear=[database], ours=True,
            answer=lambda _, made=database: bench.sums("data", made / "data_event" / "**" / "*.parquet"))
        peers = [Contender("polars", bench.peer("polars", "shape", note["file"], out, 1, shape), clear=[out],
                           answer=lambda _, made=out: bench.sums("data", made)) for e in bench.peers if e == "polars"]
        one = bench.compare("shapes", [ours, *peers], note["rows"], note["bytes"], [])
        if rows_of(database)["data_event"] != note["rows"]:
            raise Failed(f"{shape}: {note['rows']} rows were written, {rows_of(database)['data_event']} are in the database")
        lines += [replace(line, name=f"{shape}: {line.name}", rows=one.rows, text=one.text) for line in one.lines]
        notes += [f"{shape}: {note}" for note in one.notes if "failed" in note]
        run = one.run("btfdb")
        per_row[shape], threads[shape] = run.cpu / note["rows"], run.cpu / run.wall
        lengths[shape] = note["bytes"] / note["rows"]
        if one.best_peer:
            times[shape] = one.best_peer.run.cpu / run.cpu
        rows, text = rows + note["rows"], text + note["bytes"]
        remove(database)
        remove(folder)
        remove(folder.with_name(f"{folder.name}.json"))
    result = Result("shapes", rows, text, lines, notes)
    # Each byte is copied, hashed and searched: rows of twice the length may cost twice as much, and no more than that.
    cheapest = min(per_row, key=per_row.get)
    fair = {shape: per_row[cheapest] * max(1, lengths[shape] / lengths["thesis"]) for shape in SHAPES}
    worst = max(SHAPES, key=lambda shape: per_row[shape] / fair[shape])
    result.check(f"{worst}, times {cheapest} per row, or per byte beyond the thesis's", per_row[worst] / fair[worst], 1.5)
    slowest = min(threads, key=threads.get)
    result.check(f"CPU-s per s of wall time, {slowest}", threads[slowest], 1.5, least=True)
    if times:
        closest = min(times, key=times.get)
        result.check(f"times Polars, {closest}", times[closest], 2.5, least=True)
    nanoseconds = ", ".join(f"{shape} {1e9 * cpu:.0f}" for shape, cpu in sorted(per_row.items(), key=lambda x: x[1]))
    result.notes.append(f"CPU-ns per row: {nanoseconds}.")
    return result


def cold(bench):
    """A data export becomes a database, read from the disk"""
    folder, note = bench.inputs.synthetic("data", 1)
    database = bench.database("data")
    ours = Contender("btfdb", bench.btfdb_command("ingest", database, folder, "--no-map"), clear=[database],
                     ours=True, cold=[note["file"]])
    bare = replace(ours, name=UNHASHED, command=[*ours.command, "--no-hash"])
    scan = Contender(SCAN, ["wc", "-l", note["file"]], cold=[note["file"]])
    result = bench.compare("cold", [ours, bare, scan], note["rows"], note["bytes"], [])
    result.check("wall time, times that of wc -l", result.run("btfdb").wall / result.run(SCAN).wall, 1.8)
    times = result.run(UNHASHED).wall / result.run(SCAN).wall
    result.notes.append(f"Without the digest of the input: {times:.2f} times the wall time of {SCAN}.")
    return result


def ctf(bench):
    """A CTF trace of a kernel becomes a database: its events alone, and with the system events that they mean"""
    folder, note = bench.inputs.ctf()
    database = bench.database("ctf")
    whole = bench.btfdb_command("ingest", database, folder, "--name", "kernel")

    def all_there():
        if rows_of(database)["trace_event"] != note["rows"]:
            raise Failed(f"{note['rows']} events were written, {rows_of(database)['trace_event']} are in the database")

    alone = Contender("btfdb, events alone", [*whole, "--no-map"], clear=[database], ours=True, check=all_there)
    mapped = Contender("btfdb, mapped", whole, clear=[database], ours=True, check=all_there)
    result = bench.compare("ctf", [alone, mapped], note["rows"], note["bytes"], [Target("MiB at the peak", 300)])
    for contender, least in ((alone, 6), (mapped, 1.5)):
        run = result.run(contender.name)
        result.check(f"M events per s, {contender.name}", note["rows"] / 1e6 / run.wall, least, least=True)
    made = ", ".join(f"{rows_of(database)[table]} {table}" for table in ("btf_event", "process_instance", "process_state"))
    result.notes.append(f"Made: {made}.")
    return result


# ---- BTF -----------------------------------------------------------------------------------------------------


def export(bench):
    """A BTF trace comes out of its database as it went in"""
    text, note = bench.inputs.btf(1)
    database, _ = bench.inputs.btf_database(1)
    out = bench.work / "out.btf"

    def same():
        if not filecmp.cmp(text, out, shallow=False):
            raise Failed("the trace does not come out as it went in")

    ours = Contender("btfdb", bench.btfdb_command("export", database, "-o", out), clear=[out], ours=True, check=same)
    result = bench.compare("export", [ours], note["rows"], note["bytes"], [Target("MiB at the peak", 512)])
    result.check("MB per CPU-s", note["bytes"] / 1e6 / result.run("btfdb").cpu, 300, least=True)
    remove(out)
    return result


def mapping(bench):
    """The long recording is mapped: software events become system events and instances"""
    database, note = bench.inputs.long_database()
    seen = {}

    def checksums(threads):
        made = [f for f in live_files(database) if f["table"] in MAPPED]
        seen[threads] = sorted((f["table"], f["rows"], f["checksum"]) for f in made)
        if len(set(map(str, seen.values()))) > 1:
            raise Failed(f"the tables depend on the number of threads: {sorted(seen)}")

    def contender(threads):
        command = bench.btfdb_command("map", database, "--threads", str(threads))
        return Contender(f"btfdb, {threads} threads", command, ours=True, check=lambda: checksums(threads))

    result = bench.compare("mapping", [contender(1), contender(2)], note["rows"], note["bytes"],
                           [Target("MiB at the peak", 512)])
    for threads in (3, 8):
        bench.measure(f"map, {threads} threads", contender(threads).command)
        checksums(threads)
    _check_instances(bench, database, note["rounds"])
    one, two = result.run("btfdb, 1 threads"), result.run("btfdb, 2 threads")
    result.check("M software events per CPU-s", note["rows"] / 1e6 / one.cpu, 14, least=True)
    result.check("2 threads, times as fast as 1", one.wall / two.wall, 1.7, least=True)
    rows = ", ".join(f"{rows_of(database)[table]} {table}" for table in MAPPED)
    result.notes.append(f"The tables are the same with 1, 2, 3 and 8 threads, without violations: {rows}.")
    return result


def _check_instances(bench, database, rounds):
    """The mapping is clean, and every round of the recording brought the same number of rows."""
    counts = {}
    for some in (1, 2):
        folder, _ = bench.inputs.long(some)
        small = bench.database(f"long-{some}")
        remove(small)
        bench.measure("ingest (short recording)", bench.btfdb_command("ingest", small, folder, "--name", "long"))
        counts[some] = rows_of(small)
        remove(small)
    found = rows_of(database)
    for table in MAPPED:
        first, second = (counts[some].get(table, 0) for some in (1, 2))
        expected = first + (rounds - 1) * (second - first)
        if found.get(table, 0) != expected:
            raise Failed(f"{table}: {expected} rows expected, {found.get(table, 0)} found")
    bench.measure("check", bench.btfdb_command("check", f"{database}:long"))
    errors = bench.query(database, "SELECT count(*) FROM diagnostic WHERE severity = 'error'")
    if errors != [["0"]]:
        raise Failed(f"the mapping has findings of severity error: {errors}")


# ---- questions -----------------------------------------------------------------------------------------------


def slice_10m(bench):
    """1 % out of 10 million system events (at 1 GB), as BTF; the others write CSV"""
    return _slice(bench, "slice_10m", 1)


def slice_100m(bench):
    """1 % out of 100 million system events (at 1 GB), as BTF; the others write CSV"""
    return _slice(bench, "slice_100m", 10)


def _window(database):
    """The begin and end of 1 % of a trace, in its middle."""
    files = live_files(database, "btf_event")
    first, last = min(f["begin_at"] for f in files), max(f["end_at"] for f in files)
    begin = (first + last) // 2
    return begin, begin + (last - first) // 100


def _slice(bench, name, factor):
    database, note = bench.inputs.btf_database(factor)
    begin, end = _window(database)
    glob = database / "btf_event" / "**" / "*.parquet"
    out = bench.work / "slice.btf"

    def lines(_):
        with open(out) as text:
            return [[sum(not line.startswith(("#", "time,")) for line in text)]]

    def exported(label, until, **answer):
        command = bench.btfdb_command("export", database, "--from", f"{begin}ns", "--to", f"{until}ns", "-o", out)
        return Contender(label, command, clear=[out], ours=True, startup="btfdb", **answer)

    ours = exported("btfdb", end, answer=lines)
    # A slice of a few events: what is left is everything but reading and writing them.
    narrow = exported("btfdb, little output", begin + (end - begin) // 10_000)
    sql = f"SELECT {COLUMNS} FROM btf_event WHERE time >= {begin} AND time < {end}"
    query = Contender("btfdb query", bench.btfdb_command("query", database, sql, "-o", out, "--format", "csv"),
                      clear=[out], ours=True, startup="btfdb", answer=lines)
    peers = [Contender(e, bench.peer(e, "slice", glob, begin, end, out), clear=[out], startup=e, answer=lines)
             for e in bench.peers]
    result = bench.compare(name, [ours, narrow, query, *peers], note["rows"], None, [Target("MiB at the peak", 512)])
    result.check("ms of wall time without start-up and output", result.run("btfdb, little output").wall * 1e3, 60)
    remove(out)
    return result


def lag(bench):
    """Time since the last access, at most and on average, per variable"""
    return _question(bench, "lag", 0.3, 200)


def as_of(bench):
    """What ran at each access: the last value of a variable"""
    return _question(bench, "as_of", 0.3, 200)


def _question(bench, name, seconds, mib):
    _, note = bench.inputs.synthetic("data", 1)
    database = bench.data_database()
    file = bench.sql / f"{name}.sql"
    ours = Contender("btfdb", bench.btfdb_command("query", database, "-f", file), ours=True, startup="btfdb",
                     answer=_rows(1))
    return _asked(bench, name, ours, database / "data_event", note["rows"], seconds, mib, bench.peers)


def window(bench):
    """What happened in 1 % of 100 million system events (at 1 GB), by target and action"""
    database, note = bench.inputs.btf_database(10)
    begin, end = _window(database)
    glob = database / "btf_event" / "**" / "*.parquet"
    bounds = ["--param", f"begin_at={begin}", "--param", f"end_at={end}"]
    ours = Contender("btfdb", bench.btfdb_command("query", database, "-f", bench.sql / "window.sql", *bounds), ours=True,
                     startup="btfdb", answer=_rows(1))
    peers = [Contender(e, bench.peer(e, "window", glob, begin, end), startup=e, answer=_rows(0))
             for e in bench.peers if e == "duckdb"]
    result = bench.compare("window", [ours, *peers], note["rows"], None, [Target("MiB at the peak", 512)])
    result.check("s of wall time without start-up", result.run("btfdb").wall, 0.3)
    return result


def core_load(bench):
    """How loaded the cores are in windows of 10 ms, out of 100 million system events (at 1 GB)"""
    database, note = bench.inputs.btf_database(10)
    width = ["--param", "window=10ms", "--param", "step=10ms"]
    ours = Contender("btfdb", bench.btfdb_command("query", database, "-f", bench.sql / "core_load.sql", *width), ours=True,
                     startup="btfdb", answer=_rows(1))
    peers = [e for e in bench.peers if e == "duckdb"]
    return _asked(bench, "core_load", ours, database / "process_state", note["rows"], 2, 512, peers)


def metrics_sql(bench):
    """Response times out of 100 million system events (at 1 GB): the same SQL over the same files"""
    database, note = bench.inputs.btf_database(10)
    command = bench.btfdb_command("query", database, "-f", bench.sql / "metrics.sql")
    ours = Contender("btfdb", command, ours=True, startup="btfdb", answer=_rows(1))
    return _against_duckdb(bench, "metrics_sql", ours, database, note)


def distinct(bench):
    """What each target has, each once, out of 10 million system events (at 1 GB): the same SQL over the same files"""
    database, note = bench.inputs.btf_database(1)
    command = bench.btfdb_command("query", database, "-f", bench.sql / "distinct.sql")
    ours = Contender("btfdb", command, ours=True, startup="btfdb", answer=_rows(1))
    return _against_duckdb(bench, "distinct", ours, database, note, "btf_event", 10)


def metrics(bench):
    """The same with percentiles and the instants of the extremes, as `btfdb metrics` and as SQL that says so"""
    database, note = bench.inputs.btf_database(10)
    columns = ["entity", "type", "core", "count", "incomplete", "min", "avg", "max", "stddev", "p50", "p95", "p99",
               "min_at", "max_at"]
    ours = Contender("btfdb", bench.btfdb_command("metrics", database, "ResponseTime"), ours=True, startup="btfdb",
                     answer=_columns(*columns))
    return _against_duckdb(bench, "metrics", ours, database, note)


def _against_duckdb(bench, name, ours, database, note, table="process_instance", seconds=1.5):
    peers = [e for e in bench.peers if e == "duckdb"]
    result = _asked(bench, name, ours, database / table, note["rows"], seconds, 512, peers)
    if peers:
        result.check("wall time, times that of DuckDB", result.run("btfdb").wall / result.run("duckdb").wall, 1)
    return result


def _asked(bench, name, ours, table, rows, seconds, mib, engines):
    peers = [Contender(e, bench.peer(e, name, table / "**" / "*.parquet"), startup=e, answer=_rows(0)) for e in engines]
    result = bench.compare(name, [ours, *peers], rows, None, [Target("MiB at the peak", mib)])
    result.check("s of wall time without start-up", result.run("btfdb").wall, seconds)
    return result


def memory(bench):
    """Peak memory of the commands that no other work measures, on the long recording"""
    folder, note = bench.inputs.long()
    database, out = bench.database("long"), bench.work / "out.csv"
    commands = {
        "ingest, with mapping": ["ingest", database, folder, "--name", "long"],
        "check": ["check", database],
        "verify": ["verify", database],
        "compare": ["compare", database, database],
        "metrics, all of them": ["metrics", database],
        "export of a table": ["export", database, "--table", "process_state", "--format", "csv", "-o", out],
    }
    remove(database)
    lines = [Line(name, bench.btfdb(name, *command), ours=True) for name, command in commands.items()]
    # The rows of this table lie in the order of their ends: all of them are sorted.
    large, _ = bench.inputs.btf_database(10)
    command = ["export", large, "--table", "process_instance", "--format", "csv", "-o", out, "--force"]
    lines.append(Line("export of a table that is sorted, 100 M", bench.btfdb("export, sorted", *command), ours=True))
    remove(out)
    remove(database)
    result = Result("memory", note["rows"], note["bytes"], lines)
    for line in lines:
        result.check(f"MiB at the peak, {line.name}", line.run.total, 300 if line.name.startswith("ingest") else 512)
    return result


def _rows(skip):
    """The answer is what was printed, after `skip` lines."""
    return lambda output: list(csv.reader(output.splitlines()))[skip:]


def _columns(*names):
    return lambda output: [[row[n] for n in names] for row in csv.DictReader(output.splitlines())]


WORKS = [data, functions, shapes, cold, ctf, btf, export, mapping, slice_10m, slice_100m, lag, as_of, window, core_load, metrics_sql, distinct, metrics, memory, growth, cluster]
# SeaweedFS is large, and is installed by who wants to measure with it.
if is_installed():
    WORKS.append(remote)
