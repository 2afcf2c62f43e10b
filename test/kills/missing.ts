/** Asks a server for everything that was acknowledged, and says in sentences what is not there, or not once. */

import { sendJson } from '../http.ts';
import type { Acknowledged } from './acknowledged.ts';
import { openaiClient } from './writers.ts';

export async function findMissing(url: string, acknowledged: Acknowledged): Promise<string[]> {
  const problems: string[] = [];
  const check = async (name: string, problemOf: () => Promise<string | undefined>) => {
    const problem = await problemOf().catch(String);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
  };
  for (const [id, response] of acknowledged.responses) await check(id, () => problemOfResponse(url, id, response.output));
  for (const [id, after] of acknowledged.background) await check(id, () => problemOfBackground(url, id, after));
  for (const [id, messages] of acknowledged.conversations) await check(id, () => problemOfConversation(url, id, messages));
  await check('tenants', () => problemOfTenants(url, acknowledged.tenants));
  return problems;
}

async function problemOfResponse(url: string, id: string, output: unknown): Promise<string | undefined> {
  const kept = await openaiClient(url).responses.retrieve(id);
  return JSON.stringify(kept.output) === JSON.stringify(output) ? undefined : 'another output is kept';
}

/** Follows a background response to its end, from behind the last event that arrived: no event comes twice. */
async function problemOfBackground(url: string, id: string, after: number): Promise<string | undefined> {
  const client = openaiClient(url);
  const query = after < 0 ? { stream: true as const } : { stream: true as const, starting_after: after };
  let last = after;
  for await (const event of await client.responses.retrieve(id, query)) {
    if (event.sequence_number <= last) return `event ${event.sequence_number} came behind ${last}`;
    last = event.sequence_number;
  }
  const { status } = await client.responses.retrieve(id);
  return status === 'completed' || status === 'incomplete' ? undefined : `its stream ended while it was ${status}`;
}

/** A message whose acknowledgement the kill took away may be there too, behind the others. */
async function problemOfConversation(url: string, id: string, messages: readonly string[]): Promise<string | undefined> {
  const path = `/api/v1/edge/conversations/messages?id=${id}`;
  const { data } = await sendJson<{ data: { id: string }[] }>(url, path);
  const kept = data.map((message) => message.id);
  if (new Set(kept).size < kept.length) return 'a message is there twice';
  if (messages.some((message, i) => kept[i] !== message)) return 'a message is lost';
  return kept.length > messages.length + 1 ? 'there are messages that nobody sent' : undefined;
}

async function problemOfTenants(url: string, tenants: ReadonlySet<string>): Promise<string | undefined> {
  const { data } = await sendJson<{ data: { id: string }[] }>(url, '/api/v1/identity/tenants');
  const kept = new Set(data.map(({ id }) => id));
  const lost = [...tenants].filter((id) => !kept.has(id));
  return lost.length === 0 ? undefined : `lost ${lost.join(', ')}`;
}
