#!/usr/bin/env bash
# Measures import and export of BTF: a trace, repeated to a size, goes in and comes out again. Fails when it does not come
# out as it went in. Builds no btfdb: measure the binary that you ship.
#
#   cargo build --release && benches/btf.sh --bytes 1G trace.btf
#   benches/btf.sh --small target/debug/btfdb         # the way and back only, for CI
#
# usage: benches/btf.sh [--small] [--bytes SIZE] [--binary BINARY] [TRACE]
#
# Without a trace, that of the recording in demo/ is used. Have four times the size free in TMPDIR. Memory: "total" is
# what the kernel counted at the peak, "anonymous" is the heap alone, looked at every 5 ms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size=200M binary=target/release/btfdb trace=
while (($#)); do
    case $1 in
    --small) size=2M ;;
    --bytes) size=$2 && shift ;;
    --binary) binary=$2 && shift ;;
    --*) echo "btf.sh: unknown option $1" >&2 && exit 2 ;;
    *) trace=$1 ;;
    esac
    shift
done
[[ -x $binary ]] || { echo "btf.sh: no btfdb at '$binary'; build it first" >&2 && exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -z $trace ]]; then
    trace=$work/demo.btf
    "$binary" --quiet ingest "$work/demo.db" demo/recording
    "$binary" --quiet export "$work/demo.db" -o "$trace"
fi
rustc --edition 2024 -O -D warnings benches/repeat.rs -o "$work/repeat"
"$work/repeat" "$trace" "$work/long.btf" "$size" >"$work/written.tsv"

python3 - "$binary" "$work" <<'PYTHON'
import filecmp, os, subprocess, sys, time

binary, work = sys.argv[1:]
rows, text = map(int, open(f"{work}/written.tsv").read().split())
database, out = f"{work}/bench.db", f"{work}/out.btf"

def run(label, *args):
    begun = time.monotonic()
    child = subprocess.Popen([binary, "--quiet", *args])
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
    if code != 0:
        sys.exit(f"btf.sh: {label} failed")
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{label:8} {wall:7.2f} {cpu:7.2f} {text / wall / 1e6:7.0f} {rows / wall / 1e3:9.0f} "
          f"{usage.ru_maxrss / 1024:9.0f} {anonymous / 1024:13.0f}")

print(f"{rows} events, {text / 1e6:.0f} MB of text")
print(f"{'':8} {'wall s':>7} {'cpu s':>7} {'MB/s':>7} {'krows/s':>9} {'total MB':>9} {'anonymous MB':>13}")
run("import", "ingest", database, f"{work}/long.btf", "--name", "long")
run("export", "export", database, "-o", out)
if not filecmp.cmp(f"{work}/long.btf", out, shallow=False):
    sys.exit("btf.sh: the trace does not come out as it went in")
sizes = {}
for folder, _, files in os.walk(database):
    table = os.path.relpath(folder, database).split(os.sep)[0]
    sizes[table] = sizes.get(table, 0) + sum(os.path.getsize(os.path.join(folder, f)) for f in files)
events = sizes["btf_event"] / rows
print(f"bytes per event: btf_event {events:.2f}, with all derived tables {sum(sizes.values()) / rows:.2f}")
try:
    zstd = subprocess.run(["zstd", "-3", "-c", f"{work}/long.btf"], capture_output=True, check=True).stdout
    print(f"zstd -3 of the text: {len(zstd) / rows:.2f} bytes per event")
except (OSError, subprocess.CalledProcessError):
    print("zstd is not installed: no size to compare with")
PYTHON
