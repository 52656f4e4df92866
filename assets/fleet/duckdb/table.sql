-- The records of `pitree entries`, and the valid entries among them. For DuckDB.
create table if not exists records (
  type varchar, machine varchar, path varchar, session varchar, family varchar, project varchar, generation bigint,
  "index" bigint, entryId varchar, parentId varchar, time timestamp, kind varchar, role varchar,
  provider varchar, model varchar, text varchar, tools varchar[], tool varchar, durationMs double, failed boolean, notRun boolean,
  files struct(path varchar, touch varchar)[],
  input double, output double, cacheRead double, cacheWrite double, tokens double, cost double,
  own boolean, active boolean, abandoned boolean, removed boolean, cursor varchar
);

-- Of each session file, the entries of the newest generation, once even if a file was loaded twice.
create or replace view entries as
with newest as (
  select coalesce(machine, '') as machine, path, max(generation) as generation
  from records where type <> 'end' group by all
)
select records.*
from records join newest
  on coalesce(records.machine, '') = newest.machine
  and records.path = newest.path and records.generation = newest.generation
where type = 'entry'
qualify row_number() over (partition by newest.machine, records.path, "index") = 1;
