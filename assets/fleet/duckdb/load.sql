-- Loads the lines of a run: set variable lines = 'entries.jsonl'; The entries of each session in them replace earlier ones.
begin;
create or replace temp table loaded as
select * from read_json(
  getvariable('lines'), format = 'newline_delimited', maximum_object_size = 134217728,
  columns = {
    machine: 'varchar', path: 'varchar', session: 'varchar', family: 'varchar', project: 'varchar', run: 'timestamp',
    "index": 'bigint', entryId: 'varchar', parentId: 'varchar', time: 'timestamp',
    kind: 'varchar', role: 'varchar', provider: 'varchar', model: 'varchar', text: 'varchar', tools: 'varchar[]',
    tool: 'varchar', durationMs: 'double', failed: 'boolean', notRun: 'boolean', files: 'struct(path varchar, touch varchar)[]',
    input: 'double', output: 'double', cacheRead: 'double', cacheWrite: 'double', tokens: 'double', cost: 'double',
    own: 'boolean', active: 'boolean', abandoned: 'boolean'
  });
delete from entries where (coalesce(machine, ''), path) in (select (coalesce(machine, ''), path) from loaded);
insert into entries by name select * from loaded;
commit;
