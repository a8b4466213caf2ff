BEGIN {
    piece = "one two three four five six seven eight nine ten "
    for (i = 0; i < 14; i++) {
        text = piece i
        while (length(text) < 9000000)
            text = text text
        total += length(text) + length(substr(text, i + 2))
        text = ""
    }
    print total
}
