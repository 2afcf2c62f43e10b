/** Responses that are kept, through the unmodified `openai` package. */
import OpenAI from 'openai';
import t from 'tap';
import { refusalOf } from './refusal.ts';
import { chatModel, stockServer } from './server.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;

const server = await stockServer(t);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
const request = { model: chatModel, input: 'Name three colours.', max_output_tokens: 10, temperature: 0 };

async function untilEnded(id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test('a response is created, retrieved, continued and deleted', async (t) => {
  const include = ['message.output_text.logprobs' as const];
  const created = await client.responses.create({ ...request, include });
  const kept = await client.responses.retrieve(created.id, { include });
  t.strictSame(kept.output, created.output);
  t.equal(kept.output_text, created.output_text);
  const next = await client.responses.create({ ...request, input: 'And one more?', previous_response_id: created.id });
  t.equal(next.previous_response_id, created.id);
  t.ok((next.usage?.input_tokens ?? 0) > (created.usage?.input_tokens ?? 0), 'what came before is part of the prompt');
  const alone = await client.responses.create({ ...request, input: 'And one more?', store: false });
  t.ok((next.usage?.input_tokens ?? 0) > (alone.usage?.input_tokens ?? 0) + (created.usage?.output_tokens ?? 0));
  await client.responses.delete(created.id);
  t.match(await refusalOf(client.responses.retrieve(created.id)), { status: 404, code: 'response_not_found' });
  t.match(await refusalOf(client.responses.create({ ...request, previous_response_id: next.id })), {
    status: 400,
    code: 'previous_response_not_found',
  });
});

t.test('the package pages through input items', async (t) => {
  const input = Array.from({ length: 7 }, (_, index) => ({ role: 'user' as const, content: `Text ${index}` }));
  const { id } = await client.responses.create({ ...request, input, max_output_tokens: 2 });
  const texts: unknown[] = [];
  for await (const item of client.responses.inputItems.list(id, { limit: 3, order: 'asc' }))
    texts.push(item.type === 'message' && item.content[0]?.type === 'input_text' && item.content[0].text);
  t.strictSame(
    texts,
    input.map(({ content }) => content),
  );
  t.match(await refusalOf(client.responses.inputItems.list(id, { limit: 101 })), { status: 400 });
});

t.test('a background response is polled until it is complete', async (t) => {
  const begun = await client.responses.create({ ...request, background: true });
  t.match(begun, { status: 'queued', background: true });
  const whole = await client.responses.create(request);
  t.equal((await untilEnded(begun.id)).output_text, whole.output_text);
});

t.test('a background stream goes on behind any event after the connection was lost', async (t) => {
  const all: Event[] = [];
  const stream = await client.responses.create({ ...request, max_output_tokens: 60, background: true, stream: true });
  for await (const event of stream) {
    all.push(event);
    if (all.length === 12) break;
  }
  const [first] = all;
  const id = first?.type === 'response.created' ? first.response.id : '';
  while (!all.at(-1)?.type.match(/completed|incomplete/)) {
    const resumed = await client.responses.retrieve(id, { stream: true, starting_after: all.at(-1)?.sequence_number ?? 0 });
    let nEvents = 0;
    for await (const event of resumed) {
      all.push(event);
      if (++nEvents === 25) break;
    }
  }
  t.strictSame(
    all.map((event) => event.sequence_number),
    all.map((_, index) => index),
  );
  const text = all.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
  t.equal(text, (await client.responses.retrieve(id)).output_text);
  const helper = client.responses.stream({ response_id: id, starting_after: 5 });
  t.equal((await helper.finalResponse()).output_text, text, 'the stream helper reads it again');
});

t.test('a background response is cancelled', async (t) => {
  const endless = { ...request, max_output_tokens: 100_000, ignore_eos: true };
  const { id } = await client.responses.create({ ...endless, background: true });
  t.match(await client.responses.cancel(id), { id, status: 'cancelled' });
  t.match(await client.responses.retrieve(id), { status: 'cancelled' });
  const { id: synchronous } = await client.responses.create(request);
  t.match(await refusalOf(client.responses.cancel(synchronous)), { status: 400 });
});

t.test('numbers that no event can have are refused', async (t) => {
  const { id } = await client.responses.create({ ...request, background: true });
  await untilEnded(id);
  for (const after of [-1, 1e300, 1e9])
    t.match(
      await refusalOf(client.responses.retrieve(id, { stream: true, starting_after: after })),
      { status: 400 },
      String(after),
    );
});
