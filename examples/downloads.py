"""Downloads from a server that sometimes fails: three at a time, with retries."""

import asyncio
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tfrt_nb as tfrt

ASKED: Counter[str] = Counter()


class Unreliable(BaseHTTPRequestHandler):
    """A server on this machine: the first request for each page fails."""

    def do_GET(self) -> None:
        ASKED[self.path] += 1
        body = f"page {self.path}".encode()
        self.send_response(200 if ASKED[self.path] > 1 else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None:
        """Log nothing."""


@tfrt.kernel(retries=2, timeout=30.0, limit=3)
async def fetch(path: str, *, port: int) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    if " 200 " not in head.splitlines()[0]:
        raise OSError(head.splitlines()[0])
    return body


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Unreliable)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    @tfrt.program
    def pages(paths: object):  # type: ignore[no-untyped-def]
        return tfrt.map(lambda path: fetch(path, port=server.server_port), paths)

    for page in pages([f"/{number}" for number in range(6)]).result(60):
        print(page)
    print("asked", sum(ASKED.values()), "times")
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
