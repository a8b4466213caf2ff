#!/usr/bin/env python3
"""A terminal's screen as a moving picture: runs a command on a terminal of 100 columns and writes what it showed as SVG.

    tests/by-hand/recording.py docs/images/run-fault.svg pagewise run fault

Each change of the screen is a frame, shown for as long as it stood. Pauses longer than three seconds are cut to three, the last
frame stands for ten, then it begins anew. Light and dark follow the reader's system. Where motion is reduced the last frame
stands alone. Nothing is redrawn by hand: to have another picture, record again. Run it alone: what is recorded is a measurement.
"""
import fcntl, html, os, pty, re, struct, sys, termios, time

COLUMNS, ROWS = 100, 50
ADVANCE, LEADING, MARGIN = 7.8, 18, 14
LONGEST_S, LAST_S, FIRST_S = 3.0, 10.0, 1.5
# Changes within so many seconds are one frame.
TOGETHER_S = 0.2
COLORS = {31: "r", 32: "g", 33: "y"}
TOKENS = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|(.)", re.S)


def recorded(command):
    """What the command wrote, with the seconds at which it did, and how long it took."""
    pid, terminal = pty.fork()
    if pid == 0:
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            os.environ.pop(name, None)
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    start, written = time.monotonic(), []
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not data:
            break
        written.append((time.monotonic() - start, data))
    os.waitpid(pid, 0)
    return written, time.monotonic() - start


class Screen:
    """The characters of a terminal, each with its style."""

    def __init__(self):
        self.lines, self.row, self.column, self.style = [[]], 0, 0, ()

    def put(self, sign):
        if self.column == COLUMNS:
            self.row, self.column = self.row + 1, 0
        while len(self.lines) <= self.row:
            self.lines.append([])
        line = self.lines[self.row]
        line.extend([(" ", ())] * (self.column + 1 - len(line)))
        line[self.column] = (sign, self.style)
        self.column += 1

    def control(self, numbers, letter):
        numbers = [int(number) for number in re.findall(r"\d+", numbers)] or [0]
        if letter == "A":
            self.row = max(0, self.row - max(1, numbers[0]))
        elif letter == "B":
            self.row += max(1, numbers[0])
        elif letter == "K" and self.row < len(self.lines):
            self.lines[self.row] = []
        elif letter == "m":
            for number in numbers:
                color = COLORS.get(number) or ("b" if number == 1 else None)
                self.style = () if number == 0 else tuple(sorted({*self.style, color} - {None}))

    def write(self, text):
        for numbers, letter, sign in TOKENS.findall(text):
            if letter:
                self.control(numbers, letter)
            elif sign == "\r":
                self.column = 0
            elif sign == "\n":
                self.row += 1
            else:
                self.put(sign)

    def shown(self):
        lines = [list(line) for line in self.lines]
        for line in lines:
            while line and line[-1][0] == " ":
                line.pop()
        while lines and not lines[-1]:
            lines.pop()
        return lines


def frames(command, written, end):
    """Screens with the seconds for which each stands."""
    screen, shown = Screen(), []
    # The folder of kept runs is the recorder's own.
    screen.write("$ " + " ".join([os.path.basename(command[0]), *command[1:]]) + "\n\r")
    shown.append((0.0, screen.shown()))
    pending = b""
    for at, data in written:
        pending += data
        text = pending.decode(errors="ignore")
        pending = pending[len(text.encode()):] if len(pending) - len(text.encode()) < 4 else b""
        screen.write(text)
        now = screen.shown()
        if len(shown) > 1 and at - shown[-1][0] < TOGETHER_S:
            shown[-1] = (shown[-1][0], now)
        elif now != shown[-1][1]:
            shown.append((at, now))
    ends = [at for at, _ in shown[1:]] + [end]
    lengths = [min(LONGEST_S, after - at) for (at, _), after in zip(shown, ends)]
    lengths[0], lengths[-1] = FIRST_S, LAST_S
    return [(length, lines) for length, (_, lines) in zip(lengths, shown)]


def parts(line):
    """Pieces of one style without wide gaps: each has a place of its own, so that columns stand in any font."""
    start = 0
    while start < len(line):
        style, end = line[start][1], start
        while end < len(line) and line[end][1] == style and line[end : end + 2] != [(" ", style)] * 2:
            end += 1
        text = "".join(sign for sign, _ in line[start:end])
        if text.strip():
            yield start + len(text) - len(text.lstrip()), style, text.strip()
        start = max(end, start + 1)


def drawn(lines):
    texts = []
    for row, line in enumerate(lines):
        for column, style, text in parts(line):
            kind = f' class="{" ".join(style)}"' if style else ""
            x, y = MARGIN + column * ADVANCE, MARGIN + 13 + row * LEADING
            length = f' textLength="{len(text) * ADVANCE:.0f}"' if len(text) > 1 else ""
            texts.append(f'<text{kind} x="{x:.0f}" y="{y}"{length}>{html.escape(text, quote=False)}</text>')
    return "".join(texts)


def animated(title, all_frames):
    total = sum(length for length, _ in all_frames)
    rows = max(len(lines) for _, lines in all_frames)
    width, height = int(2 * MARGIN + COLUMNS * ADVANCE), 2 * MARGIN + rows * LEADING
    rules, groups, at = [], [], 0.0
    last = len(all_frames) - 1
    for number, (length, lines) in enumerate(all_frames):
        begin, end = 100 * at / total, 100 * (at + length) / total
        steps = [(0, number == 0), (begin, True), (end, number == last)]
        shown = " ".join(f"{percent:.2f}%{{visibility:{'visible' if on else 'hidden'}}}" for percent, on in steps)
        rules.append(f"@keyframes k{number}{{{shown} 100%{{visibility:{'visible' if number == last else 'hidden'}}}}}")
        rules.append(f"#f{number}{{animation:k{number} {total:.1f}s step-end infinite}}")
        groups.append(f'<g id="f{number}">{drawn(lines)}</g>')
        at += length
    still = ",".join(f"#f{number}" for number in range(last))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{html.escape(title)}</title>
<style>
rect{{fill:#fff;stroke:#d5d9de}}text{{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#1a1c1f;white-space:pre}}
.b{{font-weight:700}}.g{{fill:#0a6b4f}}.y{{fill:#7a5c00}}.r{{fill:#a8380a}}
@media(prefers-color-scheme:dark){{rect{{fill:#14171a;stroke:#3a4148}}text{{fill:#e4e7ea}}.g{{fill:#4cc79b}}.y{{fill:#d9b93b}}.r{{fill:#f08c5a}}}}
{chr(10).join(rules)}
@media(prefers-reduced-motion:reduce){{g{{animation:none!important}}{still}{{visibility:hidden}}}}
</style>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>
{chr(10).join(groups)}
</svg>
"""


def main():
    path, command = sys.argv[1], sys.argv[2:]
    written, seconds = recorded(command)
    shown = frames(command, written, seconds)
    text = animated(f"A terminal: {' '.join([os.path.basename(command[0]), *command[1:]])}", shown)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    print(f"{path}: {len(shown)} frames of {seconds:.1f} s, {len(text.encode())} bytes")


main()
