"""Opens many connections, each of which requests full pages and never reads.

Arguments: the port, the API key, the number of connections, and the number of pages that each of them requests. Prints
the number of connections that the server has closed when standard input ends.

The sockets have the smallest segments and receive buffers. Otherwise the operating system would buffer the responses on
a loopback connection, and not the server.
"""

import socket
import sys
import time

port, key, connections, pages = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
request = f"GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
sockets = []
for _ in range(connections):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    client.connect(("127.0.0.1", port))
    client.sendall(request * pages)
    sockets.append(client)
    time.sleep(0.01)

print("opened", flush=True)
sys.stdin.read()
closed = 0
for client in sockets:
    try:
        client.sendall(b"\r\n")
        time.sleep(0.001)
        client.sendall(b"\r\n")
    except OSError:
        closed += 1
print(closed, flush=True)
