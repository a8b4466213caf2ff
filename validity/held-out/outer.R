total <- 0
for (i in 1:14) {
  a <- outer(1:1500 + i, 1:1000, "+")
  total <- total + sum(a * 2)
}
cat(total, "\n")
