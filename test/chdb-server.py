"""ClickHouse's HTTP interface in front of chdb, the engine in a process of its own, which a test may kill. Arguments: its folder. Prints its port."""
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

engine = session.Session(sys.argv[1])
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        given = dict(parse_qsl(urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get('content-length', 0))).decode()
        query = given.get('query')
        statement = body if query is None else f'{query}\n{body}'
        params = {name[6:]: value for name, value in given.items() if name.startswith('param_')}
        try:
            with lock:
                answer = str(engine.query(statement, 'JSONEachRow', params=params))
            self.answer(200, answer)
        except Exception as error:
            self.answer(500, str(error))

    def answer(self, status, text):
        data = text.encode()
        self.send_response(status)
        self.send_header('content-length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
print(f'{{"port":{server.server_port}}}', flush=True)
server.serve_forever()
