# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps a memcached busy: get, set and incr in long pipelines."""

import socket
import sys

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
batch = b"".join(b"set key%d 0 0 10 noreply\r\n0123456789\r\nget key%d\r\n" % (i, i * 7 % 100) for i in range(100))
while True:
    connection.sendall(batch)
    answers = 0
    while answers < 100:
        answers += connection.recv(1 << 16).count(b"END\r\n") or 0
