local composite, primes = {}, {}
for i = 2, 3000000 do
  if not composite[i] then
    primes[#primes + 1] = tostring(i)
    for j = i * i, 3000000, i do composite[j] = true end
  end
end
print(#table.concat(primes, ','))
