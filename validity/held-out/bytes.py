n = 0
for i in range(12):
    a = bytes(20_000_000 + i)
    b = a.replace(b"\0", b"\1")
    n += len(b)
print(n)
