-- Loads the lines of a run: set variable lines = 'entries.jsonl';
insert into records by name
select * from read_json(
  getvariable('lines'), format = 'newline_delimited', maximum_object_size = 134217728,
  columns = {
    type: 'varchar', machine: 'varchar', path: 'varchar', session: 'varchar', family: 'varchar', project: 'varchar',
    generation: 'bigint', "index": 'bigint', entryId: 'varchar', parentId: 'varchar', time: 'timestamp',
    kind: 'varchar', role: 'varchar', provider: 'varchar', model: 'varchar', text: 'varchar', tools: 'varchar[]',
    tool: 'varchar', durationMs: 'double', failed: 'boolean', notRun: 'boolean', files: 'struct(path varchar, touch varchar)[]',
    input: 'double', output: 'double', cacheRead: 'double', cacheWrite: 'double', tokens: 'double', cost: 'double',
    own: 'boolean', active: 'boolean', abandoned: 'boolean', removed: 'boolean', cursor: 'varchar'
  });
