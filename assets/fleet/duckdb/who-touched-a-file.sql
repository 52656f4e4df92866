-- Entries that read, wrote or edited a file: set variable file = '/home/me/code/app/src/main.rs';
select machine, session, entryId, time, touched.touch as touch, abandoned
from (select *, unnest(files) as touched from entries where own)
where touched.path = getvariable('file')
order by time desc;
