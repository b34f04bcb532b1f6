"""The entry of benches/run: reads the arguments, measures one work after the other, writes the table."""

import argparse
import os
import sys
import time
from importlib import metadata
from pathlib import Path

import report
from bench import Bench
from cluster import cluster, has_cluster
from inputs import size
from measure import Failed
from works import WORKS

RESULTS = Path(__file__).parent.parent / "RESULTS.md"


def arguments():
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    works = "\n".join(f"  {work.__name__:11} {work.__doc__.splitlines()[0]}" for work in WORKS)
    parser = argparse.ArgumentParser(prog="benches/run", epilog=f"works:\n{works}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help="works to do; all of them when none is named")
    parser.add_argument("--binary", type=Path, default=target / "release/btfdb", help="btfdb to measure")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each contender; medians count")
    parser.add_argument("--size", type=size, default=10**9, help="bytes of the data export (K, M, G; default 1e9)")
    parser.add_argument("--recording", type=Path, default=Path("demo/recording"), help="real recording to make long")
    parser.add_argument("--work", type=Path, default=target / "bench", help="folder for inputs and outputs")
    parser.add_argument("--keep", action="store_true", help="keep the inputs there, but not the databases")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that one command may take")
    parser.add_argument("--write", action="store_true", help="write benches/RESULTS.md")
    parser.add_argument("--small", action="store_true", help="does everything work? once, 2 MB, no verdicts on timing")
    options = parser.parse_args()
    unknown = set(options.works) - {w.__name__ for w in WORKS}
    if unknown:
        parser.error(f"no work called {', '.join(sorted(unknown))}")
    if not os.access(options.binary, os.X_OK):
        parser.error(f"no btfdb at '{options.binary}'; build it first")
    options.binary = options.binary.resolve()
    if options.small:
        options.size, options.repeat = 2 << 20, 1
    options.work = (options.work / f"{options.size}-{options.recording.name}").resolve()
    return options


def installed(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def main():
    options = arguments()
    bench = Bench(options, [peer for peer in ("duckdb", "polars") if installed(peer)])
    chosen = [w for w in WORKS if not options.works or w.__name__ in options.works]
    if not options.works and not has_cluster(options.binary):
        chosen.remove(cluster)
    results, sections, failed = [], [], []
    for work in chosen:
        begun = time.monotonic()
        try:
            result = work(bench)
        except Exception as failure:  # One work less, and not the end of the others.
            failed.append(work.__name__)
            what = str(failure) if isinstance(failure, Failed) else repr(failure)
            sections.append(f"## {work.__name__}: {work.__doc__}\n\n**FAILED**: {what}\n")
            print(f"{work.__name__}: FAILED: {what}", flush=True)
            continue
        results.append(result)
        sections.append(report.section(work.__doc__, result))
        print(f"{work.__name__}: done in {time.monotonic() - begun:.0f} s", flush=True)
        if not options.small:
            print("\n" + sections[-1], flush=True)
    if not options.small:
        finish(bench, options, results, sections)
    bench.inputs.clear()
    print(f"{len(results)} works done, {len(failed)} failed" + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def finish(bench, options, results, sections):
    table = report.targets(results)
    print(table)
    if not options.write:
        return
    head = ["# Results of benches/run", "", *report.conditions(bench, options), "", report.LEGEND, "", "## Targets", ""]
    memory = ["## Memory of every command", "", report.memory(bench)]
    RESULTS.write_text("\n".join([*head, table, *sections, *memory]))
    print(f"written: {RESULTS}")


if __name__ == "__main__":
    sys.exit(main())
