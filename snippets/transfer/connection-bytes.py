"""A block into another process's memory through multiprocessing.Pipe(), without pickle."""
import multiprocessing
import sys

# ---
def given(connection, block):
    connection.send_bytes(block)


def taken(connection, block):
    return connection.recv_bytes_into(block)  # bytes that came; block is a bytearray with room for them
# ---


def other_side(connection, bytes):
    block = bytearray(bytes)
    length = taken(connection, block)
    connection.send(length * (block[-1] == 3))


if __name__ == "__main__":
    size = int(sys.argv[1])
    mine, other = multiprocessing.Pipe()
    child = multiprocessing.Process(target=other_side, args=(other, size))
    child.start()
    given(mine, b"\3" * size)
    received = mine.recv()
    child.join()
    print(received)
    sys.exit(0 if received == size else 1)
