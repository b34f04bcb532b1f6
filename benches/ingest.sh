#!/usr/bin/env bash
# Measures `btfdb ingest` on synthetic exports of two sizes, the second ten times the first: speed, memory, and
# bytes per event. Fails when a row is missing. Builds no btfdb: measure the binary that you ship.
#
#   cargo build --release && benches/ingest.sh --bytes 2G
#   benches/ingest.sh --small target/debug/btfdb      # counts rows only, for CI
#
# usage: benches/ingest.sh [--small] [--bytes SIZE] [--mode data|func|both] [--cores N] [BINARY]
#
# --bytes is the size of each file of the small recording (default 200M). One recording lies on the disk at a
# time: have eleven times its size free in TMPDIR. Memory: "total" is what the kernel counted at the peak, file
# pages included; "anonymous" is the heap alone, looked at every 5 ms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size=200M mode=data cores=1 binary=target/release/btfdb
while (($#)); do
    case $1 in
    --small) size=200K mode=both cores=2 ;;
    --bytes) size=$2 && shift ;;
    --mode) mode=$2 && shift ;;
    --cores) cores=$2 && shift ;;
    --*) echo "ingest.sh: unknown option $1" >&2 && exit 2 ;;
    *) binary=$1 ;;
    esac
    shift
done
[[ -x $binary ]] || { echo "ingest.sh: no btfdb at '$binary'; build it first" >&2 && exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rustc --edition 2024 -O -D warnings benches/generate.rs -o "$work/generate"

printf '%-6s %9s %11s %8s %8s %8s %9s %8s %9s %12s\n' \
    size 'text MB' rows 'wall s' 'cpu s' 'MB/s' 'krows/s' 'B/event' 'total MB' 'anonymous MB'
number=${size%[KMG]}
for factor in 1 10; do
    "$work/generate" "$work/recording" \
        --mode "$mode" --cores "$cores" --bytes "$((number * factor))${size#"$number"}" >"$work/written.tsv"
    python3 - "$binary" "$work" "${factor}x" <<'PYTHON'
import json, os, subprocess, sys, time

binary, work, label = sys.argv[1:]
database = f"{work}/bench.db"
with open(f"{work}/written.tsv") as written:
    files = [line.rstrip("\n").split("\t") for line in written]
expected, text = sum(int(f[1]) for f in files), sum(int(f[2]) for f in files)

begun = time.monotonic()
child = subprocess.Popen([binary, "--quiet", "ingest", database, f"{work}/recording"])
anonymous, ended = 0, 0
while not ended:
    try:
        with open(f"/proc/{child.pid}/status") as status:
            found = [line.split()[1] for line in status if line.startswith("RssAnon:")]
        anonymous = max(anonymous, *map(int, found), 0)
    except OSError:
        pass
    ended, code, usage = os.wait4(child.pid, os.WNOHANG)
    time.sleep(0 if ended else 0.005)
wall = time.monotonic() - begun
if code:
    sys.exit(f"ingest failed: {os.waitstatus_to_exitcode(code)}")

with open(f"{database}/manifest.json") as manifest:
    parts = json.load(manifest)["manifest"]["files"]
parts = [p for p in parts if p["table"] in ("data_event", "function_event")]
rows, stored = sum(p["rows"] for p in parts), sum(p["bytes"] for p in parts)
cpu = usage.ru_utime + usage.ru_stime
print(f"{label:6} {text / 1e6:9.1f} {rows:11} {wall:8.2f} {cpu:8.2f} {text / 1e6 / wall:8.1f} {rows / 1e3 / wall:9.1f}"
      f" {stored / rows:8.2f} {usage.ru_maxrss / 1024:9.1f} {anonymous / 1024:12.1f}", flush=True)
if rows != expected:
    sys.exit(f"{expected} rows were written, but {rows} are in the database")
PYTHON
    rm -rf "$work/recording" "$work/bench.db"
done
