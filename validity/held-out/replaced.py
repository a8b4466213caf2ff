text = "one two three four five " * 700_000
total = 0
for i in range(10):
    total += len(text.replace("three", "3 %d" % i))
print(total)
