/** Clients that write all kinds of durable things to one server, and note what it acknowledged. */
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import type { ChildServer } from '../child-server.ts';
import { sendJson } from '../http.ts';
import { chatModel } from '../server.ts';
import type { Acknowledged } from './acknowledged.ts';

const MESSAGES_A_CONVERSATION = 20;
const request = { model: chatModel, input: 'Name three colours.', max_output_tokens: 24, temperature: 0 };

type Writer = (url: string, acknowledged: Acknowledged) => Promise<void>;

export const openaiClient = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });

async function writeResponse(url: string, { responses }: Acknowledged): Promise<void> {
  const response = await openaiClient(url).responses.create(request);
  responses.set(response.id, response);
}

async function streamResponse(url: string, { responses }: Acknowledged): Promise<void> {
  for await (const event of await openaiClient(url).responses.create({ ...request, stream: true }))
    if (event.type === 'response.completed' || event.type === 'response.incomplete')
      responses.set(event.response.id, event.response);
}

async function beginInBackground(url: string, { background }: Acknowledged): Promise<void> {
  background.set((await openaiClient(url).responses.create({ ...request, background: true })).id, -1);
}

async function streamFromBackground(url: string, { background }: Acknowledged): Promise<void> {
  let id = '';
  for await (const event of await openaiClient(url).responses.create({ ...request, background: true, stream: true })) {
    if (event.type === 'response.created') id = event.response.id;
    background.set(id, event.sequence_number);
  }
}

async function talk(url: string, { conversations }: Acknowledged): Promise<void> {
  const { id } = await sendJson<{ id: string }>(url, '/api/v1/edge/conversations', { title: 'Colours' });
  const messages: string[] = [];
  conversations.set(id, messages);
  for (let i = 0; i < MESSAGES_A_CONVERSATION; i += 1) {
    const message = { conversation_id: id, role: 'user', content: `Colour ${i}` };
    messages.push((await sendJson<{ id: string }>(url, '/api/v1/edge/conversations/messages', message)).id);
  }
}

async function makeTenant(url: string, { tenants }: Acknowledged): Promise<void> {
  const id = `tenant-${crypto.randomUUID()}`;
  await sendJson(url, '/api/v1/identity/tenants', { id, name: id });
  tenants.add(id);
}

const writers: readonly Writer[] = [writeResponse, streamResponse, beginInBackground, streamFromBackground, talk, makeTenant];

/** All writers at once, each over and over, until the server is gone. */
export async function writeUntilGone(server: ChildServer, acknowledged: Acknowledged): Promise<void> {
  const repeat = async (write: Writer) => {
    while (server.running) await write(server.url, acknowledged).catch(() => wait(5));
  };
  await Promise.all(writers.map(repeat));
}
