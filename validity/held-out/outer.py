import numpy as n

s = 0.0
for i in range(10):
    a = n.outer(n.arange(1500.0), n.arange(1500.0) + i)
    s += n.cumsum(a, axis=0)[-1, -1]
print(s)
