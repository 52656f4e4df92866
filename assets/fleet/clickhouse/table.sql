-- The records of `pitree entries`, and the valid entries among them. For ClickHouse.
create table if not exists records (
  type LowCardinality(String), machine LowCardinality(String), path String, session String, family String,
  project LowCardinality(String), generation Int64, `index` Int64, entryId String, parentId String,
  time Nullable(DateTime64(3, 'UTC')), kind LowCardinality(String), role LowCardinality(String),
  provider LowCardinality(String), model LowCardinality(String), text String,
  tools Array(LowCardinality(String)), tool LowCardinality(String), durationMs Nullable(Float64), failed Bool, notRun Bool,
  files Array(Tuple(path String, touch String)),
  input Nullable(Float64), output Nullable(Float64), cacheRead Nullable(Float64), cacheWrite Nullable(Float64),
  tokens Nullable(Float64), cost Nullable(Float64),
  own Bool, active Bool, abandoned Bool, removed Bool, cursor String,
  index texts lower(text) type ngrambf_v1(4, 65536, 3, 0) granularity 1
) engine = ReplacingMergeTree order by (machine, path, generation, type, `index`);

-- Of each session file, the entries of the newest generation, once even if a file was loaded twice.
create view if not exists entries as
select * from records final
where type = 'entry'
  and (machine, path, generation) in (
    select machine, path, max(generation) from records where type <> 'end' group by machine, path);
