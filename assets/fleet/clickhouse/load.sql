-- Loads the lines of a run: --param_lines=entries.jsonl, in the directory user_files of the server.
insert into records
select * from file({lines:String}, 'JSONEachRow',
  'machine String, path String, session String, family String, project String, run DateTime64(3, \'UTC\'),
   `index` Int64, entryId String, parentId String, time Nullable(DateTime64(3, \'UTC\')), kind String, role String,
   provider String, model String, text String, tools Array(String), tool String, durationMs Nullable(Float64),
   failed Bool, notRun Bool, files Array(Tuple(path String, touch String)), input Nullable(Float64), output Nullable(Float64),
   cacheRead Nullable(Float64), cacheWrite Nullable(Float64), tokens Nullable(Float64), cost Nullable(Float64),
   own Bool, active Bool, abandoned Bool')
settings input_format_skip_unknown_fields = 1, input_format_null_as_default = 1, date_time_input_format = 'best_effort';
