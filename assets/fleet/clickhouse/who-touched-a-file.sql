-- Entries that read, wrote or edited a file: --param_file=/home/me/code/app/src/main.rs
select machine, session, entryId, time, touched.touch as touch, abandoned
from entries array join files as touched
where own and touched.path = {file:String}
order by time desc;
