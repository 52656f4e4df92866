-- Entries that contain a text, in any case: --param_words='connection refused'
select machine, project, session, entryId, time, role, left(text, 200) as beginning
from entries
where own and lower(text) like concat('%', lower({words:String}), '%')
order by time desc;
