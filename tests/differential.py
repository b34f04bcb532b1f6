"""Runs random statements in DuckDB over the same Parquet files, and compares the rows with those of btfdb:
`python3 tests/differential.py DIR`. DIR is what the test `random_statements_have_the_same_rows_in_all_ways` left
with BTFDB_STATEMENTS_TO=DIR. Exits with 1 when a row differs, or when hardly any statement ran.

A statement that DuckDB refuses or that btfdb refuses is counted, and shown with --refused.
"""

import json
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import duckdb

TABLES = ["data_event", "process_state", "process_instance", "btf_event", "gap"]


def cell(value) -> str:
    """As the test writes it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if abs(value) < 1e-6:
            return "0"
        digits, exponent = f"{value:.6e}".split("e")
        return f"{digits}e{int(exponent)}"
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return str(int(value))
    return str(value)


def main(folder: Path, show_refused: bool) -> int:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for table in TABLES:
        files = str(folder / "db" / table / "**" / "*.parquet")
        connection.execute(
            f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{files}', hive_partitioning = true, hive_types_autocast = false)"
        )
    counts, refused = Counter(), Counter()
    for file in sorted(folder.glob("statements-*.jsonl")):
        for line in file.open():
            statement = json.loads(line)
            counts["statements"] += 1
            try:
                found = connection.execute(statement["duckdb"]).fetchall()
            except duckdb.Error as error:
                # What is too large is refused by both.
                both = statement["rows"] is None
                counts["refused by both" if both else "refused by DuckDB"] += 1
                if not both:
                    refused[f"DuckDB: {str(error).splitlines()[0]}"] += 1
                    if show_refused:
                        print(f"{statement['seed']}: {statement['duckdb']}\n  {error}")
                continue
            if statement["rows"] is None:
                counts["refused by btfdb"] += 1
                refused[f"btfdb: {statement['error'].splitlines()[0][:120]}"] += 1
                continue
            rows = sorted("\x1f".join(map(cell, row)) for row in found)
            expected = sorted(statement["rows"])
            if rows != expected:
                counts["different"] += 1
                missing, more = sorted(set(expected) - set(rows)), sorted(set(rows) - set(expected))
                print(f"DIFFERENT {statement['seed']}: {statement['sql']}")
                print(f"  DuckDB: {statement['duckdb']}")
                print(f"  btfdb {len(expected)} rows, DuckDB {len(rows)}; only btfdb: {missing[:3]}; only DuckDB: {more[:3]}")
            else:
                counts["same"] += 1
    for what, count in counts.items():
        print(f"{count:8} {what}")
    for what, count in refused.most_common(12):
        print(f"{count:8} {what}")
    few = counts["same"] * 10 < counts["statements"] * 9
    return 1 if counts["different"] or few else 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--refused"]
    if len(arguments) != 1:
        sys.exit("usage: differential.py DIR [--refused]")
    sys.exit(main(Path(arguments[0]), "--refused" in sys.argv))
