with recursive n(i) as (select 1 union all select i + 1 from n where i < 250000)
insert into t select i, i * 7919 % 100003, 'text ' || (i % 977) from n;
create index by_value on t(value);
select count(*), sum(total) from (select text, count(*) c, sum(value) total from t group by text order by total);
select count(*) from t a join t b on a.value = b.id;
