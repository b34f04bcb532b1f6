"""Reads the Perfetto traces of every recording of a database with the schema that Perfetto publishes, and compares what is
in them with what SQL says: `python3 tests/read_perfetto.py BTFDB DB`, where BTFDB is the program. Needs the package perfetto;
tests/run.sh installs it.

Number, total duration and name of every kind of slice, of instants and values of counters, and the arrows of activations must be
equal; slices must be in each other or one after the other on every track. Exits with 1 when something differs.
"""

import csv
import io
import subprocess
import sys
from collections import Counter, defaultdict

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


class Recording:
    """What a trace says, as the trace processor reads it: by time, and by place in the file for equal times."""

    def __init__(self, data):
        trace = Trace()
        trace.ParseFromString(data)
        self.tracks, self.paths, self.threads = {}, {}, {}
        names, events = {}, []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                self.descriptor(packet.track_descriptor)
            for name in packet.interned_data.event_names:
                assert name.iid not in names
                names[name.iid] = name.name
            if packet.HasField("track_event"):
                event = packet.track_event
                assert event.track_uuid in self.tracks, "a track is described before it is used"
                events.append((packet.timestamp, event, names.get(event.name_iid)))
        events.sort(key=lambda e: e[0])
        self.slices, self.instants, self.values = [], [], []
        self.arrows, flows = [], {}
        open_slices = defaultdict(list)
        for time, event, name in events:
            path = self.paths[event.track_uuid]
            stack = open_slices[event.track_uuid]
            for flow in [*event.flow_ids, *event.terminating_flow_ids]:
                if flow in flows:
                    self.arrows.append((flows[flow], (time, path, name)))
                flows[flow] = (time, path, name)
            for flow in event.terminating_flow_ids:
                del flows[flow]
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                stack.append((path, name, time))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                path, name, begin = stack.pop()
                self.slices.append((path, name, time - begin))
            elif event.type == TrackEvent.TYPE_INSTANT:
                self.instants.append((path, name))
            elif event.type == TrackEvent.TYPE_COUNTER:
                value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
                self.values.append((path, value))
            else:
                raise AssertionError(f"type {event.type}")
        assert not any(open_slices.values()), "a slice does not end"

    def descriptor(self, track):
        assert track.uuid not in self.tracks
        self.tracks[track.uuid] = track
        parent = self.paths[track.parent_uuid] if track.parent_uuid else None
        self.paths[track.uuid] = () if parent is None else (*parent, track.name)
        if track.HasField("process"):
            assert track.process.process_name == track.name and track.process.pid == 1
        if track.HasField("thread"):
            assert track.thread.thread_name == track.name and track.thread.pid == 1
            assert track.thread.tid not in self.threads
            self.threads[track.thread.tid] = track.uuid


def totals(rows):
    """Number and total duration by key."""
    found = defaultdict(lambda: [0, 0])
    for *key, duration in rows:
        found[tuple(key)][0] += 1
        found[tuple(key)][1] += int(duration)
    return {key: tuple(value) for key, value in found.items()}


def ask(program, database, recording, sql):
    sql = sql.replace("$r", "'" + recording.replace("'", "''") + "'")
    done = subprocess.run([program, "query", database, sql, "--format", "csv"], check=True, capture_output=True, text=True)
    return [tuple(row) for row in list(csv.reader(io.StringIO(done.stdout)))[1:]]


STATES = "SELECT process, state, end_at - begin_at FROM process_state WHERE recording = $r"
CORES = """SELECT core, process, end_at - begin_at FROM process_state
    WHERE recording = $r AND state IN ('running', 'polling') AND core IS NOT NULL"""
# The end, or the begin, of an execution that was not recorded is that of the time that is known of it.
RUNNABLES = """SELECT process, runnable, CASE WHEN start_at IS NOT NULL AND terminate_at IS NOT NULL
    THEN terminate_at - start_at ELSE running + suspended END FROM runnable_instance
    WHERE recording = $r AND process IS NOT NULL"""
HOLDS = "SELECT semaphore, process, held FROM semaphore_hold WHERE recording = $r AND held IS NOT NULL"
WAITS = "SELECT semaphore, process, waited FROM semaphore_wait WHERE recording = $r AND waited > 0"
GAPS = "SELECT core, reason, end_at - begin_at FROM gap WHERE recording = $r AND core IS NOT NULL"
VALUES = """SELECT target, count(*) FROM btf_event WHERE recording = $r AND target_type = 'SIG' AND action = 'write'
    AND regexp_like(note, '^[+-]?[0-9]+([.][0-9]+)?$') GROUP BY target"""
TRIGGERS = "SELECT target, count(*) FROM btf_event WHERE recording = $r AND target_type = 'STI' AND action = 'trigger' GROUP BY target"
ARROWS = """SELECT i.process, count(DISTINCT i.instance || ' ' || i.activate_at) FROM process_instance AS i
    JOIN process_state AS s ON s.recording = i.recording AND s.process = i.process AND s.type = i.type
        AND s.instance = i.instance AND s.state = 'running' AND s.begin_at >= i.activate_at
        AND (i.terminate_at IS NULL OR s.end_at <= i.terminate_at)
    WHERE i.recording = $r AND i.activate_at IS NOT NULL GROUP BY i.process"""


def compare(program, database, recording):
    """Yields what is compared, what the trace says and what SQL says."""
    # The times of a database in picoseconds are rounded.
    exported = subprocess.run(
        [program, "export", database, "--recording", recording, "--format", "perfetto", "-o", "-", "-q"],
        check=True,
        capture_output=True,
    )
    trace = Recording(exported.stdout)
    sql = lambda text: ask(program, database, recording, text)
    slices = lambda match: totals(match(path, name, duration) for path, name, duration in trace.slices if match(path, name, duration))
    groups = {"Cores", "Event chains", "Stimuli", "Semaphores", "Signals", "Servers", "Buffers", "Others"}
    runnables = {name for _, name, _ in sql(RUNNABLES)}

    yield "states", slices(lambda p, n, d: p[1:] == ("state",) and p[0] not in groups and (p[0], n, d)), totals(sql(STATES))
    yield "cores", slices(lambda p, n, d: p[0] == "Cores" and len(p) == 2 and (p[1], n, d)), totals(sql(CORES))
    own = lambda p: p[0] not in groups and (len(p) == 1 or p[1] == "runnables")
    yield "runnables", slices(lambda p, n, d: own(p) and n in runnables and (p[0], n, d)), totals(sql(RUNNABLES))
    yield "holds", slices(lambda p, n, d: p[0] == "Semaphores" and len(p) == 2 and (p[1], n, d)), totals(sql(HOLDS))
    yield "waits", slices(lambda p, n, d: p[0] == "Semaphores" and len(p) == 3 and (p[1], n, d)), totals(sql(WAITS))
    yield "gaps", slices(lambda p, n, d: p[0] == "Cores" and len(p) == 3 and (p[1], n, d)), totals(sql(GAPS))
    counted = lambda text: {name: int(n) for name, n in sql(text)}
    yield "values", dict(Counter(path[1] for path, _ in trace.values if path[0] == "Signals")), counted(VALUES)
    triggers = Counter(p[1] for p, n in trace.instants if p[0] == "Stimuli" and n == "trigger")
    yield "triggers", dict(triggers), counted(TRIGGERS)
    # An arrow goes from an activation to the first stretch of running.
    arrows = Counter()
    for (begin, _, what), (end, path, state) in trace.arrows:
        assert begin <= end and what == f"activate {path[0]}" and state == "running", (what, path, state)
        arrows[path[0]] += 1
    yield "activations", dict(arrows), counted(ARROWS)


def main(program, database):
    recordings = [name for (name,) in ask(program, database, "", "SELECT recording FROM recording ORDER BY 1")]
    compared = differing = 0
    for recording in recordings:
        line = []
        for what, found, expected in compare(program, database, recording):
            compared += len(expected)
            line.append(f"{what} {len(expected)}")
            if found != expected:
                differing += 1
                line.append("DIFFERS")
                for key in sorted({*found, *expected}, key=str):
                    if found.get(key) != expected.get(key):
                        print(f"    {what} {key}: {found.get(key)}, expected {expected.get(key)}")
        print(f"{recording:30} {', '.join(line)}")
    if not compared:
        sys.exit(f"{database} holds nothing: nothing to compare")
    return 1 if differing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: read_perfetto.py BTFDB DB")
    sys.exit(main(sys.argv[1], sys.argv[2]))
