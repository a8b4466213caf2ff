"""A message and its answer through multiprocessing.Pipe()."""
import multiprocessing
import sys

# ---
def asked(connection, message):
    connection.send(message)  # pickled; send_bytes() takes bytes as they are
    return connection.recv()
# ---


def answer(connection):
    connection.send(connection.recv().upper())


if __name__ == "__main__":
    mine, other = multiprocessing.Pipe()
    child = multiprocessing.Process(target=answer, args=(other,))
    child.start()
    reply = asked(mine, b"ping")
    child.join()
    print(sys.argv[1])
    sys.exit(0 if reply == b"PING" else 1)
