-- Sessions by the cost of entries that lead to the end of no session of their family.
select machine, session, any_value(project) as project, count(*) as entries, sum(cost) as totalCost, max(time) as latest
from entries
where own and abandoned
group by machine, session
having totalCost > 0
order by totalCost desc;
