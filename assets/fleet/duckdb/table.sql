-- The table of the records of `pitree entries`. For DuckDB.
create table if not exists entries (
  machine varchar, path varchar, session varchar, family varchar, project varchar, run timestamp,
  "index" bigint, entryId varchar, parentId varchar, time timestamp, kind varchar, role varchar,
  provider varchar, model varchar, text varchar, tools varchar[], tool varchar, durationMs double, failed boolean, notRun boolean,
  files struct(path varchar, touch varchar)[],
  input double, output double, cacheRead double, cacheWrite double, tokens double, cost double,
  own boolean, active boolean, abandoned boolean
);
