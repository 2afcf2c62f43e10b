/** A provider of OpenAI's API that answers at a fixed pace. Each frame says when it was sent, by the clock that all processes share. */
import uWS from 'uWebSockets.js';
import { ANSWERS } from './cloud-load.ts';

const port = Number(process.argv[2]);
const DONE = 'data: [DONE]\n\n';

const frame = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices, ...more })}\n\n`;
const content = (): string =>
  frame([{ index: 0, delta: { content: `t=${process.hrtime.bigint()};` }, logprobs: null, finish_reason: null }]);
const FINISH = frame([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
const USAGE = frame([], { usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 } });

uWS
  .App()
  .get('/livez', (response) => void response.end('ok'))
  .get('/v1/models', (response) => {
    const data = Object.keys(ANSWERS).map((id) => ({ id, object: 'model', created: 1, owned_by: 'bench' }));
    response.writeHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data }));
  })
  .post('/v1/chat/completions', (response) => {
    let text = '';
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    response.onData((piece, isLast) => {
      text += Buffer.from(piece).toString('latin1');
      if (isLast) answer(response, /"model":"([^"]+)"/.exec(text)?.[1] ?? '', () => isGone);
    });
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`port ${port} is taken`);
  });

function answer(response: uWS.HttpResponse, model: string, isGone: () => boolean): void {
  const { nFrames, everyMs } = ANSWERS[model.slice(model.lastIndexOf('/') + 1)] ?? { nFrames: 1, everyMs: 0 };
  if (isGone()) return;
  response.cork(() => {
    response.writeHeader('content-type', 'text/event-stream');
    response.write(frame([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]));
    response.write(content());
  });
  let nSent = 1;
  const timer = setInterval(() => {
    if (isGone()) return clearInterval(timer);
    if (nSent < nFrames) {
      nSent += 1;
      return void response.cork(() => response.write(content()));
    }
    clearInterval(timer);
    response.cork(() => {
      response.write(FINISH);
      response.write(USAGE);
      response.end(DONE);
    });
  }, everyMs);
}
