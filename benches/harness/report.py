"""What was measured, as Markdown."""

import datetime
import os
import platform
from importlib import metadata
from pathlib import Path

from bench import SCAN
from measure import run


LEGEND = """\
CPU is user and system time of the whole process; of questions (slice, lag, as_of, metrics), the start-up of the engine,
Python included, is taken off CPU and wall. Memory is that at the peak: total is what the kernel counted, pages of files
included, anonymous the heap alone. Pages of the program count as they are cached: a fresh copy of it can have 17 MiB more, so
compare anonymous. Reproduce: `benches/run --write`."""


def fact(file, key):
    """The value of the line `key :` of a file of the kernel."""
    lines = Path(file).read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith(key)), "unknown")


def conditions(bench, options):
    """Lines on the machine, the date and the versions."""
    memory = int(fact("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    peers = ", ".join(f"{name} {metadata.version(name)}" for name in bench.peers) or "no peers"
    return [
        f"* {datetime.date.today().isoformat()}; {fact('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, Linux {platform.release()}",
        f"* {run([str(bench.binary), '--version'], 60).output.strip()}; {peers}, Python {platform.python_version()}",
        f"* medians of {bench.repeat}, in turns; synthetic exports of {options.size / 1e9:.3g} GB (functions: 0.3 of "
        f"it); long recording of {options.recording}",
    ]


def section(title, result):
    """The table of one work."""
    size = f", {result.text / 1e6:.4g} MB of text" if result.text else ""
    lines = [f"## {result.name}: {title}", "", f"{result.rows} rows{size}.", ""]
    heads = ["", "CPU s", "wall s", "CPU-s per GB", "rows per CPU-s", "bytes per row", "total MiB", "anonymous MiB",
             "CPU, ours = 1"]
    lines += ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    for line in result.lines:
        r, rows, text = line.run, line.rows or result.rows, line.text or result.text
        cells = [
            line.name,
            f"{r.cpu:.3f}",
            f"{r.wall:.3f}",
            f"{r.cpu / (text / 1e9):.2f}" if text else "",
            f"{rows / r.cpu / 1e6:.2f} M" if line.name != SCAN and r.cpu else "",
            f"{line.per_row:.2f}" if line.per_row else "",
            f"{r.total:.0f}",
            f"{r.anonymous:.0f}",
            f"{r.cpu / result.ours.run.cpu:.2f}" if result.ours.run.cpu else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    if result.limit:
        ours = result.ours.run.cpu
        per_gb = f"{result.limit / (result.text / 1e9):.2f}" if result.text else ""
        lines.append(f"| limit | {result.limit:.3f} | | {per_gb} | | | | | {result.limit / ours:.2f} |")
    lines.append("")
    lines += [f"* {note}" for note in result.notes]
    return "\n".join(lines) + "\n"


def targets(results):
    """All figures that have a target."""
    rows = [f"| {r.name} | {figure} | {value:.3g} | {bound} | {'yes' if met else '**no**'} |"
            for r in results for figure, value, bound, met in r.verdicts]
    return "\n".join(["| work | figure | measured | target | met |", "|---|---|--:|--:|---|", *rows]) + "\n"


def memory(bench):
    """The peak memory of every command of btfdb."""
    rows = [f"| {label} | {total:.0f} | {heap:.0f} |" for label, (total, heap) in sorted(bench.memory.items())]
    return "\n".join(["| command | total MiB | anonymous MiB |", "|---|--:|--:|", *rows]) + "\n"
