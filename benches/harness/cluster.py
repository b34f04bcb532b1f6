"""What the processes of a cluster do, counted: processor time of who asks, of the scheduler and of the executors, bytes, and requests
to an object store, with as many tasks as many executors would have. From this follows what a cluster of many cores would take: this
machine has few, so that nothing here is a measured time of such a cluster. Not whether the answers are right (see tests/cluster.py)."""

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import Line, Result
from growth import ingest
from measure import Failed, Run, shown
from remote import is_installed

ROOT = Path(__file__).parent.parent.parent
#: Tasks of a question, and recordings of a database.
TASKS = (16, 128)
RECORDINGS = (100, 800)
#: What is asked, in words and as a command.
QUESTIONS = {
    "groups over all": ["query", "SELECT process, count(*), max(running) FROM process_instance GROUP BY 1 ORDER BY 1"],
    "metrics over all": ["metrics", "--across"],
    "metrics of each": ["metrics"],
    "requirements of each": ["check", "--requirements", ROOT / "demo/limits.toml", "--allow-no-samples"],
}
#: Fleets and clusters that are computed, and how many times as long recordings are as the one that ships.
FLEETS, CORES, LENGTHS = (10_000, 100_000), (10, 100, 1000), (1, 100)


def has_cluster(binary):
    return subprocess.run([binary, "scheduler", "--help"], capture_output=True).returncode == 0


def cluster(bench):
    """Cluster: processor time, bytes and requests of its processes by tasks and recordings, and what follows for many cores"""
    folder = bench.work / "cluster"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    recordings = (4, 8) if bench.small else RECORDINGS
    tasks = (1, 4) if bench.small else TASKS
    try:
        databases = {n: database(bench, folder, n) for n in recordings}
        found = {(k, n, name): None for k in tasks for n in recordings for name in QUESTIONS}
        for k in tasks:
            with Processes(bench, k) as processes:
                for n in recordings:
                    for name, words in QUESTIONS.items():
                        asked = [processes.ask(words[0], databases[n], *words[1:]) for _ in range(bench.repeat)]
                        found[k, n, name] = sorted(asked, key=lambda one: sum(one.cpu))[len(asked) // 2]
        lines, notes = [], []
        for (k, n, name), one in found.items():
            client, scheduler, executor = one.cpu
            line = f"{name}, {n} recordings, {k} tasks"
            lines.append(Line(line, Run(sum(one.cpu), one.wall, one.memory, 0), ours=True, rows=n))
            notes.append(f"{line}: who asks {client:.2f}, scheduler {scheduler:.2f}, executors {executor:.2f} CPU-s; "
                         f"executors read {one.read / 1e6:.1f} MB, the answer has {one.answer / 1e3:.1f} KB.")
        result = Result("cluster", recordings[-1], None, lines, notes)
        if not bench.small:
            for name in QUESTIONS:
                notes += projected(name, {key[:2]: one for key, one in found.items() if key[2] == name})
            if is_installed():
                notes += requests(bench, folder)
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def inputs(folder, count):
    """Copies of the recording that ships, under other names."""
    for n in range(count):
        copy = folder / f"r{n:05}"
        shutil.copytree(ROOT / "demo/recording", copy)
        description = copy / "recording.toml"
        description.write_text(re.sub(r"(?m)^name = .*$", f'name = "r{n:05}"', description.read_text(), count=1))
        yield copy


def database(bench, folder, count):
    copies = folder / f"inputs-{count}"
    copies.mkdir()
    made = folder / f"{count}.db"
    ingest(bench, made, list(inputs(copies, count)))
    shutil.rmtree(copies)
    return made


class Asked:
    """What a question took."""

    def __init__(self, cpu, wall, memory, read, answer):
        self.cpu, self.wall, self.memory, self.read, self.answer = cpu, wall, memory, read, answer


class Processes:
    """A scheduler, and one executor that does so many tasks at the same time as many executors would."""

    def __init__(self, bench, tasks, env=None):
        tests = loaded("cluster")
        self.folder = tempfile.TemporaryDirectory()
        self.bench, self.env = bench, {**os.environ, **(env or {})}
        self.cluster = tests.Cluster(bench.binary, self.env, Path(self.folder.name), executors=0)
        self.cluster.add(threads=tasks)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cluster.stop()
        self.folder.cleanup()

    def ask(self, *words):
        out, said = Path(self.folder.name) / "answer", Path(self.folder.name) / "said"
        scheduler, executor = self.cluster.scheduler.pid, self.cluster.executors[0].pid
        before = cpu(scheduler), cpu(executor), read(executor)
        begun = time.monotonic()
        with out.open("w") as answer, said.open("w") as errors:
            command = [self.bench.binary, *map(str, words), "--cluster", self.cluster.address]
            child = subprocess.Popen(command, stdout=answer, stderr=errors, env=self.env)
            _, code, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(code)
        wall = time.monotonic() - begun
        # 3: requirements that are not kept.
        if child.returncode not in (0, 3):
            raise Failed(f"exit code {child.returncode}: {shown(list(map(str, command)))}\n{said.read_text()[-1000:]}")
        own = usage.ru_utime + usage.ru_stime
        used = own, cpu(scheduler) - before[0], cpu(executor) - before[1]
        return Asked(used, wall, usage.ru_maxrss / 1024, read(executor) - before[2], out.stat().st_size)


def cpu(pid):
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read(pid):
    """Bytes that a process has read."""
    return int(re.search(r"rchar: (\d+)", Path(f"/proc/{pid}/io").read_text()).group(1))


def projected(name, found):
    """What follows for fleets on many cores. What one process does after the other (who asks, the scheduler) grows with the
    recordings and with the tasks; what executors do, too, but each core does its part at the same time as the others. Differences
    of two measurements each, so that what a process needs to start counts once."""
    few, many = RECORDINGS
    some, most = TASKS

    def slopes(part):
        of_recording = (part(found[some, many]) - part(found[some, few])) / (many - few)
        of_task = (part(found[most, few]) - part(found[some, few])) / (most - some)
        base = part(found[some, few]) - of_recording * few - of_task * some
        return max(of_recording, 0), max(of_task, 0), max(base, 0)

    serial = slopes(lambda one: one.cpu[0] + one.cpu[1])
    shared = slopes(lambda one: one.cpu[2])
    notes = [f"{name}: one after the other {serial[2] * 1e3:.0f} ms, {serial[0] * 1e3:.3f} ms per recording and {serial[1] * 1e3:.3f} ms "
             f"per task; at the same time {shared[0] * 1e3:.2f} ms per recording and {shared[1] * 1e3:.2f} ms per task."]
    for fleet, length in itertools.product(FLEETS, LENGTHS):
        def seconds(cores):
            own = serial[2] + serial[0] * fleet + serial[1] * cores
            return own + shared[1] + (shared[2] + shared[0] * length * fleet) / cores
        one = seconds(1)
        of = ", ".join(f"{cores} cores {seconds(cores):.4g} s ({one / seconds(cores):.0f} times)" for cores in CORES)
        what = f"{fleet} recordings" + (f", {length} times as long" if length > 1 else "")
        notes.append(f"{name}, {what}, computed: 1 core {one:.4g} s, {of}.")
    return notes


def requests(bench, folder):
    """Requests and bytes of the same questions to an object store, through a proxy that counts them."""
    tests = loaded("remote")
    store = folder / "store"
    store.mkdir()
    server = tests.Server("seaweedfs", store)
    proxy = tests.Proxy(server)
    env = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
           "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
    notes, count = [], RECORDINGS[0]
    try:
        copies = folder / "copies"
        copies.mkdir()
        words = [bench.binary, "ingest", "s3://fleet/fleet.db", *inputs(copies, count)]
        subprocess.run(list(map(str, words)), env={**os.environ, **env}, check=True, capture_output=True)
        for tasks in (1, TASKS[0]):
            with Processes(bench, tasks, env) as processes:
                for name, words in QUESTIONS.items():
                    processes.ask(words[0], "s3://fleet/fleet.db", *words[1:])
                    proxy.log.clear()
                    processes.ask(words[0], "s3://fleet/fleet.db", *words[1:])
                    done, size = len(proxy.log), sum(entry["bytes"] for entry in proxy.log)
                    notes.append(f"{name}, {count} recordings in a bucket, {tasks} tasks: {done} requests, {size / 1e6:.1f} MB.")
    finally:
        server.stop()
    return notes


def loaded(name):
    """A module of the tests. Those have a `remote` too."""
    ours = sys.modules.pop("remote")
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        spec = importlib.util.spec_from_file_location(f"tests_{name}", ROOT / f"tests/{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)
        sys.modules["remote"] = ours
