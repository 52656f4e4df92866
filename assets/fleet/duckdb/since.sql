-- The time for --since on each machine: the start of the last run that is loaded.
select machine, strftime(max(run), '%Y-%m-%dT%H:%M:%S.%gZ') as since from entries group by machine;
