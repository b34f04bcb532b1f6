"""The peers: `peers.py ENGINE JOB ARGUMENT...` does one job in a process of its own. Each job is written in the fastest
form of several that were tried; times are exact integer nanoseconds, hexadecimal values are numbers. Answers go to
standard output as CSV."""

import csv
import sys
from pathlib import Path

SQL = Path(__file__).parent / "sql"
# Three tables as text and as Parquet: column names, and an expression whose sum shows whether the rows are the same.
SUMS = {
    "data": "count(*), sum(time), sum(value), sum(record), count(DISTINCT variable), min(time), max(time)",
    "functions": "count(*), sum(time), count(DISTINCT function), count(DISTINCT kind), min(time), max(time)",
    "btf": "count(*), sum(time), sum(target_instance), count(note), count(DISTINCT target), min(time), max(time)",
}
BTF = ["time", "source", "source_instance", "target_type", "target", "target_instance", "action", "note"]


def show(rows):
    csv.writer(sys.stdout).writerows(rows)


# ---- DuckDB --------------------------------------------------------------------------------------------------


def duckdb_copy(level, columns, source):
    import duckdb

    text, out = sys.argv[3:5]
    source = source.replace("FILE", text)
    duckdb.execute(f"COPY (SELECT {columns} FROM {source}) TO '{out}' "
                   f"(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level})")


def duckdb_query(sql, table, glob, **parameters):
    import duckdb

    duckdb.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{glob}')")
    return duckdb.execute(sql, parameters or None).fetchall()


def duckdb_start():
    import duckdb

    duckdb.execute("SELECT 1").fetchall()


def duckdb_data(text, out, level):
    duckdb_copy(level, "record, replace(time, '.', '')::BIGINT // 10 AS time, variable, access, "
                "('0x' || value)::UBIGINT AS value",
                "read_csv('FILE', header = false, auto_detect = false, delim = ',', quote = '\"', columns = "
                "{record: 'BIGINT', time: 'VARCHAR', variable: 'VARCHAR', access: 'VARCHAR', value: 'VARCHAR'})")


def duckdb_functions(text, out, level):
    duckdb_copy(level, "time::BIGINT AS time, function, kind",
                "read_csv('FILE', header = false, auto_detect = false, delim = '; ', quote = '', columns = "
                "{time: 'VARCHAR', function: 'VARCHAR', kind: 'VARCHAR'})")


def duckdb_btf(text, out, level, headers):
    kinds = ", ".join(f"{c}: '{'BIGINT' if c == 'time' or 'instance' in c else 'VARCHAR'}'" for c in BTF)
    duckdb_copy(level, "*", f"read_csv('FILE', header = false, auto_detect = false, delim = ',', quote = '', "
                f"skip = {headers}, null_padding = true, columns = {{{kinds}}})")


def duckdb_lag(glob):
    show(duckdb_query((SQL / "lag.sql").read_text(), "data_event", glob))


def duckdb_as_of(glob):
    show(duckdb_query((SQL / "as_of_duckdb.sql").read_text(), "data_event", glob))


def duckdb_distinct(glob):
    show(duckdb_query((SQL / "distinct.sql").read_text(), "btf_event", glob))


def duckdb_metrics_sql(glob):
    show(duckdb_query((SQL / "metrics.sql").read_text(), "process_instance", glob))


def duckdb_metrics(glob):
    show(duckdb_query((SQL / "metrics_duckdb.sql").read_text(), "process_instance", glob))


def duckdb_core_load(glob):
    import duckdb

    recordings = Path(glob).parent.parent.parent / "recording" / "**" / "*.parquet"
    duckdb.execute(f"CREATE VIEW recording AS SELECT * FROM read_parquet('{recordings}')")
    show(duckdb_query((SQL / "core_load_duckdb.sql").read_text(), "process_state", glob))


def duckdb_window(glob, begin, end):
    sql = (SQL / "window.sql").read_text()
    show(duckdb_query(sql, "btf_event", glob, begin_at=int(begin), end_at=int(end)))


def duckdb_slice(glob, begin, end, out):
    import duckdb

    duckdb.execute(f"COPY (SELECT {', '.join(BTF)} FROM read_parquet('{glob}') WHERE time >= {begin} AND time < {end}) "
                   f"TO '{out}' (FORMAT csv, HEADER false)")


def duckdb_sums(kind, glob):
    """The answer that the Parquet files of all contenders must give."""
    show(duckdb_query(f"SELECT {SUMS[kind]} FROM t", "t", glob))


# ---- Polars --------------------------------------------------------------------------------------------------


def polars_start():
    import polars as pl

    pl.select(1)


def polars_data(text, out, level):
    import polars as pl

    schema = {"record": pl.Int64, "time": pl.Decimal(18, 10), "variable": pl.String, "access": pl.String,
              "value": pl.String}
    pl.scan_csv(text, has_header=False, schema=schema).select(
        "record",
        (pl.col("time") * 1_000_000_000).cast(pl.Int64),
        "variable",
        "access",
        pl.col("value").str.to_integer(base=16, dtype=pl.UInt64),
    ).sink_parquet(out, compression="zstd", compression_level=int(level))


def polars_shape(text, out, level, shape):
    """A data export that is written in a way of `generate --shape`."""
    import polars as pl

    names = ["record", "time", "variable", "access", "value"][shape == "no_record":]
    is_text = shape in ("unit", "excel")
    types = {"record": pl.Int64, "time": pl.String if is_text else pl.Decimal(18, 12 if shape == "decimals_12" else 10)}
    frame = pl.scan_csv(
        text,
        has_header=False,
        skip_lines=int(shape in ("header", "excel")),
        separator=";" if shape in ("semicolons", "excel") else ",",
        # Without quotes, and where blanks are around them, this is faster and right.
        quote_char=None if shape in ("blanks", "bare", "excel") else '"',
        schema={name: types.get(name, pl.String) for name in names},
    )
    time, value, texts = pl.col("time"), pl.col("value"), pl.col("variable", "access")
    scale = 1_000_000_000
    if shape == "unit":
        time, scale = time.str.strip_suffix("us").cast(pl.Decimal(18, 3)), 1000
    elif shape == "excel":
        time = time.str.replace(",", ".", literal=True).cast(pl.Decimal(18, 9))
    if shape == "blanks":
        texts = texts.str.strip_chars(' "')
    if shape == "hex_mark":
        value = value.str.strip_prefix("0x")
    elif shape in ("crlf", "excel"):
        value = value.str.strip_suffix("\r")
    frame.select(
        "record" if "record" in names else pl.lit(None, pl.Int64).alias("record"),
        (time * scale).cast(pl.Int64),
        texts,
        value.str.to_integer(base=16, dtype=pl.UInt64),
    ).sink_parquet(out, compression="zstd", compression_level=int(level))


def polars_functions(text, out, level):
    import polars as pl

    schema = {"time": pl.Int64, "function": pl.String, "kind": pl.String}
    pl.scan_csv(text, has_header=False, separator=";", quote_char=None, schema=schema).select(
        "time", pl.col("function").str.strip_prefix(" "), pl.col("kind").str.strip_prefix(" ")
    ).sink_parquet(out, compression="zstd", compression_level=int(level))


def polars_btf(text, out, level, headers):
    import polars as pl

    schema = {c: pl.Int64 if c == "time" or "instance" in c else pl.String for c in BTF}
    # Most events have no note, and their lines one field less.
    pl.scan_csv(
        text, has_header=False, quote_char=None, skip_lines=int(headers), schema=schema, missing_columns="insert"
    ).sink_parquet(out, compression="zstd", compression_level=int(level))


def polars_lag(glob):
    import polars as pl

    # The rows lie in the order of time: no sort.
    gap = pl.col("time").diff()
    gaps = [pl.len(), gap.max().alias("longest"), gap.mean().alias("mean")]
    frame = pl.scan_parquet(glob).group_by("variable").agg(gaps)
    show(frame.collect(engine="streaming").rows())


def polars_as_of(glob):
    import polars as pl

    written = (pl.col("variable") == "EE_ORTI_servicetrace_0") & (pl.col("access") == "write")
    running = pl.when(written).then("value").forward_fill().alias("running")
    frame = pl.scan_parquet(glob).select(running).group_by("running").len()
    show(frame.collect(engine="streaming").rows())


def polars_slice(glob, begin, end, out):
    import polars as pl

    frame = pl.scan_parquet(glob).filter(pl.col("time").is_between(int(begin), int(end), closed="left"))
    frame.select(BTF).sink_csv(out, include_header=False)


# ---- the limit -----------------------------------------------------------------------------------------------


def limit_zstd(glob):
    """Processor seconds to compress the columns of the files, laid out as tightly as is simple, with zstd -1: instants
    and record numbers as distances, names and values as numbers of a dictionary."""
    import time
    from glob import glob as files

    import numpy
    import polars as pl
    import zstandard

    spent, size = 0.0, 0
    for file in sorted(files(glob, recursive=True)):
        for frame in pl.read_parquet(file, hive_partitioning=False).iter_slices(1 << 20):
            for column in frame.iter_columns():
                if column.name == "seq":
                    continue
                if column.name in ("time", "record"):
                    column = column.diff().fill_null(0)
                else:
                    column = column.cast(pl.String).fill_null("").rank("dense") - 1
                numbers = column.to_numpy()
                fits = next(t for t in ("u1", "u2", "i4", "i8") if numpy.array_equal(numbers.astype(t), numbers))
                raw = numbers.astype(fits).tobytes()
                begun = time.process_time()
                size += len(zstandard.ZstdCompressor(level=1).compress(raw))
                spent += time.process_time() - begun
    show([(spent, size)])


if __name__ == "__main__":
    globals()["_".join(sys.argv[1:3])](*sys.argv[3:])
