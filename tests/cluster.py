#!/usr/bin/env python3
"""Commands on a cluster: a scheduler and executors as processes, and the database in a server of S3. The answers are
those of one process, byte for byte, also when executors are killed while they work; without any, there is an error.

    cluster.py BTFDB [--server moto|seaweedfs] [--only answers,statements,killed,ingest,snapshot,cancelled,lost]
               [--statements DIR] [--count N] [--kills N]

BTFDB is built with the feature cluster. DIR is what the test `random_statements_have_the_same_rows_in_all_ways` left
with BTFDB_STATEMENTS_TO=DIR. Needs the packages of tests/remote.txt."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from remote import ROOT, Server, check, free_port  # noqa: E402


class Cluster:
    """A scheduler and executors of one core each."""

    def __init__(self, btfdb, env, folder, executors=2, memory=None):
        self.btfdb, self.env, self.folder, self.memory = btfdb, env, folder, memory
        self.address = f"127.0.0.1:{free_port()}"
        self.count = 0
        self.scheduler = self.start("scheduler", "scheduler", "--listen", self.address)
        self.executors = []
        self.await_(lambda: "listening" in self.said("scheduler") or self.answers())
        for _ in range(executors):
            self.add()

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "w")
        return subprocess.Popen([self.btfdb, *words], stdout=log, stderr=log, env=self.env)

    def said(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def answers(self):
        """How many executors the scheduler knows; None if there is no scheduler."""
        import http.client

        try:
            connection = http.client.HTTPConnection(self.address, timeout=5)
            connection.request("GET", "/api/executors")
            return len(json.loads(connection.getresponse().read()))
        except (OSError, ValueError):
            return None

    def await_(self, holds, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise SystemExit(f"the cluster does not start; see {self.folder}")
            time.sleep(0.05)

    def add(self, threads=1):
        """One more executor: two free ports, of which the second follows the first."""
        before = self.answers() or 0
        for _ in range(20):
            self.count += 1
            name = f"executor-{self.count}"
            words = ["executor", self.address, "--threads", str(threads), "--port", str(free_port())]
            process = self.start(name, *words, *(["--memory-limit", self.memory] if self.memory else []))
            end = time.monotonic() + 60
            while time.monotonic() < end and process.poll() is None:
                if (self.answers() or 0) > before:
                    self.executors.append(process)
                    return process
                time.sleep(0.05)
            process.kill()
        raise SystemExit(f"no executor starts; see {self.folder}")

    def stop(self):
        for process in [*self.executors, self.scheduler]:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


class Bench:
    def __init__(self, btfdb, server, folder):
        self.btfdb, self.server, self.folder = btfdb, server, folder
        self.env = {**os.environ, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}", "AWS_ACCESS_KEY_ID": "a",
                    "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}

    def run(self, *words, timeout=600):
        done = subprocess.run([self.btfdb, *map(str, words)], capture_output=True, env=self.env, timeout=timeout,
                              cwd=ROOT)
        return done.returncode, done.stdout, done.stderr

    def database(self, url):
        """Three recordings, and copies of the one that ships."""
        inputs = [ROOT / "demo/recording", ROOT / "tests/data/btf/metrics.btf"]
        code, _, err = self.run("ingest", url, *inputs, "--label", "bench=1")
        check(f"ingest into {url}", code == 0, err.decode() if code else "")
        for n in range(3):
            code, _, err = self.run("ingest", url, ROOT / "demo/recording", "--name", f"night-{n}",
                                    "--label", f"bench={n}")
            check(f"ingest night-{n}", code == 0, err.decode() if code else "")
        return url


def same(bench, cluster, words, sort=False, what=None):
    """The same output, errors and exit code as without a cluster."""
    here, there = bench.run(*words), bench.run(*words, "--cluster", cluster.address)
    lines = (lambda out: sorted(out.splitlines())) if sort else (lambda out: out)
    holds = (here[0], lines(here[1]), here[2]) == (there[0], lines(there[1]), there[2])
    details = "" if holds else f"\n{here[0]} {here[1][:300]} {here[2][-500:]}\n{there[0]} {there[1][:300]} {there[2][-500:]}"
    check(what or " ".join(map(str, words)), holds, details or f"{len(here[1])} bytes")
    return here


def views():
    """The views of the library, and the values of their parameters."""
    for file in sorted((ROOT / "queries").glob("*/*.sql")):
        text = file.read_text()
        if file.parent.name in ("metrics", "prelude"):
            continue
        params = []
        for name, kind in re.findall(r"^-- param: (\w+) (\w+)", text, re.M):
            params += ["--param", f"{name}={'10ms' if kind in ('duration', 'time') else 1 if kind == 'integer' else 'a'}"]
        yield file.stem, params


def answers(bench, cluster, url):
    chains = bench.folder / "chains.toml"
    chains.write_text('[[chain]]\nname = "c"\nsteps = [{ entity = "T_5", action = "activate" },'
                      ' { entity = "T_5", action = "terminate" }]\n')
    for more in ([], ["--across"], ["--across=bench"], ["--histogram"], ["--entity", "T_*"], ["--recording", "night-*"],
                 ["--where-label", "bench=1"], ["--unit", "us", "--format", "json"], ["--from", "20ms", "--to", "60ms"],
                 ["--chains", chains]):
        same(bench, cluster, ["metrics", url, *more])
    same(bench, cluster, ["metrics", url, "CPULoad", "Preemptions", "--window", "20ms", "--step", "10ms"])
    for wrong in (["NoMetric"], ["ResponseTime", "--entity", "nobody"], ["--recording", "nobody"],
                  ["--from", "10s"]):
        same(bench, cluster, ["metrics", url, *wrong])
    for name, params in views():
        same(bench, cluster, ["query", url, f"SELECT * FROM {name}", "--chains", chains, *params], sort=True)
    for table in ("btf_event", "data_event", "process_state", "recording", "recording_label", "source", "entity", "gap"):
        same(bench, cluster, ["query", url, f"SELECT * FROM {table}"], sort=True)
    for sql in ("SELECT count(*), min(time), max(time) FROM btf_event",
                "SELECT process, count(*) AS n, avg(running), stddev(ready) FROM process_instance GROUP BY 1 ORDER BY 1",
                "SELECT * FROM process_instance ORDER BY running DESC, recording, process, instance LIMIT 7",
                "SELECT recording, seq FROM btf_event ORDER BY time DESC, recording, seq DESC LIMIT 9",
                "SELECT DISTINCT target FROM btf_event ORDER BY 1",
                "SELECT a.process, b.recording, count(*) FROM process_instance a JOIN process_instance b "
                "ON a.process = b.process GROUP BY 1, 2 ORDER BY 1, 2",
                "SELECT recording, count(*) FROM btf_event e WHERE time > (SELECT avg(time) FROM btf_event) GROUP BY 1 ORDER BY 1",
                "SELECT recording FROM recording WHERE recording NOT IN (SELECT recording FROM gap) ORDER BY 1",
                "SELECT time + 9223372036854775807 FROM btf_event WHERE recording = 'demo' AND seq = 5", "SELECT nothing FROM btf_event",
                "SELECT 1", "EXPLAIN SELECT count(*) FROM gap", "SUMMARIZE process_instance",
                "CREATE VIEW v AS SELECT * FROM gap; SELECT count(*) FROM v"):
        same(bench, cluster, ["query", url, sql])
    same(bench, cluster, ["query", url, "SELECT count(*) FROM btf_event WHERE time < $t", "--param", "t=30ms"])
    same(bench, cluster, ["query", url, "SELECT count(*) FROM btf_event WHERE now() > TIMESTAMP '2020-01-01'"])
    own = bench.folder / "own"
    own.mkdir()
    (own / "late.sql").write_text("-- Events after 50 ms.\n-- column: recording text The recording.\n"
                                  "-- column: time time When.\nSELECT recording, time FROM btf_event WHERE time > 50ms")
    (own / "Lateness.sql").write_text("-- How late.\n-- unit: duration\nSELECT recording, 'all' AS entity, 'T' AS type, "
                                  "NULL AS core, 0 AS instance, time AS value, time AS at FROM late")
    for words in (["query", url, "SELECT recording, count(*) FROM late GROUP BY 1 ORDER BY 1"], ["metrics", url, "Lateness"]):
        code, out, _ = same(bench, cluster, [*words, "--sql-path", own])
        check("SQL of the user has rows", code == 0 and b"night-1" in out)
    for more in ([], ["--format", "json"], ["--btf-version", "2.1.5"], ["--severity", "info"]):
        same(bench, cluster, ["check", url, *more])
    limits = ROOT / "demo/limits.toml"
    for form in ("table", "json", "junit"):
        same(bench, cluster, ["check", url, "--requirements", limits, "--format", form])
    same(bench, cluster, ["check", url, "--requirements", limits, "--allow-no-samples"])


def statements(bench, cluster, folder, count):
    """Random statements, in scripts; each row says of which it is."""
    texts = []
    for file in sorted(Path(folder).glob("statements-*.jsonl")):
        texts += [line for line in map(json.loads, file.open()) if line["error"] is None]
    texts = texts[:count]
    for begin in range(0, len(texts), 50):
        script = bench.folder / "script.sql"
        part = texts[begin:begin + 50]
        script.write_text(";\n".join(f"SELECT {line['seed']} AS statement, q.* FROM ({line['sql']}) q" for line in part))
        code, out, error = same(bench, cluster, ["query", Path(folder) / "db", "-f", script], sort=True,
                                what=f"{len(part)} random statements from {part[0]['seed']}")
        check("and they have rows", code == 0 and out, error[-300:])


def ingested(bench, cluster):
    """Executors ingest inputs as one process does; one that is killed loses and doubles none."""
    import shutil

    def inputs(folder, count):
        made = []
        for n in range(count):
            made.append(bench.folder / folder / f"r{n:02}")
            shutil.copytree(ROOT / "demo/recording", made[-1])
            description = made[-1] / "recording.toml"
            description.write_text(re.sub(r'(?m)^name = .*$', f'name = "r{n:02}"', description.read_text(), count=1))
        return made

    def recordings(url):
        out = bench.run("query", url, "SELECT recording FROM recording ORDER BY 1", "--format", "csv")[1]
        return out.decode().split()[1:]

    here, there, many = bench.folder / "here.db", "s3://fleet/there.db", inputs("some", 7)
    many.append(ROOT / "tests/data/btf/metrics.btf")
    code, _, err = bench.run("ingest", here, *many, "--label", "build=7")
    check("ingest in one process", code == 0, err.decode() if code else "")
    code, _, err = bench.run("ingest", there, *many, "--label", "build=7", "--cluster", cluster.address)
    check("ingest by executors", code == 0 and err.decode().count("BTF events") == len(many), err.decode() if code else "")
    for table in ("btf_event", "data_event", "process_instance", "recording", "recording_label", "source", "diagnostic"):
        rows = [sorted(bench.run("query", url, f"SELECT * FROM {table}")[1].splitlines()) for url in (here, there)]
        check(f"{table} is the same", rows[0] == rows[1] and bool(rows[0]), f"{len(rows[0]) - 1} rows")
    code, _, err = bench.run("ingest", there, many[0], "--cluster", cluster.address)
    check("a recording that is there", code == 1 and b"already has a recording" in err, err.decode())
    bad = bench.folder / "bad.btf"
    bad.write_text("#version 2.1.5\n" + "no event at all\n" * 3)
    url = "s3://fleet/partly.db"
    code, _, err = bench.run("ingest", url, many[0], bad, many[1], "--strict", "--cluster", cluster.address)
    check("one bad input", code == 1 and b"1 of 3 inputs" in err and recordings(url) == ["r00", "r01"], err.decode())
    url, many = "s3://fleet/killed.db", inputs("many", 20)
    victim = cluster.executors.pop(0)

    def kill():
        while not recordings(url):
            time.sleep(0.05)
        victim.kill()

    killing = threading.Thread(target=kill)
    killing.start()
    code, _, err = bench.run("ingest", url, *many, "--cluster", cluster.address)
    killing.join()
    victim.wait()
    names = recordings(url)
    check("an executor is killed while it ingests", code == 0 and names == [f"r{n:02}" for n in range(20)],
          f"{names} {err.decode()}" if code else "")
    code, _, err = bench.run("verify", url)
    check("verify", code == 0, err.decode().splitlines()[-1])
    cluster.add()


def killed(bench, cluster, url, kills):
    """Executors are killed while they work: after some tenths of the time, one; the answer is the same."""
    # The second has two steps.
    both = [["metrics", url], ["metrics", url, "--across"]]
    begun = time.monotonic()
    expected = [bench.run(*words, "--cluster", cluster.address) for words in both]
    lasts = (time.monotonic() - begun) / 2
    check("the answers before anything is killed", all(code == 0 for code, _, _ in expected), str(expected[0][2]))
    # Behind the first step, rows that the second one needs are lost (9); see src/engine/cluster/cores.rs.
    for n, tenth in enumerate((2, 9, 5, 8, 1, 6, 3, 7, 4, 10)[:kills]):
        victim = cluster.executors.pop(0)
        timer = threading.Timer(lasts * tenth / 10, victim.kill)
        timer.start()
        begun = time.monotonic()
        found = bench.run(*both[n % 2], "--cluster", cluster.address, timeout=90)
        took = time.monotonic() - begun
        timer.join()
        victim.wait()
        check(f"an executor is killed after {tenth} tenths ({took:.1f} s, {lasts:.1f} s before)", found == expected[n % 2],
              found[2].decode())
        cluster.add()
    # One that hangs is as good as dead.
    victim = cluster.executors.pop(0)
    victim.send_signal(signal.SIGSTOP)
    found = bench.run(*both[1], "--cluster", cluster.address, timeout=90)
    check("an executor hangs", found == expected[1], found[2].decode())
    victim.send_signal(signal.SIGCONT)
    victim.kill()
    victim.wait()
    cluster.add()


def cancelled(bench, cluster, url):
    """Who asks ends: so do the tasks. And when the first rows are enough."""
    def jobs():
        import urllib.request

        with urllib.request.urlopen(f"http://{cluster.address}/api/jobs", timeout=10) as answer:
            return json.loads(answer.read())

    long = "SELECT max(abs(a.time - b.time)) FROM btf_event a, btf_event b WHERE a.recording = b.recording"
    before = {job["job_id"] for job in jobs()}
    asking = subprocess.Popen([bench.btfdb, "query", url, long, "--cluster", cluster.address], env=bench.env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    cluster.await_(lambda: any(job["status"] == "Running" for job in jobs() if job["job_id"] not in before))
    asking.send_signal(signal.SIGINT)
    _, err = asking.communicate(timeout=60)
    check("a statement is interrupted", asking.returncode == 130, f"{asking.returncode} {err.decode()}")
    cluster.await_(lambda: not any(job["status"] in ("Running", "Queued") for job in jobs()), 20)
    begun = time.monotonic()
    bench.run("query", url, "SELECT count(*) FROM gap", "--cluster", cluster.address)
    check("its tasks end", time.monotonic() - begun < 5, f"{time.monotonic() - begun:.2f} s for the next one")


def lost(bench, cluster, url):
    """All executors are killed: an error, soon. No scheduler: an error at once."""
    words = ["metrics", url, "--cluster", cluster.address]
    # They are held, so that they are not done before.
    for executor in cluster.executors:
        executor.send_signal(signal.SIGSTOP)
    timer = threading.Timer(0.4, lambda: [executor.kill() for executor in cluster.executors])
    timer.start()
    begun = time.monotonic()
    code, out, err = bench.run(*words)
    took = time.monotonic() - begun
    timer.join()
    for executor in cluster.executors:
        executor.wait()
    cluster.executors = []
    check(f"all executors are killed ({took:.1f} s)", code == 1 and not out and b"cluster" in err and took < 60,
          f"{code} {out} {err.decode()}")
    cluster.await_(lambda: cluster.answers() == 0)
    code, out, err = bench.run(*words)
    check("a cluster without executors", code == 1 and b"has no executor" in err, err.decode())
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    code, out, err = bench.run(*words)
    check("no scheduler", code == 1 and b"cannot reach a scheduler" in err, err.decode())


def snapshot(bench, cluster, url):
    """A recording is removed and another one comes while tasks run: they see the database as it was."""
    sql = "SELECT recording, count(*) AS n FROM btf_event GROUP BY 1 ORDER BY 1"
    expected = bench.run("query", url, sql)
    found = {}

    def ask():
        found["all"] = [bench.run("query", url, sql, "--cluster", cluster.address) for _ in range(4)]

    asking = threading.Thread(target=ask)
    asking.start()
    code, _, err = bench.run("remove", url, "--recording", "night-2")
    check("remove while tasks run", code == 0, err.decode() if code else "")
    asking.join()
    after = bench.run("query", url, sql)
    check("each answer is that of one commit", all(answer in (expected, after) for answer in found["all"]),
          str(found["all"]))
    check("the last answer is the new one", found["all"][-1] == after or found["all"][-1] == expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("btfdb")
    parser.add_argument("--server", choices=["moto", "seaweedfs"], default="moto")
    parser.add_argument("--only", default="answers,statements,killed,ingest,snapshot,cancelled,lost")
    parser.add_argument("--statements")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kills", type=int, default=5)
    arguments = parser.parse_args()
    only = arguments.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        server = Server(arguments.server, folder)
        bench = Bench(Path(arguments.btfdb).resolve(), server, folder)
        cluster = Cluster(bench.btfdb, bench.env, folder)
        try:
            url = bench.database("s3://fleet/night.db")
            if "answers" in only:
                answers(bench, cluster, url)
            if "statements" in only and arguments.statements:
                statements(bench, cluster, arguments.statements, arguments.count)
            if "killed" in only:
                killed(bench, cluster, url, arguments.kills)
            if "ingest" in only:
                ingested(bench, cluster)
            if "snapshot" in only:
                snapshot(bench, cluster, url)
            if "cancelled" in only:
                cancelled(bench, cluster, url)
            if "lost" in only:
                lost(bench, cluster, url)
        finally:
            cluster.stop()
            server.stop()
    print("all checks passed")


if __name__ == "__main__":
    main()
