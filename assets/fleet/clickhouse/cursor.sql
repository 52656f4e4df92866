-- The cursor for the next run on each machine.
select machine, argMax(cursor, generation) as cursor from records where type = 'end' group by machine;
