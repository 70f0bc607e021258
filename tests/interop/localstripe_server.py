"""Runs localstripe on a loopback port of its own and says where."""

import socket

from aiohttp import web
from localstripe.server import app

listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
