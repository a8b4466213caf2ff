"""A block into another process's memory through multiprocessing.Pipe()."""
import multiprocessing
import sys

# ---
def given(connection, block):
    connection.send(block)  # pickled; the other side has it by recv()


def taken(connection):
    return connection.recv()
# ---


def other_side(connection):
    block = taken(connection)
    connection.send(len(block) * (block[-1] == 3))


if __name__ == "__main__":
    mine, other = multiprocessing.Pipe()
    child = multiprocessing.Process(target=other_side, args=(other,))
    child.start()
    given(mine, b"\3" * int(sys.argv[1]))
    received = mine.recv()
    child.join()
    print(received)
    sys.exit(0 if received == int(sys.argv[1]) else 1)
