"""Counts the rows of a database with DuckDB and with Polars, which know nothing of btfdb, and compares them with
its log: `python3 tests/interop.py DB`. Then damages pages, which PyArrow must notice. Needs the packages that
tests/run.sh installs. Where PySpark and Java are installed, too, Spark must find as many values in each column as
DuckDB.

Exits with 1 when a count differs, when another engine does not see the partitions as columns, or when a damaged page is
read.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import deltalake
import duckdb
import polars
import pyarrow.parquet


def main(database: Path) -> int:
    recordings = {}
    for entry in sorted((database / "log").glob("*.json")):
        commit = json.loads(entry.read_text())["content"]
        recordings.update((put["name"], put["files"]) for put in commit["puts"])
        for name in commit.get("drops", []):
            del recordings[name]
    files = [file for of_recording in recordings.values() for file in of_recording]
    expected = Counter()
    for file in files:
        expected[file["table"]] += file["rows"]
    if not expected:
        print(f"{database} holds no rows: nothing to compare", file=sys.stderr)
        return 1

    differing = 0
    print(f"{'table':20} {'log':>10} {'duckdb':>10} {'polars':>10}")
    for table, rows in sorted(expected.items()):
        glob = str(database / table / "**" / "*.parquet")
        relation = duckdb.read_parquet(glob, hive_partitioning=True)
        frame = polars.scan_parquet(glob, hive_partitioning=True)
        found = [relation.count("*").fetchall()[0][0], frame.select(polars.len()).collect().item()]
        partitions = {part.split("=")[0] for f in files if f["table"] == table for part in f["path"].split("/")[1:-1]}
        unseen = [partitions - set(columns) for columns in (relation.columns, frame.collect_schema().names())]
        verdict = "" if found == [rows, rows] and not any(unseen) else "  DIFFERS"
        differing += bool(verdict)
        print(f"{table:20} {rows:10} {found[0]:10} {found[1]:10}{verdict}")
    if any(database.glob("*/_delta_log")):
        differing += published(database, expected)
    differing += differs_in_spark(database, expected)
    differing += damaged([database / file["path"] for file in files])
    return 1 if differing else 0


def differs_in_spark(database: Path, tables: Counter) -> int:
    """The tables in which Spark finds other numbers of values than DuckDB does."""
    try:
        from pyspark.sql import SparkSession, functions
    except ImportError:
        print("\nSpark: SKIPPED, PySpark is not installed")
        return 0
    options = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    differing = 0
    print(f"\n{'table in Spark':20} {'values':>10} {'duckdb':>10}")
    for table in sorted(tables):
        frame = spark.read.parquet(str(database / table))
        # Rows, and values of each column.
        values = list(frame.select(functions.count("*"), *(functions.count(f"`{n}`") for n in frame.columns)).first())
        columns = ", ".join(f'count("{name}")' for name in frame.columns)
        files = str(database / table / "**" / "*.parquet")
        counted = duckdb.sql(f"SELECT count(*), {columns} FROM read_parquet('{files}', hive_partitioning=true)")
        wanted = counted.fetchall()[0]
        verdict = "" if values == list(wanted) and values[0] == tables[table] else "  DIFFERS"
        differing += bool(verdict)
        print(f"{table:20} {sum(values[1:]):10} {sum(wanted[1:]):10}{verdict}")
    spark.stop()
    return differing


def damaged(files: list[Path]) -> int:
    """The files, each with one damaged page, read by an engine that knows the CRC-32 of pages."""
    refused, read = 0, []
    for file in files:
        pyarrow.parquet.read_table(file, page_checksum_verification=True)
        footer = pyarrow.parquet.ParquetFile(file).metadata
        with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
            for group in map(footer.row_group, range(footer.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    begin = column.dictionary_page_offset or column.data_page_offset
                    # The last byte of a chunk is in the content of its last page.
                    content = bytearray(file.read_bytes())
                    content[begin + column.total_compressed_size - 1] ^= 1
                    Path(copy.name).write_bytes(content)
                    try:
                        pyarrow.parquet.read_table(copy.name, page_checksum_verification=True)
                        read.append(f"{file}, column {column.path_in_schema}")
                    except OSError as error:
                        refused += "CRC" in str(error)
    print(f"\nPyArrow refused {refused} files with a damaged page, and read {len(read)}", *read, sep="\n")
    return len(read) + (refused == 0)


def published(database: Path, expected: Counter) -> int:
    """The tables of Delta, after `btfdb publish DB --delta`."""
    differing = 0
    print(f"\n{'table of Delta':20} {'log':>10} {'deltalake':>10} {'polars':>10}")
    tables = sorted(log.parent.name for log in database.glob("*/_delta_log"))
    for table in sorted(set(tables) | set(expected)):
        folder = str(database / table)
        actions = polars.DataFrame(deltalake.DeltaTable(folder).get_add_actions(flatten=True))
        counted = actions["num_records"].sum() if len(actions) else 0
        frame = polars.scan_delta(folder)
        read = frame.select(polars.len()).collect().item() if len(actions) else 0
        recordings = set(frame.select("recording").unique().collect()["recording"]) if len(actions) else set()
        partitions = set(actions["partition.recording"]) if len(actions) else set()
        verdict = "" if [counted, read] == [expected[table]] * 2 and recordings == partitions else "  DIFFERS"
        differing += bool(verdict)
        print(f"{table:20} {expected[table]:10} {counted:10} {read:10}{verdict}")
    return differing


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: interop.py DB")
    sys.exit(main(Path(sys.argv[1])))
