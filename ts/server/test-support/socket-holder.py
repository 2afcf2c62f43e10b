"""Does for a test what a service manager does: holds a listening socket that it never accepts on, and hears what its programs tell.

Each line on its input starts the program that its arguments name, with the socket as descriptor 3 (LISTEN_FDNAMES: its name). Prints the port,
then the process id of each program, and each message of a program after the word `told`."""

import os
import socket
import subprocess
import sys
import threading

listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
os.dup2(listening.fileno(), 3, inheritable=True)
messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
messages.bind("\0svc-test-%d" % os.getpid())


def say(text):
    """One write, since the programs write their lines to the same pipe."""
    os.write(1, (text + "\n").encode())


def hear():
    while True:
        say("told " + messages.recv(4096).decode())


threading.Thread(target=hear, daemon=True).start()
say(str(listening.getsockname()[1]))
for _ in sys.stdin:
    command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', *sys.argv[1:]]
    names = {"LISTEN_FDS": "1", "LISTEN_FDNAMES": os.environ.get("LISTEN_FDNAMES", "internal"), "NOTIFY_SOCKET": "@svc-test-%d" % os.getpid()}
    program = subprocess.Popen(command, env={**os.environ, **names}, pass_fds=[3], stdin=subprocess.DEVNULL)
    say(str(program.pid))
