text = 'row upon row ' * 1_500_000
total = 0
12.times do |i|
  total += text.tr('o', 'u').size + (text + i.to_s).size
  GC.start
end
puts total
