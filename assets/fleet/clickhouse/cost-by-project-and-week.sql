-- Cost by project and week (Monday, UTC). Inherited entries are counted once.
select project, toMonday(time) as week, sum(cost) as totalCost, sum(tokens) as totalTokens
from entries
where own and cost is not null
group by project, week
order by week desc, totalCost desc;
