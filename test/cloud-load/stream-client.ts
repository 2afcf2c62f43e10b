/** One streamed chat, watched: when its first content came, and how it ended. */
import { request } from 'node:http';

export interface Watched {
  status: number;
  /** Milliseconds to the first content; undefined: none came. */
  firstMs: number | undefined;
  /** `clean` has its finish and [DONE]; `error` an error in our shape behind content; `refused` is an error before any. */
  end: 'clean' | 'error' | 'refused' | 'cut';
  /** A refusal has one. */
  code: string;
  text: string;
}

const CONTENT = '"delta":{"content":"';

export function watchChat(url: string, body: object): Promise<Watched> {
  const started = performance.now();
  const watched: Watched = { status: 0, firstMs: undefined, end: 'cut', code: '', text: '' };
  return new Promise((resolve) => {
    const sent = JSON.stringify({ stream: true, ...body });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) };
    const asking = request(`${url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
      watched.status = response.statusCode ?? 0;
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        watched.text += piece;
        if (watched.firstMs === undefined && watched.text.includes(CONTENT)) watched.firstMs = performance.now() - started;
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        const { text, status, firstMs } = watched;
        const error = /"code":"(\w+)"/.exec(text)?.[1];
        if (status !== 200 || (error !== undefined && firstMs === undefined)) watched.end = 'refused';
        else if (error !== undefined) watched.end = 'error';
        else if (text.endsWith('data: [DONE]\n\n') && text.includes('"finish_reason":"')) watched.end = 'clean';
        watched.code = error ?? '';
        resolve(watched);
      });
    });
    asking.on('error', () => resolve(watched));
    asking.end(sent);
  });
}
