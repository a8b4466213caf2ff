import numpy as n
a = n.zeros((1200, 1200))
a[600, :] = 1000.0
for i in range(12):
    a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4
print(a.sum() > 0)
