/** A small request whose answer is read and thrown away. */
import { Connection, type HttpRequest, type Target } from './connection.ts';

interface PlainAnswer {
  /** 0 when the connection ended before the answer was whole, or when the time was over. */
  status: number;
  ms: number;
  text: string;
}

export function sendPlain(target: Target, request: HttpRequest, timeoutMs = 30_000): Promise<PlainAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    const end = (isWhole: boolean) => {
      clearTimeout(timer);
      resolve({ status: isWhole ? status : 0, ms: performance.now() - startedAt, text });
    };
    const connection = new Connection(target, request, {
      onHead: (code) => {
        status = code;
      },
      onBody: (bytes) => {
        text += bytes.toString('latin1');
      },
      onEnd: end,
    });
    const timer = setTimeout(() => {
      connection.abort();
      end(false);
    }, timeoutMs);
  });
}
