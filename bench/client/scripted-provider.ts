/** A provider of OpenAI's API in a process of its own, whose first argument is its port; what it answers to a chat is the caller's. */
import uWS from 'uWebSockets.js';

/** `text`: the body of the request. */
type AnswerChat = (response: uWS.HttpResponse, text: string, isGone: () => boolean) => void;

export function serveProvider(models: readonly string[], answer: AnswerChat): void {
  const port = Number(process.argv[2]);
  const data = models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'bench' }));
  const list = JSON.stringify({ object: 'list', data });
  uWS
    .App()
    .get('/livez', (response) => void response.end('ok'))
    .get('/v1/models', (response) => void response.writeHeader('content-type', 'application/json').end(list))
    .post('/v1/chat/completions', (response) => {
      let text = '';
      let isGone = false;
      response.onAborted(() => {
        isGone = true;
      });
      response.onData((piece, isLast) => {
        text += Buffer.from(piece).toString('latin1');
        if (isLast && !isGone) answer(response, text, () => isGone);
      });
    })
    .listen('127.0.0.1', port, (socket) => {
      if (socket === false) throw new Error(`port ${port} is taken`);
    });
}

/** An event of a streamed chat. */
export function chunk(model: string, choices: readonly object[], more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`;
}
