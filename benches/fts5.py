#!/usr/bin/env python3
"""Compares the text filter of pitree's index with SQLite FTS5 and its trigram tokenizer.

Usage: fts5.py PITREE SESSIONS [WORD]...

Both index the text of prompts and answers, one row per session. Prints the sizes, the times to build and to update, and
the time of each query: for FTS5 the query alone, for pitree the whole process with all files checked.
"""
import glob, json, os, sqlite3, subprocess, sys, tempfile, time

pitree, sessions = sys.argv[1:3]
words = sys.argv[3:] or ["zebraquartz", "alphaquartz betaquartz", "the"]


def text(path):
    """Returns the text of the prompts and answers of a session."""
    parts = []
    for line in open(path, encoding="utf-8", errors="replace"):
        message = json.loads(line).get("message", {})
        if message.get("role") in ("user", "assistant"):
            content = message.get("content", [])
            parts.append(content) if isinstance(content, str) else parts.extend(
                part["text"] for part in content if part.get("type") == "text")
    return "\n".join(parts)


def timed(action, times=1):
    """Returns the fastest time in milliseconds, and the result."""
    best = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        result = action()
        best = min(best, 1000 * (time.perf_counter() - begun))
    return best, result


def size(folder):
    return sum(os.path.getsize(path) for path in glob.glob(folder + "/**", recursive=True) if os.path.isfile(path)) / 1e6


with tempfile.TemporaryDirectory() as home:
    paths = glob.glob(sessions + "/**/*.jsonl", recursive=True)
    texts = [text(path) for path in paths]
    print(f"{len(texts)} sessions, {sum(len(text.encode()) for text in texts) / 1e6:.0f} MB of text")
    os.mkdir(home + "/fts5")
    db = sqlite3.connect(home + "/fts5/index", isolation_level=None)
    db.execute("pragma journal_mode=wal")
    db.execute("pragma synchronous=normal")
    db.execute("create virtual table texts using fts5(text, tokenize='trigram')")

    def build():
        db.execute("begin")
        db.executemany("insert into texts(rowid, text) values (?, ?)", enumerate(texts, 1))
        db.execute("commit")
        db.execute("pragma wal_checkpoint(truncate)")

    print(f"FTS5: built in {timed(build)[0] / 1000:.1f} s after reading, {size(home + '/fts5'):.0f} MB")
    update = lambda: db.execute("update texts set text = ? where rowid = 1", (texts[0] + " one more line",))
    print(f"FTS5: update of one session {timed(update, 5)[0]:.1f} ms")
    environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home + "/cache"}

    def run(*arguments):
        command = [pitree, *arguments, "--dir", sessions]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    print(f"pitree: built in {timed(lambda: run('ls', '--limit', '1'))[0] / 1000:.1f} s with reading, "
          f"{size(home + '/cache'):.0f} MB with summaries and texts")
    print(f"pitree: `ls --limit 1` {timed(lambda: run('ls', '--limit', '1'), 5)[0]:.0f} ms")
    for query in words:
        match = " ".join('"' + word + '"' for word in query.split())
        count = "select count(*) from texts where texts match ?"
        fts5, (found,) = timed(lambda: db.execute(count, (match,)).fetchone(), 5)
        ours, lines = timed(lambda: run("search", "--json", *query.split()), 5)
        hits = len(lines.splitlines())
        print(f"{query}: FTS5 {fts5:.1f} ms, {found} sessions; pitree {ours:.0f} ms, {hits} lines")
