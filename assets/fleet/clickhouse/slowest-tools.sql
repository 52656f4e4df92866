-- Tools by the time from call to result.
select tool, count() as calls, sum(durationMs) as totalMs, median(durationMs) as medianMs,
  quantile(0.95)(durationMs) as ms95, max(durationMs) as longestMs, avg(failed) as failureRate
from entries
where own and tool <> '' and durationMs is not null
group by tool
order by totalMs desc;
