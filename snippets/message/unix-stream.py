"""A message and its answer through a pair of Unix stream sockets."""
import os
import socket
import sys

# ---
def tell(channel, message):
    channel.sendall(message)


def hear(channel, message):  # into a bytearray of its length
    view = memoryview(message)
    while view:
        got = channel.recv_into(view)
        if not got:
            raise EOFError("the other side ended")
        view = view[got:]
# ---


if __name__ == "__main__":
    mine, other = socket.socketpair()  # multiprocessing passes an end to a child, too
    message, reply = b"ping" * 1000, bytearray(4000)
    if os.fork() == 0:
        mine.close()
        hear(other, reply)
        tell(other, reply.upper())
        os._exit(0)
    other.close()
    tell(mine, message)
    hear(mine, reply)
    os.wait()
    print(sys.argv[1])
    sys.exit(0 if reply == message.upper() else 1)
