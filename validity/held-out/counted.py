from array import array
total = 0
for i in range(12):
    numbers = array("d", [float(i)]) * 4_000_000
    total += sum(numbers[::1000]) + len(numbers[1:])
print(total)
