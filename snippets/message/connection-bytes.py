"""A message and its answer through multiprocessing.Pipe(), without pickle."""
import multiprocessing
import sys

# ---
def asked(connection, message, reply):
    connection.send_bytes(message)
    return connection.recv_bytes_into(reply)  # bytes of the answer, which is in reply
# ---


def answer(connection):
    connection.send_bytes(connection.recv_bytes().upper())


if __name__ == "__main__":
    mine, other = multiprocessing.Pipe()
    child = multiprocessing.Process(target=answer, args=(other,))
    child.start()
    reply = bytearray(4)
    length = asked(mine, b"ping", reply)
    child.join()
    print(sys.argv[1])
    sys.exit(0 if (length, bytes(reply)) == (4, b"PING") else 1)
