-- Entries that contain a text, in any case: set variable words = 'connection refused';
select machine, project, session, entryId, time, role, left(text, 200) as beginning
from entries
where own and contains(lower(text), lower(getvariable('words')))
order by time desc;
