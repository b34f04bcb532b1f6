"""A database in an object store beside the same one in a folder: SeaweedFS on this machine, through a proxy that counts requests
and bytes. What is lost to the network is here that of one machine, and the answers cost a server's time on the same processors. Not
whether the answers are right (see tests/remote.py)."""

import importlib.util
import shutil
import statistics
import sys
import time
from pathlib import Path

from bench import Line, Result
from growth import small_trace
from inputs import remove
from measure import Failed, Run

TESTS = Path(__file__).parent.parent.parent / "tests/remote.py"
#: Writers at the same time.
WRITERS = 16


def is_installed():
    return (Path(sys.executable).parent / "weed").exists()


def remote(bench):
    """Object store: ingest, questions and a slice from SeaweedFS, with the requests and bytes that they take"""
    spec = importlib.util.spec_from_file_location("tests_remote", TESTS)
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    folder = bench.work / "remote"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "store").mkdir(parents=True)
    server = tests.Server("seaweedfs", folder / "store")
    try:
        return measured(bench, tests.Bench(str(bench.binary), server, tests.Proxy(server), folder), folder, tests)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def measured(bench, client, folder, tests):
    count = 20 if bench.small else 200
    trace, url = folder / "small.btf", "s3://fleet/fleet.db"
    trace.write_text(small_trace(40))
    inputs = []
    for n in range(count):
        inputs.append(folder / f"r{n:04}.btf")
        shutil.copyfile(trace, inputs[-1])
    lines, notes = [], []

    def do(title, rows, *words):
        walls, requests = [], 0
        for turn in range(bench.repeat):
            client.proxy.log.clear()
            begun = time.monotonic()
            client.run(*[str(word).replace("TURN", str(turn)) for word in words])
            walls.append(time.monotonic() - begun)
            requests = len(client.proxy.log)
        read = sum(entry["bytes"] for entry in client.proxy.log)
        wall = statistics.median(walls)
        lines.append(Line(title, Run(0, wall, 0, 0), ours=True, rows=rows))
        if requests:
            notes.append(f"{title}: {requests} requests, {read} bytes read.")
        return wall, requests, read

    do(f"ingest of {count} recordings, folder", count, "ingest", folder / "fleet-TURN.db", *inputs)
    do(f"ingest of {count} recordings, bucket", count, "ingest", url.replace("fleet.db", "fleet-TURN.db"), *inputs)
    here, there = folder / "fleet-0.db", url.replace("fleet.db", "fleet-0.db")
    for title, words in [("info of one", ["info", "DB", "--recording", "r0007"]),
                         ("count of all instances", ["query", "DB", "SELECT count(*) FROM process_instance"]),
                         ("metrics of one", ["metrics", "DB", "--recording", "r0007"]),
                         ("ResponseTime of all", ["metrics", "DB", "ResponseTime", "--across"])]:
        for place, at in [("folder", here), ("bucket", there)]:
            do(f"{title}, {place}", count, *[word.replace("DB", str(at)) for word in words])
    # Writers at the same time, without faults.
    begun = time.monotonic()
    writers = [client.start("ingest", "s3://fleet/many.db", trace, "--name", f"w{n}") for n in range(WRITERS)]
    for writer in writers:
        _, errors = writer.communicate(timeout=bench.timeout)
        if writer.returncode:
            raise Failed(errors)
    wall = time.monotonic() - begun
    notes.append(f"{WRITERS} writers at the same time: {WRITERS / wall:.1f} commits per second.")
    result = Result("remote", count, None, lines, notes)
    if not bench.small:
        requests, share = tests.slice_of_large(client, 40_000_000)
        result.check("requests of a slice of 1 %", requests, 40)
        result.check("bytes of a slice of 1 %, of the whole", share, 0.02)
        notes.append(f"a slice of 1 % of 50 million events: {requests} requests, {100 * share:.2f} % of the bytes.")
    for name in inputs:
        remove(name)
    return result
