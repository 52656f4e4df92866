-- The time for --since on each machine: the start of the last run that is loaded.
select machine, concat(replaceOne(toString(max(run)), ' ', 'T'), 'Z') as since from records group by machine;
