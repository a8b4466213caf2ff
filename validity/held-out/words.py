import collections
words = collections.Counter()
for line in open("words.txt"):
    words.update(line.split())
print(len(words), len(sorted(words, key=lambda w: (-words[w], w))))
