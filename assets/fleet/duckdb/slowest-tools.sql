-- Tools by the time from call to result.
select tool, count(*) as calls, sum(durationMs) as totalMs, median(durationMs) as medianMs,
  quantile_cont(durationMs, 0.95) as ms95, max(durationMs) as longestMs, avg(failed::int) as failureRate
from entries
where own and tool is not null and durationMs is not null
group by tool
order by totalMs desc;
