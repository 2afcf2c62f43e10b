/**
 * The least that a proxy of providers does: uWebSockets.js before, the HTTP client of our server behind, each frame parsed, given another id, and
 * written again. It knows no keys, no prices, no failures.
 */

import uWS from 'uWebSockets.js';
import { Pool } from 'undici';

const [port, provider = ''] = [Number(process.argv[2]), process.argv[3]];
const pool = new Pool(provider, { connections: null, headersTimeout: 0, bodyTimeout: 0 });

uWS
  .App()
  .get('/livez', (response) => void response.end('ok'))
  .post('/*', (response, request) => {
    const path = request.getUrl();
    const pieces: Buffer[] = [];
    const gone = new AbortController();
    response.onAborted(() => gone.abort());
    response.onData((piece, isLast) => {
      pieces.push(Buffer.from(Buffer.from(piece)));
      if (isLast)
        void forward(response, path, Buffer.concat(pieces), gone.signal).catch(() => gone.signal.aborted || response.close());
    });
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`port ${port} is taken`);
  });

async function forward(response: uWS.HttpResponse, path: string, body: Buffer, signal: AbortSignal): Promise<void> {
  const asked = JSON.parse(body.toString()) as object;
  const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };
  const answer = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(asked), signal });
  if (signal.aborted) return;
  response.cork(() => response.writeHeader('content-type', String(answer.headers['content-type'] ?? '')).write(''));
  let rest = '';
  for await (const piece of answer.body) {
    const frames = (rest + (piece as Buffer).toString()).split('\n\n');
    rest = frames.pop() ?? '';
    const written = frames.map(rewrite).join('');
    if (signal.aborted) return;
    if (written !== '') response.cork(() => response.write(written));
  }
  if (!signal.aborted) response.cork(() => response.end());
}

function rewrite(frame: string): string {
  const data = frame.slice('data: '.length);
  if (data === '[DONE]') return `${frame}\n\n`;
  return `data: ${JSON.stringify({ ...(JSON.parse(data) as object), id: 'chatcmpl-bare' })}\n\n`;
}
