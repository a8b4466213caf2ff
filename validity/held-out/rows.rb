rows = (0...250_000).map { |i| { id: i, name: "row #{i * 7919 % 1_000_003}" } }
puts rows.group_by { |row| row[:name].size }.transform_values { |group| group.sum { |row| row[:id] } }.size
