-- The records of `pitree entries`, and the entries of the last run of each session file. For ClickHouse.
create table if not exists records (
  machine LowCardinality(String), path String, session String, family String,
  project LowCardinality(String), run DateTime64(3, 'UTC'), `index` Int64, entryId String, parentId String,
  time Nullable(DateTime64(3, 'UTC')), kind LowCardinality(String), role LowCardinality(String),
  provider LowCardinality(String), model LowCardinality(String), text String,
  tools Array(LowCardinality(String)), tool LowCardinality(String), durationMs Nullable(Float64), failed Bool, notRun Bool,
  files Array(Tuple(path String, touch String)),
  input Nullable(Float64), output Nullable(Float64), cacheRead Nullable(Float64), cacheWrite Nullable(Float64),
  tokens Nullable(Float64), cost Nullable(Float64),
  own Bool, active Bool, abandoned Bool,
  index texts lower(text) type ngrambf_v1(4, 65536, 3, 0) granularity 1
) engine = ReplacingMergeTree(run) order by (machine, path, `index`);

-- A file that became shorter has older records behind its end.
create view if not exists entries as
select * from records final
where (machine, path, run) in (select machine, path, max(run) from records group by machine, path);
