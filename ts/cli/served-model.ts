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

interface GpuHealth {
  devices?: { description?: string; memory_bytes?: number }[];
  driver_cuda?: string;
  reason?: string;
  remedy?: string;
}

/** What a running server tells of one of its own models; these members and others. */
export interface ServedDetail {
  state?: string;
  memory_bytes?: number;
  gpu_layers?: number;
  gpu_memory_bytes?: number;
  /** The node's GPUs, or why it uses none; absent where it was given no library for them. */
  gpu?: GpuHealth;
}

/** Undefined: the server has no such model, or refuses this caller. */
export async function askServedDetail(client: Client, id: string, signal: AbortSignal): Promise<ServedDetail | undefined> {
  const options = { params: { id }, signal: atOnce(signal) };
  const detail = await readAnswer(await client.ask('GET /api/v1/inference/models/{id}', options));
  if (detail.status !== 200) return undefined;
  const health = await readAnswer(await client.ask('GET /health', { signal: atOnce(signal) }));
  const { gpu } = (health.body as { inference?: { gpu?: GpuHealth } }).inference ?? {};
  return { ...(detail.body as ServedDetail), ...(gpu && { gpu }) };
}

/** The server's default where it chats, else one that is loaded, else any that chats; a model that does not tell counts as one. */
export function findChatModel(models: readonly ServedModel[]): ServedModel | undefined {
  const chatting = models.filter(({ capabilities, state }) => state !== 'unusable' && (capabilities?.includes('chat') ?? true));
  return chatting.find((model) => model.default === true) ?? chatting.find(({ state }) => state === 'loaded') ?? chatting[0];
}
