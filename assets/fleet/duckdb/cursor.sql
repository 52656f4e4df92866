-- The cursor for the next run on each machine.
select machine, arg_max(cursor, generation) as cursor from records where type = 'end' group by machine;
