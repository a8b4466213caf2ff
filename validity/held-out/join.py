import numpy as n, pandas as p
left = p.DataFrame({"k": n.arange(250_000) % 5000, "a": n.arange(250_000.0)})
right = p.DataFrame({"k": n.arange(5000), "b": n.arange(5000.0)})
f = left.merge(right, on="k")
print(f.assign(c=f.a * f.b).pivot_table(index="k", values="c").shape)
