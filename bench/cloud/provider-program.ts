/** A provider of OpenAI's API that answers at a fixed pace. Each frame says when it was sent, by the clock that all processes share. */
import type uWS from 'uWebSockets.js';
import { chunk, serveProvider } from '../client/scripted-provider.ts';
import { ANSWERS } from './cloud-load.ts';

const DONE = 'data: [DONE]\n\n';

const frame = (choices: object[], more: object = {}): string => chunk('bench', choices, more);
const content = (): string =>
  frame([{ index: 0, delta: { content: `t=${process.hrtime.bigint()};` }, logprobs: null, finish_reason: null }]);
const FINISH = frame([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]);
const USAGE = frame([], { usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 } });

serveProvider(Object.keys(ANSWERS), (response, text, isGone) =>
  answer(response, /"model":"([^"]+)"/.exec(text)?.[1] ?? '', isGone),
);

function answer(response: uWS.HttpResponse, model: string, isGone: () => boolean): void {
  const { nFrames, everyMs } = ANSWERS[model.slice(model.lastIndexOf('/') + 1)] ?? { nFrames: 1, everyMs: 0 };
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
