import type { Client } from '../client/client.ts';
import { atOnce, readAnswer } from './server-client.ts';

/** A model as GET /v1/models lists it; other servers leave out what only ours tells. */
export interface ServedModel {
  id: string;
  kind?: string;
  capabilities?: string[];
  state?: string;
  /** The provider that runs it, and whether it can be asked now. */
  backend?: string;
  serving_state?: string;
  note?: string;
  /** The one that the server asks where none is named. */
  default?: boolean;
}

export async function askModels(client: Client, signal: AbortSignal): Promise<ServedModel[]> {
  return servedModels((await readAnswer(await client.ask('GET /v1/models', { signal: atOnce(signal) }))).body);
}

export function servedModels(body: unknown): ServedModel[] {
  const data: unknown = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined;
  return Array.isArray(data)
    ? data.filter((model): model is ServedModel => typeof (model as ServedModel | null)?.id === 'string')
    : [];
}

/** The server's default where it chats, else one that is loaded, else any that chats; a model that does not tell counts as one. */
export function findChatModel(models: readonly ServedModel[]): ServedModel | undefined {
  const chatting = models.filter(({ capabilities, state }) => state !== 'unusable' && (capabilities?.includes('chat') ?? true));
  return chatting.find((model) => model.default === true) ?? chatting.find(({ state }) => state === 'loaded') ?? chatting[0];
}
