"""The loops over round trips and the untimed half around them: the same steps in the same order as the native worker's, so
that any pair of languages can talk. A link has `message`, its bytes, `send()` and `receive()`."""
from struct import Struct
from time import monotonic_ns

from pagewise import content
from pagewise.pin import Pin

CHECKED = 16  # messages of which every byte is checked, before the timed ones
TURN = Struct("<Q")
SETTLE_NS = 20_000_000


class Link:
    """One end of a way to pass messages; a method's class has send() and receive()."""

    def __init__(self, s):
        self.s, self.bytes = s, s.bytes
        self.spin = s.word("wait") == "spin"
        self.message = bytearray(s.bytes)

    def stamp(self, turn):
        if self.bytes >= 8:
            TURN.pack_into(self.message, 0, turn)
        else:
            self.message[0] = turn & 0xFF

    def turn(self):
        return TURN.unpack_from(self.message)[0] if self.bytes >= 8 else self.message[0]

    def close(self):
        """What the method opened; the process runs this one cell."""


def ask(link, ops):
    total, stamp, turn, send, receive = 0, link.stamp, link.turn, link.send, link.receive
    for i in range(ops):
        stamp(i)
        send()
        receive()
        total += turn()
    return total


def ask_timed(link, ops, latencies):
    total, stamp, turn, send, receive = 0, link.stamp, link.turn, link.send, link.receive
    last = monotonic_ns()
    for i in range(ops):
        stamp(i)
        send()
        receive()
        total += turn()
        now = monotonic_ns()
        latencies[i] = now - last
        last = now
    return total


def answer(link, ops):
    total, turn, send, receive = 0, link.turn, link.send, link.receive
    for _ in range(ops):
        receive()
        total += turn()
        send()
    return total


def expected_sum(count, ops):
    if count >= 8:
        return ops * (ops - 1) // 2
    rest = ops % 256
    return ops // 256 * (255 * 256 // 2) + rest * (rest - 1) // 2


def wrong(link, turn):
    return bytes(link.message) != content.slow_pattern(link.s.seed + turn, link.bytes)


def begin(s):
    s.ops = s.size("ops")
    s.phase_bytes = s.ops * s.bytes


def check_idle(s):
    if s.word("idle") == "no":
        return
    if s.word("wait") == "spin":
        s.skip_alike("a side that spins is never idle: idle goes with wait=block")
    s.agree("only a side a in C pauses before each message (idle)" if s.role == "a" else None)


def settle(s, link):
    """Trips that are not counted, until the state is one that lasts, as in the native worker; the last has turn 1."""
    sleeps = s.word("wait") == "block" and s.word("pin") != "same"
    until, turn = monotonic_ns() + (SETTLE_NS if sleeps else 0), 0
    while not turn:
        turn = int(monotonic_ns() >= until)
        link.stamp(turn)
        link.send()
        link.receive()


def settle_along(link):
    """Side b sees which of them is the last."""
    last = False
    while not last:
        link.receive()
        last = link.turn() != 0
        link.send()


def outer_trip(link):
    """Not counted; one goes before and one behind, so that neither side's phase has the other's beginning or end in it."""
    link.stamp(0)
    link.send()
    link.receive()


def run(s, opened):
    """Side a; `opened` makes the link."""
    with Pin(s, s.word("wait") == "spin") as pin:
        begin(s)
        check_idle(s)
        link, bad = opened(s), 0
        ops, latencies = s.ops, [0] * s.ops
        for i in range(CHECKED):
            link.message[:] = content.slow_pattern(s.seed + i, s.bytes)
            link.send()
            link.message[:] = b"\xaa" * s.bytes
            link.receive()
            bad += wrong(link, i)
        s.fact("wrong_messages", bad)
        link.message[:] = content.slow_pattern(s.seed, s.bytes)
        settle(s, link)
        s.sides.meet()
        outer_trip(link)
        with s.phase("round-trips"):
            total = ask(link, ops)
        outer_trip(link)
        s.sides.meet()
        outer_trip(link)
        with s.phase("timed-trips"):
            timed = ask_timed(link, ops, latencies)
        outer_trip(link)
        s.fact("sequence_sum", total)
        s.fact("expected_sequence_sum", expected_sum(s.bytes, ops))
        record_latencies(s, latencies)
        finish(s, link, total, timed, pin)


def run_b(s, opened):
    with Pin(s, s.word("wait") == "spin") as pin:
        begin(s)
        check_idle(s)
        link, bad = opened(s), 0
        ops = s.ops + 2
        for i in range(CHECKED):
            link.message[:] = b"\xaa" * s.bytes
            link.receive()
            bad += wrong(link, i)
            link.send()
        s.fact("b.wrong_messages", bad)
        settle_along(link)
        s.sides.meet()
        with s.phase("round-trips"):
            total = answer(link, ops)
        s.sides.meet()
        with s.phase("timed-trips"):
            timed = answer(link, ops)
        s.fact("b.sequence_sum", total)
        finish(s, link, total, timed, pin)


def finish(s, link, total, timed, pin):
    if total != timed:
        s.fail("trip", "a message of the timed trips was lost, repeated or old")
    s.fact_digest(content.slow_digest(link.message))  # the last message
    link.close()
    pin.facts()


def record_latencies(s, latencies):
    """Counted into the protocol's buckets: exact below 64 ns, above that each power of two is divided into 32 equal ones."""
    counts = {}
    for ns in latencies:
        power = ns.bit_length() - 1
        width = 1 << power - 5 if ns >= 64 else 1
        low = ns // width * width
        counts[low, low + width - 1] = counts.get((low, low + width - 1), 0) + 1
    for (low, high), count in sorted(counts.items()):
        s.transcript.line("latency", s.number, s.cell.number, low, high, count)
