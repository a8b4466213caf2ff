"""What is written: everything is kept in memory and written once, at the end of the launch."""
import os
import sys

from pagewise.phase import BASE


class Transcript:
    """Samples, facts, latencies and endings of a launch."""

    descriptor = 1

    def __init__(self):
        self.head, self.samples, self.rest, self.endings = [], [], [], []

    def begin(self, lines, further):
        """The lines that come before any slot are written at once."""
        lines.append("columns\t" + "\t".join((*BASE, *further)))
        self.put(lines)

    @staticmethod
    def put(lines):
        data = "".join(line + "\n" for line in lines).encode()
        try:
            while data:
                data = data[os.write(Transcript.descriptor, data):]
        except OSError as error:
            sys.stderr.write("the transcript cannot be written: %s\n" % error.strerror)
            os._exit(3)

    def sample(self, *fields):
        self.samples.append(fields)

    def line(self, *fields):
        self.rest.append("\t".join(map(str, fields)))

    def forget(self, samples, lines):
        """Drops what was recorded after so many samples and lines."""
        del self.samples[samples:], self.rest[lines:]

    def take(self):
        """What was recorded so far, which is here no longer."""
        taken = self.samples, self.rest, self.endings
        self.samples, self.rest, self.endings = [], [], []
        return taken

    def add(self, taken):
        for mine, more in zip((self.samples, self.rest, self.endings), taken):
            mine.extend(more)

    def end(self, done):
        lines = ["sample\t" + "\t".join(map(str, fields)) for fields in self.samples]
        lines += self.rest + self.endings
        if done:
            lines.append("done\t%d" % len(self.samples))
        self.put(lines)
