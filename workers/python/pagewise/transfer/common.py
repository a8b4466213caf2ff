"""What the methods of `transfer` have in common: side a's filled block, side b's resident one, and the proofs after the copy,
in the same steps as the native worker's."""
import binascii
import struct

from pagewise import content, memory
from pagewise.pin import Pin

kept = {}


def block(s, filled):
    """Resident; holds the pattern, or nothing of it. Kept for the next slot of the same size, as the native worker's is."""
    key = (s.bytes, s.word("pages"), filled)
    if key not in kept:
        kept.clear()
        kept[key] = memory.Block(s, s.bytes)
    made = kept[key]
    made.view[:] = content.pattern(s.seed, s.bytes) if filled else b"\xa5" * s.bytes
    return made


def begin(s):
    obstacle = memory.pages_obstacle(s)
    if obstacle:
        s.skip_alike(obstacle)
    s.ops = s.bytes


def sent(s, view, calls, channel_bytes, made=None):
    """After side a's phase. `made` is the block whose first byte may be changed; what is an object of bytes cannot be."""
    s.sides.meet()  # b has received
    s.sides.meet()  # b has read it through
    rss, huge = made.resident() if made else (len(view), 0)
    s.fact("send.calls", calls)
    s.fact("huge_bytes", huge)
    s.fact("source_wrong_at", content.first_wrong(view, content.pattern(s.seed, s.bytes)))
    s.sides.tell(struct.pack("=Q", rss + channel_bytes))
    s.sides.meet()  # b has proved its block
    if made:
        view[0] ^= 0xFF
    s.sides.meet()  # a has changed its own
    s.sides.meet()  # b has looked
    if made:
        view[0] ^= 0xFF


def received(s, view, calls, channel_bytes, made=None):
    """After side b's phase: read-through, and the proofs."""
    view = memoryview(view).cast("B")
    s.sides.meet()
    with s.phase("read-through"):
        binascii.crc32(view)
    s.sides.meet()
    s.fact("receive.calls", calls)
    theirs = struct.unpack("=Q", s.sides.hear(8))[0]
    rss, huge = made.resident() if made else (len(view), 0)
    s.fact("memory_bytes", theirs + rss + channel_bytes)
    s.fact("footprint_bytes", theirs + rss + channel_bytes)
    s.fact("b.huge_bytes", huge)
    s.fact_digest(content.digest(view))
    s.fact("wrong_at", content.first_wrong(view, content.pattern(s.seed, s.bytes)))
    first = view[0]
    s.sides.meet()
    s.sides.meet()
    s.fact("sees_later_change", view[0] != first)
    s.sides.meet()


def run(s, side):
    """Runs one side where `pin` wants it."""
    with Pin(s) as pin:
        begin(s)
        side(s)
        pin.facts()
