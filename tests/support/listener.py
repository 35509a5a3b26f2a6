# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server for tests, which serves each of its connections on a thread."""

import socket
import threading


class Listener:
    """Listens on a free port of its own until the block ends."""

    def __init__(self):
        self.lock = threading.Lock()
        self.open_ends = set()
        self.connections = 0
        self._threads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.start(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()  # no connection comes any more
        self.shut_all()
        for thread in self._threads[1:]:
            thread.join()

    def start(self, run, *arguments):
        """Runs this on a thread of its own."""
        self._threads.append(threading.Thread(target=run, args=arguments, daemon=True))
        self._threads[-1].start()

    def shut_all(self):
        """Shuts all connections that there are now. Gives whether there is any."""
        with self.lock:
            for end in self.open_ends:
                shut(end)
            return bool(self.open_ends)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.take(client)


def shut(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:  # it is closed already
        pass
