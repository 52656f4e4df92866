"""Loads what `pitree entries` prints into DuckDB and ClickHouse, runs all queries, and compares sums with `pitree stats`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from chdb import session as clickhouse

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets" / "fleet"
QUERIES = ["cost-by-project-and-week", "abandoned-work", "who-touched-a-file", "full-text-search", "slowest-tools"]
PITREE = os.path.abspath(sys.argv[1])


def sql(engine, name):
    return (ASSETS / engine / f"{name}.sql").read_text()


class DuckDb:
    """DuckDB in memory."""

    def __init__(self):
        self.connection = duckdb.connect()
        self.connection.execute("set timezone = 'UTC'")
        self.connection.execute(sql("duckdb", "table"))

    def run(self, text, **parameters):
        for name, value in parameters.items():
            quoted = value.replace("'", "''")
            self.connection.execute(f"set variable {name} = '{quoted}'")
        result = self.connection.execute(text)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row)) for row in result.fetchall()]

    def query(self, name, **parameters):
        return self.run(sql("duckdb", name), **parameters)

    def load(self, lines):
        self.query("load", lines=str(lines))

    def close(self):
        self.connection.close()


class ClickHouse:
    """A database of ClickHouse, which runs in this process with a temporary directory."""

    session = None
    count = 0

    def __init__(self):
        cls = type(self)
        cls.session = cls.session or clickhouse.Session()
        cls.count += 1
        self.name = f"fleet{cls.count}"
        self.session.query(f"create database {self.name}")
        self.session.query("set prefer_column_name_to_alias = 1")
        for statement in sql("clickhouse", "table").split(";\n\n"):
            self.run(statement)

    def run(self, text, **parameters):
        self.session.query(f"use {self.name}")
        result = self.session.query(text.strip().rstrip(";"), "JSONEachRow", params=parameters)
        return [json.loads(line) for line in result.data().split("\n") if line]

    def query(self, name, **parameters):
        return self.run(sql("clickhouse", name), **parameters)

    def load(self, lines):
        self.query("load", lines=str(lines))

    def close(self):
        self.session.query(f"drop database {self.name}")


def pitree(home, *arguments):
    environment = {"HOME": str(home), "TZ": "UTC", "PATH": os.environ["PATH"]}
    result = subprocess.run([PITREE, *arguments], env=environment, cwd=home, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"pitree {' '.join(arguments)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def is_close(one, other):
    return abs((one or 0) - (other or 0)) <= 1e-9 * max(1, abs(other or 0))


def check(is_true, *about):
    if not is_true:
        sys.exit("failed: " + " ".join(str(part) for part in about))


def sums(home, sessions):
    """Returns the rows of `pitree stats` by project and week, and its total."""
    options = ["--json", "--utc", "--by", "project", "--by", "week"]
    rows = [json.loads(line) for line in pitree(home, "stats", *sessions, *options).splitlines()]
    return rows[:-1], rows[-1]


TOTALS = """
select count(*) as entries, sum(cost) as cost, sum(tokens) as tokens, sum(input) as input, sum(output) as output,
  sum(cacheRead) as cacheRead, sum(cacheWrite) as cacheWrite, sum(length(tools)) as toolCalls,
  sum(case when failed then 1 else 0 end) as toolFailures, sum(case when role = 'user' then 1 else 0 end) as prompts,
  sum(case when abandoned then cost else 0 end) as abandonedCost
from entries where own
"""


def compare_with_stats(engine, rows, total):
    """Compares the totals, and the cost by project and week."""
    [found] = engine.run(TOTALS)
    for name, value in found.items():
        check(is_close(float(value), total[name]), type(engine).__name__, name, value, "is not", total[name])
    key = lambda row: (row["project"] or "", row["week"] and str(row["week"]))
    table = {key(row): row["totalCost"] for row in engine.query("cost-by-project-and-week")}
    for row in rows:
        cost = table.pop(key(row), 0)
        check(is_close(cost, row["cost"]), type(engine).__name__, row["project"], row["week"], cost, row["cost"])
    check(not any(table.values()), "rows without statistics:", table)


def compare_queries(engines, file, words):
    """Runs all queries in both engines. Returns the number of rows of each."""
    counts = {}
    for name in QUERIES:
        parameters = {"who-touched-a-file": {"file": file}, "full-text-search": {"words": words}}.get(name, {})
        results = [engine.query(name, **parameters) for engine in engines]
        counts[name] = len(results[0])
        check(counts[name] > 0, name, "finds nothing")
        check(len(results[0]) == len(results[1]), name, *[len(rows) for rows in results])
        for column in ["totalCost", "calls", "totalMs", "entries"]:
            values = [sum(float(row[column] or 0) for row in rows) for rows in results if rows and column in rows[0]]
            check(all(is_close(value, values[0]) for value in values), name, column, values)
    return counts


VALID = """
select path, "index", entryId, text, cost, own, active, abandoned from entries order by path, "index"
"""


def content(engine):
    return [tuple(row.values()) for row in engine.run(VALID)]


def load(engines, home, name, lines):
    """Loads lines. Returns the number of entries, and the set of their sessions."""
    path = home / name
    path.write_text(lines)
    for engine in engines:
        engine.load(path)
    entries = [json.loads(line) for line in lines.splitlines()]
    return len(entries), {entry["session"] for entry in entries}


def check_demo(home):
    """Loads the demo sessions."""
    engines = [DuckDb(), ClickHouse()]
    entries, _ = load(engines, home, "demo.jsonl", pitree(home, "entries", "--demo"))
    check(entries > 1000, entries)
    rows, total = sums(home, ["--demo"])
    for engine in engines:
        compare_with_stats(engine, rows, total)
    counts = compare_queries(engines, "/home/demo/code/logq/src/follow.rs", "JWT")
    print(f"demo sessions: {entries} entries, cost {total['cost']:.2f}; rows: {counts}")
    for engine in engines:
        engine.close()


def message(identifier, parent, text, cost, minute):
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10, "cost": {"total": cost}}
    content = [{"type": "text", "text": text}]
    body = {"role": "assistant", "provider": "p", "model": "m", "content": content, "usage": usage}
    timestamp = f"2026-11-25T10:{minute:02}:00.000Z"
    entry = {"type": "message", "id": identifier, "parentId": parent, "timestamp": timestamp, "message": body}
    return json.dumps(entry) + "\n"


def check_since(home):
    """Loads the fixtures run by run: after appends, other branches, a fork, an import, a rewrite and a truncation."""
    sessions = home / ".pi" / "agent" / "sessions"
    shutil.copytree(ROOT / "fixtures" / "sessions", sessions)
    folder = sessions / "--since--"
    folder.mkdir()
    header = {"type": "session", "version": 3, "id": "one", "timestamp": "2026-11-25T09:00:00.000Z", "cwd": "/since"}
    one, fork = folder / "one.jsonl", folder / "fork.jsonl"
    lines = [json.dumps(header) + "\n", message("a", None, "first", 1, 0), message("b", "a", "second", 2, 1)]
    one.write_text("".join(lines))

    def append():
        with one.open("a") as file:
            file.write(message("c", "b", "third", 4, 2))

    def branch():
        with one.open("a") as file:
            file.write(message("d", "a", "another branch", 8, 3))

    def copy():
        changed = header | {"id": "fork", "timestamp": "2026-11-25T11:00:00.000Z", "parentSession": str(one)}
        fork.write_text(json.dumps(changed) + "\n" + "".join(lines[1:]) + message("e", "b", "in the fork", 16, 4))

    def rewrite():
        one.write_text(one.read_text().replace("second", "SECOND"))

    def take_over():
        other = header | {"id": "imported", "timestamp": "2020-01-01T00:00:00.000Z"}
        imported = folder / "imported.jsonl"
        imported.write_text(json.dumps(other) + "\n" + message("z", None, "imported", 32, 5))
        os.utime(imported, (1_600_000_000, 1_600_000_000))

    def shorten():
        fork.write_text("".join(fork.read_text().splitlines(keepends=True)[:-1]))

    engines, since = [DuckDb(), ClickHouse()], None
    runs = [("start", None), ("append", append), ("nothing", None), ("branch", branch), ("fork", copy)]
    runs += [("import", take_over), ("rewrite", rewrite), ("shorten", shorten)]
    wanted = {"append": {"one"}, "nothing": set(), "branch": {"one"}, "import": {"imported"}}
    for number, (name, change) in enumerate(runs):
        if change:
            change()
        time.sleep(4)  # the next run prints files again that changed shortly before this one
        printed = pitree(home, "entries", *(["--since", since] if since else []))
        entries, found = load(engines, home, f"{number}.jsonl", printed)
        if name == "append":  # loaded twice
            load(engines, home, f"{number}.jsonl", printed)
        check(found == wanted.get(name, {"one", "fork"}) or name == "start", name, found)
        fresh = [DuckDb(), ClickHouse()]
        load(fresh, home, "fresh.jsonl", pitree(home, "entries"))
        rows, total = sums(home, [])
        for engine, other in zip(engines, fresh):
            check(content(engine) == content(other), name, "differs from a new table in", type(engine).__name__)
            compare_with_stats(engine, rows, total)
            other.close()
        [since] = {engine.query("since")[0]["since"] for engine in engines}
        print(f"{name}: {entries} entries of {len(found)} sessions")
    for engine in engines:
        engine.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, step in [("demo", check_demo), ("since", check_since)]:
            home = Path(folder).resolve() / name
            home.mkdir()
            step(home)


main()
