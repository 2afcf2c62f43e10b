/** The least that uWebSockets.js can do: one route, one constant answer, no body, no router. The ceiling of the `http` suite. */
import uWS from 'uWebSockets.js';

const port = Number(process.argv[2]);
const body = JSON.stringify({ status: 'ok' });

uWS
  .App()
  .any('/*', (response) => {
    response.writeHeader('content-type', 'application/json').end(body);
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`port ${port} is taken`);
  });
