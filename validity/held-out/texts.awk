BEGIN {
    for (i = 0; i < 9; i++) {
        text = sprintf("%3000000d", i)
        whole = text text text text
        total += length(whole) + length(substr(whole, 2))
        whole = ""
    }
    print total
}
