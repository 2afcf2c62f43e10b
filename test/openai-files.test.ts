/** Files, vector stores and file_search by the unmodified OpenAI client, with the models that ship. */
import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { wrap, writePdf } from '../ts/server/extraction/test-support/pdf-writer.ts';
import { startServer } from './server.ts';

t.setTimeout(180_000);

const pages = [
  'The town of Karvo lies at the northern sea. It was founded by fishermen in the year 1204.',
  'The keeper of the lighthouse of Karvo is Mira Doll. She lights the lamp every evening.',
];
const pollIntervalMs = 100;

t.test('files are stored, searched and cited end to end', async (t) => {
  const server = await startServer(t, { models: {}, env: { SVC_MODELS_SHIPPED: 'true', SVC_DATA_EMBEDDING_URL: '' } });
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' });
  const store = await client.vectorStores.create({ name: 'town' });
  const pdf = await toFile(writePdf(pages.map((text) => wrap(text, 60, 60, 400).texts)), 'town.pdf');
  const note = await toFile(
    Buffer.from('The bakery in the harbour street sells rye bread. The colour of its door is green.'),
    'bakery.txt',
  );
  const scan = await toFile(Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1'), 'photo.png');
  const batch = await client.vectorStores.fileBatches.uploadAndPoll(store.id, { files: [pdf, note, scan] }, { pollIntervalMs });
  t.match(batch, { status: 'completed', file_counts: { completed: 2, failed: 1 } });

  const asked = {
    model: 'svc-chat-tiny',
    temperature: 0,
    input: 'Who is the keeper of the lighthouse of Karvo?',
    tools: [{ type: 'file_search' as const, vector_store_ids: [store.id], max_num_results: 3 }],
    include: ['file_search_call.results' as const],
  };
  const answer = await client.responses.create(asked);
  t.match(answer.output_text, /Mira Doll/);
  const [call, message] = answer.output;
  t.match(call, {
    type: 'file_search_call',
    status: 'completed',
    queries: [asked.input],
    unindexed: { files: [{ source: 'photo.png' }] },
  });
  const results = call?.type === 'file_search_call' ? call.results : undefined;
  t.match(results?.[0], { filename: 'town.pdf', text: /Mira Doll/ });
  const part = message?.type === 'message' ? message.content[0] : undefined;
  const annotations = part?.type === 'output_text' ? part.annotations : [];
  t.match(annotations, [{ type: 'file_citation', filename: 'town.pdf', file_id: results?.[0]?.file_id ?? '' }]);
  const [annotation] = annotations;
  t.match(answer.output_text.slice(annotation?.type === 'file_citation' ? annotation.index : 0), /^\[\d\]/);
  t.match(await client.files.retrieve(results?.[0]?.file_id ?? ''), { filename: 'town.pdf' });

  const stream = client.responses.stream({ ...asked, input: 'What is the colour of the door of the bakery?' });
  const types = new Set<string>();
  for await (const event of stream) types.add(event.type);
  t.ok(types.has('response.file_search_call.completed'));
  const final = await stream.finalResponse();
  t.match(final.output_text, /green/);
  t.match(
    final.output.find(({ type }) => type === 'file_search_call'),
    { results: [{ filename: 'bakery.txt' }] },
  );

  const next = await client.responses.create({
    ...asked,
    previous_response_id: answer.id,
    input: 'And when does she light the lamp?',
    background: true,
  });
  t.equal(next.status, 'queued');
  let made = next;
  while (made.status === 'queued' || made.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    made = await client.responses.retrieve(next.id);
  }
  t.match(made, {
    status: 'completed',
    output: [{ type: 'file_search_call', results: [{ filename: 'town.pdf' }] }, { type: 'message' }],
  });

  const { id } = await client.files.create({
    file: await toFile(Buffer.from(pages[1] ?? ''), 'keeper.txt'),
    purpose: 'user_data',
  });
  const read = await client.responses.create({
    model: 'svc-chat-tiny',
    temperature: 0,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: id },
          { type: 'input_text', text: 'Who is the keeper?' },
        ],
      },
    ],
  });
  t.equal(read.status, 'completed');
  t.ok((read.usage?.input_tokens ?? 0) > 40, 'its text went to the model');
  await client.vectorStores.delete(store.id);
  const refused = await client.responses.create(asked).catch((error: unknown) => error);
  t.match(refused, { status: 404, code: 'namespace_not_found' });
});
