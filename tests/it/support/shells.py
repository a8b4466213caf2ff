"""Plays a line and a tab in an interactive shell: shells.py SHELL SCRIPT LINE prints the line as the shell completes it."""

import os
import pty
import select
import sys
import tempfile
import time

shell, script, line = sys.argv[1:]
place = tempfile.mkdtemp()
buffer = os.path.join(place, "buffer")
# Control-G writes the line that is being edited.
SETTINGS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], [
        f"source {script}",
        f"buffer() {{ printf '%s' \"$READLINE_LINE\" > {buffer}.part; mv {buffer}.part {buffer}; }}",
        "bind -x '\"\\C-g\": buffer'",
    ]),
    "zsh": (["zsh", "-f", "-i"], [
        f"fpath=({os.path.dirname(script)} $fpath); autoload -Uz compinit; compinit -D -u",
        f"buffer() {{ print -rn -- $BUFFER > {buffer}.part; mv {buffer}.part {buffer} }}",
        "zle -N buffer; bindkey '^G' buffer",
    ]),
    "fish": (["fish", "--no-config", "-i"], [
        f"source {script}",
        f"function buffer; commandline > {buffer}.part; mv {buffer}.part {buffer}; end",
        "bind \\cg buffer",
    ]),
}
command, settings = SETTINGS[shell]
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "dumb"
    os.execvp(command[0], command)


def settle(seconds):
    """Reads the terminal until the shell has been silent for a while: it waits for a key then."""
    while select.select([terminal], [], [], seconds)[0]:
        os.read(terminal, 65536)


def play(keys, done):
    """Presses keys and waits for the file that they make."""
    os.write(terminal, keys)
    end = time.monotonic() + 30
    while time.monotonic() < end and not os.path.exists(done):
        settle(0.1)


ready = os.path.join(place, "ready")
settle(0.5)
for text in settings:
    os.write(terminal, text.encode() + b"\r")
play(f"touch {ready}\r".encode(), ready)
settle(0.5)
os.write(terminal, line.encode() + b"\t")
settle(1)
play(b"\x07", buffer)
print(open(buffer).read().strip() if os.path.exists(buffer) else "nothing")
os.kill(child, 9)
os.waitpid(child, 0)
