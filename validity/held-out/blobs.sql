create table t(n integer primary key, value);
with recursive c(n) as (select 1 union all select n + 1 from c where n < 14) insert into t select n, zeroblob(n * 100000) from c;
select sum(length(hex(value) || n)) from t;
select sum(length(replace(hex(zeroblob(3000000 + n)), '00', 'abc'))) from t;
