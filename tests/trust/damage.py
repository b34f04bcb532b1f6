"""Files are changed or cut off: each reading command then gives the answer from before, or an error."""

import shutil

from run import Run


def files_of(database):
    """All files by which a reader goes."""
    hidden = lambda path: any(part.startswith(".") for part in path.relative_to(database).parts)
    return sorted(path for path in database.rglob("*") if path.is_file() and not hidden(path))


def reads(btfdb, database, path, scratch):
    """A question about the table of a file, and the other commands that read; each gives what it answers."""

    def written(*words):
        target = scratch / f"out.{words[-1]}"
        run = Run(btfdb, *words[:-1], "-o", target, "--force", "-q")
        run.out = target.read_bytes() if run.code == 0 else b""
        return run

    def mapped():
        again = scratch / "again.db"
        shutil.rmtree(again, ignore_errors=True)
        shutil.copytree(database, again, symlinks=True)
        run = Run(btfdb, "map", again, "-q")
        if run.code == 0:
            after = Run(btfdb, "export", again, "--recording", "demo", "-o", scratch / "m.btf", "--force", "-q")
            run = after if after.code else run
            run.out = (scratch / "m.btf").read_bytes() if after.code == 0 else b""
        return run

    table = path.relative_to(database).parts[0]
    asked = Run
    others = {
        "metrics": lambda: asked(btfdb, "metrics", database, "-q"),
        "export": lambda: written("export", database, "--recording", "demo", "btf"),
        "plot": lambda: written("plot", database, "--recording", "demo", "--from", "1ms", "--to", "3ms", "svg"),
        "check": lambda: asked(btfdb, "check", database, "-q"),
        "info": lambda: asked(btfdb, "info", database),
        "shell": lambda: asked(btfdb, "shell", database, text=b"SELECT count(*) FROM process_state WHERE begin_at > 5;\n"),
        "map": mapped,
    }
    select = None
    if path.suffix == ".parquet":
        select = lambda: asked(btfdb, "query", database, f"SELECT * FROM {table}", "--format", "csv")
    return select, others


def damaged(btfdb, sound, folder, figures, chance, rounds, harm):
    """Harms files of a copy, one at a time; `harm` changes the bytes of a file and says how."""
    database, scratch = folder / "copy.db", folder / "scratch"
    shutil.copytree(sound, database)
    scratch.mkdir()
    files = files_of(database)
    expected = {}

    def answer(name, ask):
        if name not in expected:
            expected[name] = ask()
        return expected[name]

    for _ in range(rounds):
        path = chance.choice(files)
        name = path.relative_to(database)
        select, others = reads(btfdb, database, path, scratch)
        other = chance.choice(sorted(others))
        asked = [(f"select {name.parts[0]}", select)] if select else []
        asked.append((other, others[other]))
        before = [answer(what, ask) for what, ask in asked]
        content = path.read_bytes()
        bad, how = harm(chance, content)
        path.write_bytes(bad)
        for (what, ask), good in zip(asked, before):
            run = ask()
            why = run.why_bad()
            # Rows without an order come in any.
            if why is None and run.code == good.code and sorted(run.out.splitlines()) != sorted(good.out.splitlines()):
                why = "another answer"
            if why:
                figures.fail(f"{name}: {how}: {what}: {why}: {run.err.strip()[:300]}")
            figures.count(f"{what.split()[0]}: {'the same answer' if run.code == good.code else 'refused'}")
        verify = Run(btfdb, "verify", database)
        is_named = verify.code == 1 or str(name) in (verify.out.decode(errors="replace") + verify.err)
        if verify.why_bad() or verify.code == 0 or not is_named:
            figures.fail(f"{name}: {how}: verify: exit code {verify.code}: {verify.err.strip()[:300]}")
        figures.count("verify")
        path.write_bytes(content)


def flip(chance, content):
    bit = chance.randrange(8 * len(content))
    bad = bytearray(content)
    bad[bit // 8] ^= 1 << bit % 8
    return bytes(bad), f"bit {bit % 8} of byte {bit // 8} of {len(content)}"


def cut(chance, content):
    length = chance.randrange(len(content))
    return content[:length], f"the first {length} of {len(content)} bytes"
