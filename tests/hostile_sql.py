#!/usr/bin/env python3
"""SQL that means harm, or nothing at all: random statements, each of which must give rows or a clear error. The program
may not die, hang, or speak of a fault of its own, and reads and writes no file that it may not.

    hostile_sql.py BTFDB [--statements N] [--seed S] [--first N] [--engine DIR] [--refused N]
    hostile_sql.py BTFDB --statement SQL [--no-files]

It exits with 1 if there are findings. Of each kind it prints the first statement, with its seed and number, and what is
left of it without the words that do not matter; with --seed and --first, a run begins there. DIR holds the sources of
DataFusion: what that calls an internal error, and btfdb an error of the statement, is a finding then. With --statement,
one statement is run in the same place. Ctrl-C ends a run early, with its findings.

Not for what rows a statement gives (see differential.py), and not for traces (see fuzz)."""

import argparse
import hashlib
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 5
"""The most that a statement may take, unless it is large."""
SHOWN = 4 << 20
"""Bytes of a result after which a statement is stopped."""
PER_PROCESS = 400
"""Statements for a process: tables that it made, and memory, do not get many."""
TRIALS = 250
"""Statements that are tried to make one that failed shorter."""
MODES = {"csv": 52, "json": 8, "table": 8, "md": 4, "tsv": 4, "jsonl": 4, "parquet": 6, "arrow": 4}
"""How results are shown, and how often."""
FAULT = re.compile(
    r"(?i)internal error|this is a fault of btfdb|likely caused by a bug|\bbug\b|stack overflow"
    r"|\b(arrow|datafusion)_\w+::"
)
"""What no user may be told: also types of Rust."""
OUT_OF_MEMORY = "needs more memory than it may use"
NAMED = re.compile(r" AS \w+(\([a-z, ]*\))?$")
WORDS = re.compile(rb"\s+|'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\w\s]")

# ---------------------------------------------------------------------------------------------------- what is generated

INTEGERS = [
    "0", "1", "-1", "2", "7", "255", "65536", "2147483647", "-2147483648", "2147483648", "4294967295",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
    "99999999999999999999999999999999999999", "0x7f", "1_000", "10ms", "0.5us",
]
FLOATS = [
    "0.0", "-0.0", "1.5", "1e308", "-1e308", "1e-320", "'NaN'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE",
    "'NaN'::REAL", "1e40", "0.1",
]
DECIMALS = [
    "1.5::DECIMAL(38, 38)", "0.1::DECIMAL(38, 38)", "1::DECIMAL(76, 0)", "'9e37'::DECIMAL(38, 0)",
    "-99999.99::DECIMAL(7, 2)", "arrow_cast(1, 'Decimal256(76, 76)')", "arrow_cast('0.5', 'Decimal256(76, 75)')",
    "arrow_cast(1, 'Decimal128(38, -20)')", "arrow_cast(5, 'Decimal32(9, 9)')",
    "99999999999999999999999999999999999999", "arrow_cast(12, 'Decimal64(18, 2)')",
]
TEXTS = [
    "''", "' '", "'a'", "'abc'", "'Core_0'", "'T_5'", "'ä€😀'", "'a\u0301'", "e'\\n'", "'%'", "'_%\\'", "'('", "'[a-'",
    "'a{1000}{1000}'", "'(a*)*b'", "'1'", "'-1'", "'NaN'", "'1e999'", "'2024-02-30'", "'1970-01-01T00:00:00Z'",
    "'999999-01-01'", "'day'", "'century'", "'hex'", "'base64'", "'UTC'", "'Europe/Berlin'", "'+25:00'", "'%Y-%q'",
    "'md5'", "'{\"a\": [1]}'", "$$x$$", "U&'\\0041'", "repeat('x', 100000)", "repeat('é', 3)", "'g'", "'i'", "'Int64'",
    "'Decimal128(1, 2)'", "'null'",
]
TIMES = [
    "'1970-01-01'::DATE", "'9999-12-31'::DATE", "'-4713-01-01'::DATE", "arrow_cast(2147483647, 'Date32')",
    "arrow_cast(-2147483648, 'Date32')", "arrow_cast(9223372036854775807, 'Date64')", "'23:59:59.999999999'::TIME",
    "'2262-04-11T23:47:16.854775807'::TIMESTAMP", "arrow_cast(9223372036854775807, 'Timestamp(s)')",
    "arrow_cast(-9223372036854775808, 'Timestamp(ns)')", "arrow_cast(0, 'Timestamp(ms, \"+14:00\")')",
    "arrow_cast(0, 'Timestamp(us, \"Europe/Berlin\")')", "to_timestamp(0)", "now()", "current_date",
    "arrow_cast('23:59:59', 'Time32(s)')", "arrow_cast(-1, 'Time64(ns)')", "to_timestamp_seconds(9223372036854775807)",
    "to_timestamp_nanos(-1)",
]
INTERVALS = [
    "INTERVAL '1' DAY", "INTERVAL '1 month -3 days'", "INTERVAL '-1' YEAR", "INTERVAL '178956970 years'",
    "INTERVAL '0' SECOND", "INTERVAL '2147483647 months 2147483647 days'", "INTERVAL '9223372036854775807 nanoseconds'",
    "arrow_cast(9223372036854775807, 'Duration(s)')", "arrow_cast(-1, 'Duration(ns)')",
    "arrow_cast(1, 'Interval(YearMonth)')",
]
BINARIES = [
    "X''", "X'00ff'", "X'0'", "'a'::BYTEA", "arrow_cast(X'616263', 'FixedSizeBinary(3)')",
    "arrow_cast('x', 'LargeBinary')", "arrow_cast('x', 'BinaryView')",
]
LISTS = [
    "[]", "[1, 2, 3]", "[NULL]", "[[1], [], NULL]", "['a', NULL, '']", "[1, 'a', 1.5]", "make_array()",
    "array[array[array[1]]]", "range(0, 3)", "[{a: 1}]", "[1.5, 'NaN'::DOUBLE]",
    "arrow_cast([1, 2], 'LargeList(Int64)')", "arrow_cast([1, 2], 'FixedSizeList(2 x Int64)')",
    "arrow_cast(NULL, 'List(Utf8)')", "arrow_cast(['a'], 'List(Dictionary(Int32, Utf8))')", "[INTERVAL '1' DAY]",
    "generate_series(3, 0, -1)", "array_repeat(1, 100)", "arrow_cast([], 'FixedSizeList(0 x Int64)')",
]
STRUCTS = [
    "{}", "{a: 1}", "{a: 1, b: {c: 'x'}}", "struct(1, 'a')", "named_struct('a', NULL)", "row(1)",
    "named_struct('a', [1, 2], 'a', 2)", "MAP {'a': 1}", "MAP([1], [NULL])", "MAP {}", "map([], [])",
]
OTHERS = [
    "NULL", "true", "false", "NULL::INT", "arrow_cast(NULL, 'Null')", "$window", "$missing", "*",
    "arrow_cast('a', 'Dictionary(Int32, Utf8)')", "arrow_cast('a', 'Dictionary(UInt8, LargeUtf8)')",
    "arrow_cast(1, 'Dictionary(Int8, Int64)')", "arrow_cast(1, 'RunEndEncoded(Int32, Int64)')",
    "arrow_cast(1, 'Float16')", "CURRENT_TIMESTAMP", "$1",
]
KINDS = {
    "integer": INTEGERS, "float": FLOATS, "decimal": DECIMALS, "text": TEXTS, "time": TIMES, "interval": INTERVALS,
    "binary": BINARIES, "list": LISTS, "struct": STRUCTS, "boolean": ["true", "false", "NULL"], "other": OTHERS,
}

SAMPLES = {
    "integer": ["Int64", "UInt64", "Int8", "UInt8", "Int", "UInt"], "float": ["Float64", "Float32", "Float"],
    "decimal": ["Decimal128", "Decimal256", "Decimal"],
    "text": ["Utf8", "Utf8View", "LargeUtf8", "Dictionary", "String"],
    "time": ["Timestamp", "Date32", "Date64", "Time64", "Time"], "interval": ["Interval", "Duration"],
    "binary": ["Binary", "BinaryView", "FixedSizeBinary", "LargeBinary"],
    "list": ["List", "LargeList", "FixedSizeList"], "struct": ["Struct", "Map"], "boolean": ["Boolean"],
    "other": ["Null"],
}
"""Names of types in Arrow for each kind of value."""
SQL_TYPES = [
    "TINYINT", "SMALLINT", "INT", "BIGINT", "TINYINT UNSIGNED", "BIGINT UNSIGNED", "REAL", "DOUBLE", "DECIMAL(1, 0)",
    "DECIMAL(38, 38)", "DECIMAL(38, 0)", "DECIMAL(76, 10)", "DECIMAL(5, 9)", "DECIMAL(99, 1)", "VARCHAR", "VARCHAR(2)",
    "CHAR", "BYTEA", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP(3)", "TIMESTAMP WITH TIME ZONE", "INTERVAL",
    "INT[]", "VARCHAR[][]", "INT[3]", "ARRAY<DOUBLE>", "STRUCT<a INT, b VARCHAR>", "MAP(VARCHAR, INT)", "UUID", "JSON",
    "NUMERIC", "REGCLASS",
]
ARROW_TYPES = [
    "Null", "Boolean", "Int8", "Int64", "UInt8", "UInt64", "Float16", "Float32", "Float64", "Utf8", "LargeUtf8",
    "Utf8View", "Binary", "LargeBinary", "BinaryView", "FixedSizeBinary(0)", "FixedSizeBinary(3)",
    "FixedSizeBinary(-1)", "Date32", "Date64", "Time32(s)", "Time64(ns)", "Time32(ns)", "Timestamp(s)", "Timestamp(ns)",
    "Timestamp(ns, \"+00:00\")", "Timestamp(ns, \"x\")", "Duration(s)", "Interval(YearMonth)", "Interval(DayTime)",
    "Interval(MonthDayNano)", "Decimal32(9, 2)", "Decimal64(18, 18)", "Decimal128(38, 38)", "Decimal128(38, -38)",
    "Decimal128(99, 1)", "Decimal256(76, 76)", "List(Int64)", "List(nullable Utf8View)", "LargeList(Int8)",
    "FixedSizeList(2 x Int64)", "FixedSizeList(-1 x Int64)", "ListView(Int64)", "Dictionary(Int8, Utf8)",
    "Dictionary(Int32, Dictionary(Int32, Utf8))", "Dictionary(Utf8, Utf8)", "RunEndEncoded(Int32, Utf8)",
    "Struct(\"a\": Int64)", "Struct()", "Map(\"e\": Struct(\"k\": Utf8, \"v\": Int64), unsorted)",
    "Union(Dense, 0: (\"a\": Int64))", "nonsense", "", "List(", "Int64)",
]
BINARY_OPERATORS = [
    "+", "-", "*", "/", "%", "=", "<>", "<", ">=", "AND", "OR", "||", "&", "|", "^", "#", "<<", ">>", "~", "!~*",
    "LIKE", "NOT ILIKE", "SIMILAR TO", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "->", "->>", "@>", "<@", "@@", "<=>",
    "//", "**", "==", "DIV", "XOR", "AT TIME ZONE", "RLIKE", "COLLATE", "?", "#>", "&&", "OVERLAPS", "BINARY",
]
FRAMES = [
    "", "ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING", "ROWS BETWEEN 18446744073709551615 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 9223372036854775807 FOLLOWING AND UNBOUNDED FOLLOWING", "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 9223372036854775807 PRECEDING AND 9223372036854775807 FOLLOWING",
    "RANGE BETWEEN 'a' PRECEDING AND CURRENT ROW", "GROUPS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "ROWS BETWEEN -1 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN 1.5 PRECEDING AND NULL FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE TIES", "ROWS 1 FOLLOWING", "GROUPS UNBOUNDED PRECEDING",
    "RANGE BETWEEN UNBOUNDED FOLLOWING AND UNBOUNDED PRECEDING",
]
NAMES = [
    "a", "b", '"a b"', '""', '"A"', "`a`", "[a]", '"ä"', '"a.b"', "_", "1a", '"select"', "x.y.z.w",
    '"' + "n" * 300 + '"', "$x", "#t", "'a'", '"a""b"',
]
REFUSED = [
    "COPY h TO {path}", "COPY (SELECT 1) TO {path} STORED AS CSV", "COPY h FROM {path}",
    "CREATE EXTERNAL TABLE e STORED AS CSV LOCATION {path}",
    "CREATE EXTERNAL TABLE e (a INT) STORED AS PARQUET LOCATION {path}",
    "CREATE UNBOUNDED EXTERNAL TABLE e STORED AS CSV LOCATION {path}", "INSERT INTO {table} VALUES (1)",
    "INSERT INTO h SELECT * FROM h", "INSERT OVERWRITE h SELECT 1", "UPDATE {table} SET {name} = 1",
    "DELETE FROM {table}", "TRUNCATE {table}", "DROP TABLE {table}", "DROP VIEW {table}",
    "DROP TABLE IF EXISTS {name}, {name}", "ALTER TABLE {table} ADD COLUMN x INT",
    "CREATE TABLE {name} AS SELECT {value} AS x", "CREATE TABLE {table} AS SELECT 1",
    "CREATE TABLE t1 (a INT, b VARCHAR)", "CREATE OR REPLACE VIEW v1 AS SELECT * FROM v1",
    "CREATE VIEW v2 AS SELECT * FROM v2", "CREATE OR REPLACE VIEW v3 AS SELECT {value} AS x, {value} AS y",
    "SELECT * FROM v3", "CREATE OR REPLACE TABLE t3 AS SELECT {value} AS x", "SELECT * FROM t3", "DROP VIEW v3",
    "CREATE TEMPORARY VIEW v4 (a, b) AS SELECT 1", "CREATE SCHEMA s", "CREATE DATABASE d", "DROP SCHEMA main CASCADE",
    "DROP SCHEMA information_schema", "CREATE INDEX i ON h (i64)", "CREATE FUNCTION f(DOUBLE) RETURNS DOUBLE RETURN $1",
    "DROP FUNCTION abs", "CREATE MATERIALIZED VIEW m AS SELECT 1", "SET datafusion.execution.target_partitions = 0",
    "SET datafusion.execution.batch_size = 0", "SET datafusion.catalog.location = {path}", "SET x = 1", "RESET ALL",
    "SHOW ALL", "SHOW datafusion.execution.batch_size", "SHOW TABLES", "SHOW COLUMNS FROM {table}",
    "SHOW CREATE TABLE {table}", "SHOW FUNCTIONS LIKE '%a%'", "DESCRIBE {table}", "DESCRIBE {query}",
    "EXPLAIN {query}", "EXPLAIN ANALYZE {query}", "EXPLAIN VERBOSE {query}", "EXPLAIN FORMAT TREE {query}",
    "EXPLAIN FORMAT PGJSON {query}", "EXPLAIN FORMAT GRAPHVIZ {query}", "EXPLAIN EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE CREATE TABLE q AS SELECT 1", "EXPLAIN COPY h TO {path}", "EXPLAIN INSERT INTO h SELECT 1",
    "PREPARE p AS SELECT $1", "EXECUTE p(1)", "DEALLOCATE p", "BEGIN", "COMMIT", "ROLLBACK", "ANALYZE {table}",
    "VACUUM", "ATTACH {path} AS d", "LOAD {path}", "INSTALL httpfs", "IMPORT DATABASE {path}", "EXPORT DATABASE {path}",
    "CALL f(1)", "USE d", "PRAGMA database_list", "GRANT ALL ON {table} TO x",
    "MERGE INTO h USING h AS s ON true WHEN MATCHED THEN DELETE", "SELECT 1 INTO x", "SELECT 1 FOR UPDATE",
    "DECLARE c CURSOR FOR SELECT 1", "LOCK TABLE {table}", "UNLOAD ('SELECT 1') TO {path}",
    "LOAD DATA INPATH {path} INTO TABLE h", "SELECT * FROM {path}", "TABLE {table}", "VALUES (1, 'a'), (2)",
    "VALUES ({value}), ({value})", "SELECT * FROM information_schema.{name}",
    "SELECT * FROM information_schema.df_settings", "SUMMARIZE {query}", "SUMMARIZE {table}", "PIVOT h ON text",
    "SELECT * FROM h PIVOT (sum(i64) FOR text IN ('a', 'b'))", "SELECT * FROM h UNPIVOT (x FOR y IN (i8, i16))",
    "SELECT * FROM h ASOF JOIN h AS g ON true", "FROM h SELECT {value}", "FROM {table}", "SELECT", ";", "()", "WITH",
]
FILES = [
    "SELECT * FROM read_csv({path})", "SELECT * FROM read_parquet({path})",
    "SELECT count(*) FROM read_csv({path}) AS f", "SELECT * FROM read_csv({path}, {value})",
    "SELECT * FROM read_csv({path} || '')", "SELECT * FROM read_parquet([{path}])", "SELECT * FROM read_csv($window)",
    "SELECT * FROM read_csv((SELECT {path}))", "SELECT h.i8, f.* FROM h, LATERAL read_csv({path}) AS f",
    "SELECT * FROM {path}", "SELECT * FROM read_json({path})", "SELECT * FROM read_text({path})",
    "SELECT * FROM glob({path})", "SELECT read_csv({path})", "SELECT * FROM parquet_metadata({path})",
    "SELECT * FROM metadata_cache()", "SELECT * FROM statistics_cache()", "SELECT * FROM list_files_cache()",
    "CREATE VIEW v5 AS SELECT * FROM read_csv({path})",
    "SELECT * FROM read_csv({path}) UNION ALL SELECT * FROM read_csv({path})",
    "DESCRIBE SELECT * FROM read_csv({path})", "SUMMARIZE SELECT * FROM read_csv({path})",
    "EXPLAIN SELECT * FROM read_parquet({path})",
]
SIGNS = [
    "(", ")", "'", '"', ",", ";", "*", "$", "--", "/*", "*/", "\0", ".", "[", "]", "{", "OVER", "NULL", "DISTINCT",
    "::", "=>", "\ufeff", "\u202e",
]
LARGE = ["repeat", "lpad", "rpad", "range", "generate_series", "array_repeat", "array_resize"]
"""Functions whose values are as long as they are told."""

ROWS = 5
HOSTILE: dict[str, tuple[str, list[str]]] = {
    "i8": ("Int8", ["0", "-128", "127", "NULL", "5"]), "i16": ("Int16", ["0", "-32768", "32767", "1", "NULL"]),
    "i32": ("Int32", ["-2147483648", "2147483647", "NULL", "0", "-1"]),
    "i64": ("Int64", ["-9223372036854775808", "9223372036854775807", "0", "NULL", "3"]),
    "u8": ("UInt8", ["0", "255", "NULL", "1", "2"]), "u32": ("UInt32", ["0", "4294967295", "1", "NULL", "2"]),
    "u64": ("UInt64", ["0", "18446744073709551615", "NULL", "1", "2"]),
    "f32": ("Float32", ["'NaN'", "'inf'", "'-0'", "NULL", "'1e-40'"]),
    "f64": ("Float64", ["'NaN'", "'-inf'", "'-0'", "'1e308'", "NULL"]),
    "f16": ("Float16", ["'NaN'", "'1'", "NULL", "'65504'", "'-0'"]),
    "bool": ("Boolean", ["true", "false", "NULL", "true", "NULL"]),
    "text": ("Utf8View", ["''", "'a'", "NULL", "'ä€😀'", "'1'"]),
    "utf8": ("Utf8", ["'a%'", "NULL", "''", "'2024-01-01'", "'x y'"]),
    "large": ("LargeUtf8", ["'b'", "'ÀÉ'", "NULL", "''", "'-1'"]),
    "dict": ("Dictionary(Int32, Utf8)", ["'a'", "'b'", "NULL", "'a'", "''"]),
    "dict8": ("Dictionary(UInt8, Utf8View)", ["'a'", "NULL", "'b'", "'c'", "'c'"]),
    "bin": ("Binary", ["''", "'a'", "NULL", "'abc'", "'x'"]),
    "binview": ("BinaryView", ["'abc'", "NULL", "''", "'x'", "'y'"]),
    "fixed": ("FixedSizeBinary(3)", ["X'616263'", "NULL", "X'000000'", "X'ffffff'", "X'616263'"]),
    "d32": ("Date32", ["2147483647", "-2147483648", "NULL", "0", "19000"]),
    "d64": ("Date64", ["9223372036854775807", "-9223372036854775808", "0", "NULL", "1"]),
    "t32": ("Time32(s)", ["'00:00:00'", "'23:59:59'", "NULL", "'00:00:01'", "'01:00:00'"]),
    "t64": ("Time64(ns)", ["0", "86399999999999", "NULL", "-1", "9223372036854775807"]),
    "ts": ("Timestamp(ns)", ["-9223372036854775808", "9223372036854775807", "0", "NULL", "1700000000000000000"]),
    "tss": ("Timestamp(s)", ["-9223372036854775808", "9223372036854775807", "0", "NULL", "1700000000"]),
    "tz": ("Timestamp(ms, \"Europe/Berlin\")", ["0", "1711846800000", "NULL", "-1", "9223372036854775807"]),
    "dur": ("Duration(ns)", ["0", "-1", "9223372036854775807", "NULL", "1000"]),
    "durs": ("Duration(s)", ["0", "-9223372036854775808", "9223372036854775807", "NULL", "1"]),
    "dec": (
        "Decimal128(38, 0)",
        ["'0'", "'99999999999999999999999999999999999999'", "'-99999999999999999999999999999999999999'", "NULL", "'1'"],
    ),
    "dec38": ("Decimal128(38, 38)", ["'0'", "'0.1'", "'-0.99999999999999999999999999999999999999'", "NULL", "'0.5'"]),
    "dec256": (
        "Decimal256(76, 10)", ["'0'", "'1.5'", "NULL", "'-99999999999999999999999999999999999999999999999999'", "'3'"],
    ),
    "dec32": ("Decimal32(9, 2)", ["'0'", "'9999999.99'", "NULL", "'-1'", "'1.5'"]),
    "list": ("", ["[1, NULL, 3]", "[]", "NULL", "[9223372036854775807]", "[1, 1]"]),
    "texts": ("", ["['a', '']", "[]", "NULL", "[NULL]", "['b']"]),
    "nested": ("", ["[[1], []]", "[NULL]", "NULL", "[[1, 2]]", "[[]]"]),
    "biglist": ("LargeList(Int64)", ["[1, 2]", "NULL", "[3]", "[NULL]", "[1]"]),
    "pairs": ("FixedSizeList(2 x Int64)", ["[1, 2]", "NULL", "[3, NULL]", "[0, 0]", "[1, 2]"]),
    "st": ("", ["{a: 1, b: 'x'}", "{a: NULL, b: NULL}", "NULL", "{a: -1, b: ''}", "{a: 1, b: 'x'}"]),
    "iv": (
        "",
        ["INTERVAL '1 month'", "INTERVAL '-1 day'", "NULL", "INTERVAL '2147483647 months'", "INTERVAL '1 nanosecond'"],
    ),
    "m": ("", ["MAP {'a': 1}", "MAP {'b': NULL}", "NULL", "MAP {'a': 1, 'c': 2}", "MAP {'a': 3}"]),
}
"""Columns of the table `h`: its type, and a value for each row."""


def hostile_table() -> str:
    def column(name: str, ty: str, values: list[str]) -> str:
        value = f"CASE n {' '.join(f'WHEN {n} THEN {value}' for n, value in enumerate(values))} END"
        return f"{f'arrow_cast({value}, {chr(39)}{ty}{chr(39)})' if ty else value} AS {name}"

    columns = ", ".join(column(name, *of) for name, of in HOSTILE.items())
    return f"CREATE TABLE h AS SELECT n, {columns} FROM (VALUES {', '.join(f'({n})' for n in range(ROWS))}) AS r(n)"


RULES: dict[str, list[str]] = {
    "expr": [
        *["{call}"] * 6, *["{e} {operator} {e}"] * 2, *["({e}) {plain_operator} ({e})"] * 3, "CAST({e} AS {type})",
        "TRY_CAST({e} AS {type})", "({e})::{type}", "arrow_cast({e}, '{arrow_type}')", "CASE WHEN {e} THEN {e} END",
        "CASE {e} WHEN {e} THEN {e} ELSE {e} END", "{sign}({e})", "({e})[{e}]", "({e})[{e}:{e}]", "({e}).{member}",
        "{e} IN ({list})", "{e} NOT IN ({list})", "{e} BETWEEN {e} AND {e}", "{e} {test}", "{e} LIKE {e} ESCAPE 'x'",
        "{e} LIKE {e} ESCAPE ''", "EXTRACT({part} FROM {e})", "({query})", "EXISTS ({query})", "{e} IN ({query})",
        "{e} = ANY ({query})", "{e} <> ALL ({query})", "{e} = ANY ({e})", "[{list}]", "{a: {e}, b: {e}}", "unnest({e})",
        "substring({e} FROM {e} FOR {e})", "position({e} IN {e})", "trim(BOTH {e} FROM {e})", "INTERVAL {e}",
        "overlay({e} PLACING {e} FROM {e})", "{e} AT TIME ZONE {e}", "ceil({e} TO {part})", "grouping({column})",
        "array_transform({e}, x -> {e})", "({e}, {e})",
    ],
    "leaf": ["{column}", "{column}", "{value}"],
    "list": ["{e}", "{e}, {e}", "{e}, {e}, {e}", ""],
    "columns": ["{column}", "{column}, {column}", "{column}, {column}, {column}"],
    "sign": ["-", "NOT ", "+", "~", "@", "!"],
    "member": ["a", "b", "*", "1"],
    "part": ["year", "epoch", "doy", "nanosecond", "isodow", "week", "DAY", "x"],
    "test": ["IS NULL", "IS NOT TRUE", "IS UNKNOWN", "IS NOT NULL", "IS NORMALIZED"],
    "direction": ["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"],
    "nulls": [*[""] * 6, " IGNORE NULLS", " RESPECT NULLS"],
    "within": [*[""] * 9, " WITHIN GROUP (ORDER BY {leaf}{direction})"],
    "filter": [*[""] * 6, " FILTER (WHERE {e})"],
    "distinct": [*[""] * 5, "DISTINCT "],
    "sorted": [*[""] * 6, " ORDER BY {leaf}{direction}"],
    "partition": ["", "", "PARTITION BY {leaf} ", "PARTITION BY {leaf}, {column} "],
    "order": [
        "", "ORDER BY {leaf}{direction} ", "ORDER BY {column}{direction} ", "ORDER BY {leaf}, {column}{direction} ",
    ],
    "window": ["{window_call}{nulls} OVER ({partition}{order}{frame})", "{aggregate} OVER ({partition}{order}{frame})"],
    "items": [*["ITEM", "ITEM, ITEM", "ITEM AS a, ITEM AS {name}, ITEM"] * 4, "*", "r0.*, ITEM",
              "* EXCLUDE ({column})", "* REPLACE (ITEM AS {column})"],
    "unique": [*[""] * 12, "DISTINCT ", "DISTINCT ON ({column}) "],
    "where": ["", "", " WHERE {expr}"],
    "group": ["GROUP BY ALL", "GROUP BY ()", "GROUP BY CUBE ({columns})", "GROUP BY ROLLUP ({columns})",
              "GROUP BY GROUPING SETS ((), ({columns}), ({column}, {column}))", "GROUP BY 1", "GROUP BY {columns}",
              "GROUP BY {leaf}", "GROUP BY {e}", "GROUP BY {column}, CUBE ({column}), ROLLUP ({column})",
              "GROUP BY {column} HAVING {aggregate} > {value}"],
    "tail": [*[""] * 3, " ORDER BY {e}{direction}", " ORDER BY 1, 2{direction}", " ORDER BY 99", " ORDER BY ALL",
             " LIMIT 10", " LIMIT {e}", " LIMIT {integer}", " OFFSET {integer}", " LIMIT 5 OFFSET {e}",
             " FETCH FIRST {integer} ROWS ONLY", " QUALIFY {window} = 1"],
    "set": ["UNION", "UNION ALL", "EXCEPT", "INTERSECT ALL", "UNION BY NAME", "EXCEPT ALL"],
    "join": ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ",", "LEFT SEMI JOIN", "RIGHT ANTI JOIN",
             "NATURAL JOIN", "LEFT JOIN LATERAL"],
    "on": [" ON {e}", " ON {column} = {column}", " USING ({column})", " ON a.begin_at < b.end_at", ""],
    "rows": ["unnest({e}) AS u(a)", "generate_series({e}, {integer})", "range({integer}, {integer}, {e})",
             "unnest({e}, [1, 2]) AS u(a, b)", "unnest({e}) WITH ORDINALITY"],
    "intervals": ["process_state", "core_slice", "runnable_state", "h", "({query})", "{table}",
                  "(SELECT {e} AS begin_at, {e} AS end_at, {column} AS core FROM h)",
                  "(SELECT i64 AS begin_at, {column} AS end_at, {column} AS core FROM h)",
                  "(SELECT begin_at + {integer} AS begin_at, end_at, core FROM process_state LIMIT 20)"],
    "events": ["data_event", "btf_event", "function_event", "({query})", "{table}",
               "(SELECT {e} AS time, {column} AS core, n AS seq FROM h)",
               "(SELECT i64 AS time, {column} AS core FROM h)"],
    "keys": ["", ", core", ", recording, core", ", {column}", ", {e}"],
    "bounds": ["", ", from => {e}", ", to => {e}, from => {e}"],
    "named": ["", ", name => {e}"],
    "width": ["{e}", "{integer}", "$window", "1000000"],
    "any_arguments": ["{intervals}", "{e}", "x => {e}", "{intervals}, {e}", "", "{events}, {events}, {e}, {e}"],
    "interval_merge": ["{intervals}{keys}"],
    "concurrency": ["{intervals}{keys}"],
    "interval_gaps": ["{intervals}{keys}{bounds}"],
    "interval_intersect": ["{intervals}, {intervals}{keys}"],
    "buckets": ["{intervals}, {width}"],
    "pair": ["{events}{keys}, begin => {e}, end => {e}{named}"],
    "as_of": ["{events}, {events}{keys}"],
    "cte": ["WITH a AS ({query}), b AS ({query}) SELECT * FROM a UNION SELECT * FROM b",
            "WITH a AS ({query}), b AS ({query}) SELECT * FROM a, b",
            "WITH a(a, b) AS ({query}) SELECT * FROM a NATURAL JOIN a",
            "WITH RECURSIVE r(x) AS (SELECT {e} UNION ALL SELECT {step} FROM r WHERE x < 9) SELECT * FROM r LIMIT 20",
            "WITH RECURSIVE r(x) AS (SELECT {e} UNION SELECT {step} FROM r LIMIT 5) SELECT * FROM r LIMIT 20"],
    "step": ["x + 1", "x * 2", "x", "{e}"],
    "plain_operator": BINARY_OPERATORS[:22],
    "operator": BINARY_OPERATORS, "type": SQL_TYPES, "arrow_type": ARROW_TYPES, "frame": [
        "", "", *FRAMES,
    ], "name": NAMES,
    "integer": INTEGERS, "statement": REFUSED, "file": FILES,
}
"""What a word in braces stands for: one of these, with what their words stand for. `e` is an expression that is less
deep."""


@dataclass
class Known:
    """What the program has: functions by kind, the types of their arguments, columns of tables, functions of tables."""

    functions: dict[str, list[str]]
    arguments: dict[str, list[list[str]]]
    tables: dict[str, list[str]]
    table_functions: list[str]
    shipped: list[str]
    arities: dict[str, list[int]] = field(default_factory=dict)
    """How many arguments a function takes, as found by asking."""


class Grammar:
    """One random statement. `large` says that it may take long in good faith; `touches` that it names a file."""

    def __init__(self, rng: random.Random, known: Known, paths: list[str]) -> None:
        self.rng, self.known, self.paths = rng, known, paths
        self.columns = ["n", *HOSTILE]
        self.large = self.touches = False

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def fill(self, template: str, depth: int) -> str:
        return re.sub(r"\{([a-z_]+)\}", lambda word: self.of(word[1], depth), template)

    def of(self, word: str, depth: int) -> str:
        """What a word stands for."""
        match word:
            case "e" | "expr":
                return self.expr(depth - (word == "e"))
            case "query":
                return self.query(depth - 2)
            case "call":
                return self.call("SCALAR", depth)
            case "window_call":
                return self.call("WINDOW", depth)
            case "aggregate":
                name, arguments = self.call("AGGREGATE", depth)[:-1].split("(", 1)
                distinct, end = self.of("distinct", depth), self.fill("{sorted}){nulls}{within}{filter}", depth)
                return f"{name}({distinct}{arguments}{end}"
            case "column":
                return self.rng.choice(self.columns if self.chance(0.99) else NAMES)
            case "value":
                return self.rng.choice(KINDS[self.rng.choices(list(KINDS), [6, 3, 3, 6, 3, 2, 2, 3, 2, 2, 1])[0]])
            case "table":
                self.large = True
                return self.rng.choice(list(self.known.tables))
            case "path":
                self.touches = True
                return f"'{self.rng.choice(self.paths)}'"
        return self.fill(self.rng.choice(RULES[word]), depth)

    def expr(self, depth: int) -> str:
        leaf = depth <= 0 or self.chance(0.4)
        return self.fill(self.rng.choice(RULES["leaf" if leaf else "expr"]), depth)

    def of_type(self, ty: str) -> str:
        """A value or column that may have a type, by its name in Arrow."""
        kind = next((kind for kind, begins in SAMPLES.items() if any(ty.startswith(begin) for begin in begins)), None)
        columns = [name for name, (of, _) in HOSTILE.items() if of.startswith(ty.split("(")[0])]
        columns += {"list": ["list", "texts", "nested"], "struct": ["st", "m"], "interval": ["iv"]}.get(kind or "", [])
        columns = [column for column in columns if column in self.columns]
        if columns and self.chance(0.4):
            return self.rng.choice(columns)
        return self.rng.choice(KINDS[kind]) if kind else self.of("value", 0)

    def call(self, kind: str, depth: int) -> str:
        name = self.rng.choice(self.known.functions[kind])
        self.large |= name in LARGE
        typed, arities = self.known.arguments.get(name), self.known.arities.get(name)
        if typed and self.chance(0.8):
            types = self.rng.choice(typed)
        else:
            # Arguments of one kind have the best chance to be taken.
            kinds = SAMPLES[self.rng.choice(list(SAMPLES))]
            count = self.rng.choice(arities if arities and self.chance(0.97) else [0, 1, 1, 2, 2, 3, 4, 6])
            types = [self.rng.choice(kinds) for _ in range(count)]
        share = self.rng.choice([1, 1, 1, 1, 0.9, 0.5, 0])
        return f"{name}({', '.join(self.of_type(ty) if self.chance(share) else self.expr(depth - 1) for ty in types)})"

    def relation(self, depth: int) -> str:
        choice = self.rng.random() if depth > 0 else 0
        if choice < 0.45:
            relation, self.columns = "h", ["n", *HOSTILE]
        elif choice < 0.6:
            name, rows = self.of("table", 0), self.rng.choice([9, 100, 10000])
            relation, self.columns = f"(SELECT * FROM {name} LIMIT {rows})", self.known.tables[name]
        elif choice < 0.75:
            relation = self.table_call(depth)
        elif choice < 0.85:
            relation = f"({self.query(depth - 1)}) AS s{self.rng.choice(['(a, b, c)', ''])}"
            self.columns = ["a", "b", "c"]
        elif choice < 0.93:
            relation = self.fill("(VALUES ({leaf}, {leaf}), ({leaf}, {leaf})) AS v(a, b)", depth)
            self.columns = ["a", "b"]
        else:
            relation, self.large = self.fill("{rows}", 1), True
        return relation

    def table_call(self, depth: int) -> str:
        """A call of a function of ours in FROM, mostly with what it needs."""
        self.large = True
        name = self.rng.choice(self.known.table_functions)
        arguments = self.of(name if name in RULES and self.chance(0.85) else "any_arguments", min(depth, 1) + 1)
        self.columns = ["begin_at", "end_at", "core", "recording", "time"]
        return f"{name}({arguments})"

    def query(self, depth: int) -> str:
        """A query. Its columns are those of what it reads."""
        outer, source = self.columns, self.relation(depth)
        for at in range(self.rng.choice([0, 0, 0, 0, 1, 2])):
            left, join, right = self.columns, self.of("join", depth), self.relation(depth - 1)
            self.columns = [*left, *self.columns]
            on = "" if join[0] in ",CN" else self.of("on", 2)
            source = f"{source} {join} {right}{'' if NAMED.search(right) else f' AS r{at}'}{on}"
        style = self.rng.choice(["aggregate", "window", "expr", "expr", "expr"])
        items = re.sub("ITEM", lambda _: self.of(style, self.rng.choice([1, 1, 2])), self.of("items", 2))
        query = f"SELECT {self.of('unique', 0)}{items} FROM {source}{self.of('where', 2)}"
        if style == "aggregate" and self.chance(0.6) or self.chance(0.03):
            query += f" {self.of('group', 1)}"
        if depth > 1 and self.chance(0.1):
            query += f" {self.of('set', 0)} {self.query(depth - 1)}"
        query += self.of("tail", 1)
        self.columns = outer
        return query

    def odd(self) -> str:
        """What is deep, long, or badly quoted."""
        self.large = True
        n, name = self.rng.choice([3, 30, 300, 900, 3000]), self.rng.choice(NAMES)
        ctes = ", ".join(f"c{i} AS (SELECT 1)" for i in range(n))
        return self.rng.choice([
            f"SELECT {'(' * n}1{')' * n}", f"SELECT {'-' * 2 * n}1", f"SELECT {'- ' * n}1",
            f"SELECT {'NOT ' * n}true", f"SELECT {' + '.join(['1'] * n)}",
            f"SELECT {' OR '.join(['n = 1'] * n)} FROM h", f"SELECT {'[' * n}{']' * n}",
            f"SELECT {'abs(' * n}1{')' * n}", f"SELECT 1 WHERE 1 IN ({', '.join(['1'] * n)})", f"SELECT 1 AS {name}",
            f"SELECT {', '.join(['n'] * n)} FROM h", f"{' UNION ALL '.join(['SELECT 1'] * n)}",
            f"SELECT {name} FROM {name}", f"SELECT * FROM {'(SELECT * FROM ' * n}h{')' * n}",
            "/* " * n + "SELECT 1" + " */" * n, 'SELECT "a', "SELECT 'a", "SELECT 1 -- x\n/* y */ + 1", "SELECT $$a",
            "SELECT 1 /*", f"SELECT CASE {'WHEN true THEN CASE ' * n}END", f"SELECT 1{'::INT' * n}",
            f"SELECT {'{a: ' * n}1{'}' * n}", f"SELECT '{'x' * 1000 * n}'", f"SELECT {'9' * n}",
            f"SELECT 1e{'9' * n}", f"SELECT 0.{'1' * n}", f"SELECT * FROM h AS {'x' * n}", f"WITH {ctes} SELECT 1",
            f"SELECT CAST(1 AS {'ARRAY<' * n}INT{'>' * n})",
            f"SELECT {'EXISTS (SELECT ' * (n // 10)}1{')' * (n // 10)}",
            f"SELECT 1 FROM {', '.join(f'h AS h{i}' for i in range(min(n, 9)))}", f"SELECT 'a' LIKE '{'%a' * n}'",
            f"SELECT regexp_replace('{'a' * n}', '(a|a)*b', 'x')",
            f"SELECT * FROM h WHERE {' AND '.join(['text <> dict'] * n)}",
        ])

    def statement(self) -> str:
        kind = self.rng.random()
        if kind < 0.56:
            templates = ["SELECT {call} FROM h"] * 5 + ["SELECT {call}", "SELECT {aggregate}, {aggregate} FROM h"]
            templates += ["SELECT {column}, {aggregate} FROM h GROUP BY {columns}", *["SELECT {window} FROM h"] * 2]
            return self.fill(self.rng.choice(templates), self.rng.choice([1, 1, 2]))
        if kind < 0.8:
            return self.query(3)
        if kind < 0.86:
            call = self.table_call(2)
            return f"SELECT {self.fill(self.rng.choice(['*', 'count(*)', '{e}']), 2)} FROM {call}"
        if kind < 0.97:
            return self.of("cte" if kind < 0.89 else "statement" if kind < 0.94 else "file", 3)
        return self.odd()

    def mutated(self, text: str) -> bytes:
        """The text after some random changes of its words and bytes."""
        self.large = True
        words = WORDS.findall(text.encode())
        for _ in range(self.rng.randint(1, 4)):
            at, other = self.rng.randrange(len(words) + 1), self.rng.randrange(len(words) + 1)
            match self.rng.randrange(7):
                case 0:
                    del words[at : at + self.rng.randint(1, 5)]
                case 1:
                    words[at:at] = words[other : other + self.rng.randint(1, 20)]
                case 2:
                    words = words[:at]
                case 3:
                    words[at : at + 1] = [bytes([self.rng.randrange(128 if self.chance(0.9) else 256)])]
                case 4:
                    words[at : at + 1] = [self.rng.choice(SIGNS).encode()]
                case 5:
                    words[at : at + 1] = [self.of("value", 0).encode()]
                case _:
                    words[at : at + 1] = [self.of("column", 0).encode()]
        return b"".join(words)

    def any(self) -> bytes:
        if self.chance(0.12):
            return self.mutated(self.rng.choice(self.known.shipped) if self.chance(0.5) else self.statement())
        return self.statement().encode()


def harmless(text: bytes) -> bytes:
    """Commands with a dot are no SQL, and may do what they say."""
    text = re.sub(rb"(?m)^\s*[.\\]", b"0.", text)
    return re.sub(rb"(?im)^\s*(help|quit|exit)[\s;]*$", b"0", text)


# ------------------------------------------------------------------------------------------------------- where it runs


@dataclass
class Outcome:
    """What a statement gave; `code` if the process ended, and whether it took too long."""

    out: str
    err: str
    code: int | None
    late: bool


@dataclass
class Place:
    """Folders of a run: where btfdb starts, a database, and what it must not touch."""

    btfdb: str
    folder: Path
    secret: str = field(default_factory=lambda: f"canary{random.SystemRandom().getrandbits(64):x}")

    def __post_init__(self) -> None:
        names = ("work", "outside", "spill", "results")
        self.work, self.outside, self.spill, self.results = (self.folder / name for name in names)
        for folder in (self.work / "sub", self.outside, self.spill, self.results):
            folder.mkdir(parents=True)
        self.allowed = self.secret.replace("canary", "allowed")
        (self.outside / "canary.csv").write_text(f"{self.secret}\n{self.secret}\n")
        (self.work / "allowed.csv").write_text(f"{self.allowed}\n{self.allowed}\n")
        (self.work / "broken.parquet").write_bytes(b"PAR1" + bytes(range(64)) + b"PAR1")
        (self.work / "link.csv").symlink_to(self.outside / "canary.csv")
        (self.work / "folder").symlink_to(self.outside)
        inputs = [ROOT / "demo/recording", ROOT / "tests/data/btf/metrics.btf"]
        subprocess.run([self.btfdb, "-q", "ingest", self.folder / "db", *inputs], check=True, env=self.env())
        self.query("SELECT * FROM process_state LIMIT 100", "-o", self.work / "states.parquet")

    def env(self) -> dict[str, str]:
        # With RUST_BACKTRACE, a panic says where it is. Without a home, there is no history.
        return {
            **os.environ, "HOME": "", "XDG_STATE_HOME": "", "TMPDIR": str(self.spill),
            "TERM": "dumb", "RUST_BACKTRACE": "0", "HOSTILE_SECRET": self.secret,
        }

    def query(self, sql: str, *words: object) -> str:
        done = subprocess.run(
            [self.btfdb, "-q", "query", self.folder / "db", sql, *words], check=True, env=self.env(),
            capture_output=True, text=True,
        )
        return done.stdout

    def rows(self, sql: str) -> list[dict]:
        return json.loads(self.query(sql, "--format", "json"))

    def known(self) -> Known:
        functions: dict[str, list[str]] = {}
        for row in self.rows(
            "SELECT DISTINCT routine_name, function_type FROM information_schema.routines ORDER BY 1, 2"
        ):
            functions.setdefault(row["function_type"], []).append(row["routine_name"])
        arguments: dict[str, dict[str, list[str]]] = {}
        for row in self.rows(
            "SELECT DISTINCT specific_name, rid, ordinal_position, data_type FROM information_schema.parameters "
            "WHERE parameter_mode = 'IN' ORDER BY 1, 2, 3, 4"
        ):
            overloads = arguments.setdefault(row["specific_name"], {})
            overloads.setdefault(str(row["rid"]), []).append(row["data_type"] or "")
        tables: dict[str, list[str]] = {}
        for row in self.rows(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'main' "
            "ORDER BY 1, ordinal_position"
        ):
            tables.setdefault(row["table_name"], []).append(row["column_name"])
        documented = (ROOT / "docs/library.md").read_text().split("## Table functions")[1].split("\n## ")[0]
        ours = [*re.findall(r"^### `(\w+)`", documented, re.M), "chains"]
        # Spellings of other databases are in no list of the engine.
        spellings = re.findall(r'^    \("(\w+)", Meaning', (ROOT / "src/engine/sql/spellings.rs").read_text(), re.M)
        functions["SCALAR"] += [name for name in spellings if name.startswith(("list", "regexp", "strf"))]
        functions["AGGREGATE"] += [name for name in spellings if not name.startswith(("list", "regexp", "strf"))]
        shipped = [file.read_text() for file in sorted((ROOT / "queries").glob("*/*.sql"))]
        typed = {name: list(overloads.values()) for name, overloads in arguments.items()}
        return Known(functions, typed, tables, ours, shipped)

    def paths(self) -> list[str]:
        """Files that may be read, files that may not, and files that must not come to be."""
        new = self.secret.replace("canary", "new")
        table = next((self.folder / "db").rglob("*.parquet"))
        return [
            "allowed.csv", "states.parquet", "broken.parquet", "sub", "link.csv", "folder/canary.csv",
            "../outside/canary.csv", "sub/../../outside/canary.csv", str(self.outside / "canary.csv"),
            f"file://{self.outside}/canary.csv", "folder/../outside/canary.csv", "*.csv", "../outside/*.csv", "../db",
            "../db/_log", "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/cmdline", "/dev/stdin",
            "/dev/zero", "", ".", "\0", "nothing.csv", "https://localhost:1/x.csv", "s3://b/x.parquet",
            f"../outside/{new}.csv", f"{new}.csv", f"../{new}", f"/tmp/{new}.parquet", f"sub/{new}.parquet", "~/x.csv",
            "allowed.csv\n", str(table), f"../{table.relative_to(self.folder)}",
        ]

    def tree(self) -> dict[str, str]:
        """The files that must stay as they are, with their checksums; and those that must not come to be."""
        files = [path for top in ("work", "outside", "db") for path in (self.folder / top).rglob("*")]
        new = [*Path("/tmp").glob(f"*{self.secret.replace('canary', 'new')}*"), *self.folder.iterdir()]
        checksum = lambda path: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""  # noqa: E731
        return {str(path): checksum(path) for path in (*files, *new)}


class Shell:
    """`btfdb shell` on a terminal, where it goes on after errors; each statement is a file that it reads."""

    def __init__(self, place: Place, no_files: bool) -> None:
        self.place, self.count = place, 0
        terminal, inner = pty.openpty()
        # It would give back what it reads, and make signals of bytes.
        mode = termios.tcgetattr(inner)
        mode[3] &= ~(termios.ECHO | termios.ISIG)
        termios.tcsetattr(inner, termios.TCSANOW, mode)
        words = [
            place.btfdb, "-q", "shell", str(place.folder / "db"), "--memory-limit", "64MiB", "--threads", "2",
            *(["--no-files"] if no_files else []),
        ]
        self.process = subprocess.Popen(
            words, stdin=inner, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place.work, env=place.env(),
            start_new_session=True,
        )
        os.close(inner)
        self.terminal = terminal
        self.pipes = [self.process.stdout.fileno(), self.process.stderr.fileno()]
        for pipe in self.pipes:
            os.set_blocking(pipe, False)
        self.type(".param window=10ms\n.param step=1ms\n")
        made = self.ask(hostile_table().encode(), "csv", 60)
        if made.err or made.code is not None or made.late:
            raise SystemExit(f"the table of values is refused: {made.err}")

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def ask(self, statement: bytes, mode: str, seconds: float = SECONDS) -> Outcome:
        self.count += 1
        file = self.place.results / "statement.sql"
        mark = f"rows {7_000_000_000 + self.count}\n".encode()
        to_file = mode in ("parquet", "arrow")
        begin = f".mode auto\n.output {self.place.results}/r.{mode} --force\n" if to_file else f".mode {mode}\n"
        file.write_bytes(f".{mark.decode()}{begin}".encode() + statement)
        end_of_file = ".output\n" if to_file else ""
        self.type(f".read {file}\n{end_of_file}.rows\n")
        texts, late, end = [b"", b""], False, time.monotonic() + seconds
        while True:
            ready, _, _ = select.select(self.pipes, [], [], max(end - time.monotonic(), 0))
            ended = False
            for n, pipe in enumerate(self.pipes):
                if pipe in ready:
                    more = os.read(pipe, 1 << 20)
                    ended |= not more
                    texts[n] += more
            if ended:
                code = self.process.wait()
                while more := self.process.stderr.read():
                    texts[1] += more
                break
            if mark in texts[0][-200:]:
                code = None
                # Errors were written before the mark was.
                while more := self.process.stderr.read():
                    texts[1] += more
                break
            if time.monotonic() >= end or len(texts[0]) > SHOWN:
                code, late = None, len(texts[0]) <= SHOWN
                self.kill()
                break
        out, err = (text.decode(errors="replace") for text in texts)
        return Outcome(out, err, code, late)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """Ends the process. What it was killed for may have left files of its own."""
        self.kill()
        os.close(self.terminal)
        self.process.stdout.close()
        self.process.stderr.close()
        for file in sorted(self.place.spill.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()


# ---------------------------------------------------------------------------------------------------- what is a finding


def texts_of_engine(folder: Path) -> list[tuple[str, re.Pattern[str]]]:
    """The texts of errors that DataFusion calls internal, with anything for their values; and their longest parts."""
    calls = "internal_err!|internal_datafusion_err!|DataFusionError::Internal|assert_(?:eq_|ne_)?or_internal_err!"
    begin = rf"(?:{calls})\s*\("
    found: set[str] = set()
    for file in folder.glob("datafusion-*/src/**/*.rs"):
        source = file.read_text()
        for call in re.finditer(begin, source):
            # The text may follow a condition.
            depth, end = 1, call.end()
            while depth and end < len(source):
                depth += {"(": 1, ")": -1}.get(source[end], 0)
                end += 1
            text = re.compile(r'"((?:[^"\\]|\\.)*)"').search(source, call.end(), end)
            literal = re.sub(r"\\\n\s*", "", text[1]).replace('\\"', '"').replace("\\n", "\n") if text else ""
            if len(re.sub(r"\{[^}]*\}|\W", "", literal)) >= 12:
                found.add(literal)
    parts = [re.split(r"\{[^{}]*\}", text) for text in sorted(found)]
    return [(max(of, key=len), re.compile(".*".join(map(re.escape, of)), re.S)) for of in parts]


@dataclass
class Judge:
    secret: str
    allowed: str
    texts: list[tuple[str, re.Pattern[str]]]

    def finding(self, outcome: Outcome, no_files: bool, large: bool) -> str | None:
        """The kind of a finding, without what differs between its statements."""
        out, err = outcome.out, outcome.err
        both = out + err
        if self.secret in both or "root:x:0" in both or no_files and self.allowed in both:
            return "a file was read that may not be read"
        panic = re.search(r"panicked at (\S+?):\n(.*)", err)
        where = re.sub(r".*/(?=[\w.-]+/src/)", "", panic[1]) if panic else ""
        what = re.sub(r"\d+", "N", panic[2])[:60] if panic else ""
        if outcome.code is not None:
            if outcome.code == 1 and OUT_OF_MEMORY in err:
                return None
            said = err.strip().splitlines()[-1] if err.strip() else ""
            return f"died with {outcome.code}: {where} {what or re.sub(r'[0-9]+', 'N', said)}"
        if outcome.late:
            return None if large else "hangs"
        if fault := FAULT.search(re.sub(r"(?m)^  .*$", "", err)):
            error = " ".join(re.findall(r"(?m)^(?:error: (?:/\S+: )?|caused by: )(.*)", err)) or fault[0]
            return f"panic at {where}: {what}" if panic else f"fault: {plain(error)}"
        error = re.search(r"^error: .*?(?=^hint:|\Z)", err, re.S | re.M)
        if error and (
            text := next((part for part, all in self.texts if part in error[0] and all.search(error[0])), None)
        ):
            return f"internal: {text[:90]}"
        return None


def shown(statement: bytes, most: int = 1500) -> str:
    return statement.decode(errors="backslashreplace")[:most]


def plain(error: str) -> str:
    error = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "N", error)
    return re.sub(r"\b(got|from|of type) .*", r"\1 …", error)[:100]


def counted(outcome: Outcome) -> str:
    if outcome.code is not None:
        return "ended by the memory limit"
    if outcome.late:
        return "large, and stopped after its time"
    if "panicked at" in outcome.err:
        return "refused after a panic: too long for a column"
    return "refused" if re.search(r"^error:", outcome.err, re.M) else "ran"


@dataclass
class Found:
    seed: str
    statement: bytes
    mode: str
    no_files: bool
    outcome: Outcome
    times: int = 1


class Run:
    """Statements in the shells of a place, and what was found."""

    def __init__(self, place: Place, texts: list[tuple[str, re.Pattern[str]]]) -> None:
        self.place, self.judge = place, Judge(place.secret, place.allowed, texts)
        self.shell: Shell | None = None
        self.no_files = False
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.found: dict[str, Found] = {}
        self.before = place.tree()

    def ask(self, statement: bytes, mode: str, no_files: bool, large: bool) -> tuple[Outcome, str | None]:
        goes_on = self.shell is not None and self.shell.alive() and self.shell.count <= PER_PROCESS
        if not goes_on or no_files != self.no_files:
            self.close()
            self.shell, self.no_files = Shell(self.place, no_files), no_files
        outcome = self.shell.ask(statement, mode)
        return outcome, self.judge.finding(outcome, no_files, large)

    def arities(self, known: Known) -> dict[str, list[int]]:
        """Asks each function with some numbers of NULL."""
        found: dict[str, list[int]] = {}
        for kind, names in known.functions.items():
            over = " OVER (ORDER BY n)" if kind == "WINDOW" else ""
            for name in names:
                for count in range(7):
                    call = f"EXPLAIN SELECT {name}({', '.join(['NULL'] * count)}){over} FROM h"
                    if not self.ask(call.encode(), "csv", False, True)[0].err:
                        found.setdefault(name, []).append(count)
        return found

    def close(self) -> None:
        if self.shell is not None:
            self.shell.close()
        self.shell = None

    def shorter(self, found: Found, kind: str) -> bytes:
        """Takes words away, as long as the finding stays."""
        words, trials = WORDS.findall(found.statement), 0
        if not found.statement or kind.startswith(("hangs", "files")):
            return found.statement
        width = max(len(words) // 2, 1)
        while trials < TRIALS:
            at, changed = 0, False
            while at < len(words) and trials < TRIALS:
                rest = words[:at] + words[at + width :]
                trials += 1
                if rest and self.ask(harmless(b"".join(rest)), found.mode, found.no_files, False)[1] == kind:
                    words, changed = rest, True
                else:
                    at += width
            if width == 1 and not changed:
                break
            width = max(width // 2, 1)
        return b"".join(words)

    def one(self, seed: str, grammar: Grammar) -> None:
        """Runs a statement of the grammar and keeps what was found."""
        statement = harmless(grammar.any())
        no_files = int(seed.split(":")[1]) // PER_PROCESS % 2 == 1
        mode = grammar.rng.choices(list(MODES), list(MODES.values()))[0]
        outcome, kind = self.ask(statement, mode, no_files, grammar.large)
        if kind is None and grammar.touches:
            kind = self.changed()
        self.counts["findings" if kind else counted(outcome)] += 1
        if error := re.search(r"^error: (?:/\S+: )?(.*)", outcome.err, re.M):
            self.refused[plain(error[1])] += 1
        if kind in self.found:
            self.found[kind].times += 1
        elif kind:
            self.found[kind] = Found(seed, statement, mode, no_files, outcome)
            print(f"{seed}: {kind}\n    {shown(statement, 400)}", flush=True)

    def changed(self) -> str | None:
        """Files that came to be, or are no longer what they were."""
        before, self.before = self.before, self.place.tree()
        names = sorted({path for path, _ in before.items() ^ self.before.items()})
        return f"files changed: {', '.join(names)}" if names else None

    def report(self, refused: int) -> None:
        for kind, of in self.found.items():
            short = self.shorter(of, kind)
            error = "\n    ".join(of.outcome.err.strip().splitlines()[:6])
            files = ", --no-files" if of.no_files else ""
            print(f"\nFINDING {kind}\n  {of.times} times, first {of.seed}, mode {of.mode}{files}")
            print(f"  {shown(of.statement)}\n  shorter: {shown(short)}\n    {error}", flush=True)
        print()
        for what, count in [*self.counts.most_common(), *self.refused.most_common(refused)]:
            print(f"{count:8} {what}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("btfdb", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--statements", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--refused", type=int, default=0, metavar="N", help="show the N most common errors")
    parser.add_argument("--engine", type=Path)
    parser.add_argument("--statement")
    parser.add_argument("--no-files", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(options.btfdb, Path(folder))
        run = Run(place, texts_of_engine(options.engine) if options.engine else [])
        if options.statement is not None:
            outcome, kind = run.ask(options.statement.encode(), "csv", options.no_files, False)
            print(f"{outcome.out}{outcome.err}code {outcome.code}, late {outcome.late}: {kind or 'no finding'}")
            run.close()
            return 1 if kind else 0
        known, paths = place.known(), place.paths()
        known.arities = run.arities(known)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            for number in range(options.first, options.first + options.statements):
                seed = f"{options.seed}:{number}"
                run.one(seed, Grammar(random.Random(seed), known, paths))
                if number % 1000 == 999:
                    print(f"after {number + 1}: {dict(run.counts)}", flush=True)
        except KeyboardInterrupt:
            print("interrupted")
        if what := run.changed():
            run.found[what] = Found("the run", b"", "", False, Outcome("", "", None, False))
        run.report(options.refused)
        run.close()
    # A grammar that the parser refuses would find nothing.
    few = run.counts["ran"] * 20 < run.counts.total()
    if few:
        print("hardly any statement ran: the grammar no longer fits")
    return 1 if run.found or few else 0


if __name__ == "__main__":
    sys.exit(main())
