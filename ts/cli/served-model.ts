/** A model as GET /v1/models lists it; other servers leave out what only ours tells. */
export interface ServedModel {
  id: string;
  capabilities?: string[];
  state?: string;
  note?: string;
}

export function servedModels(body: unknown): ServedModel[] {
  const data: unknown = typeof body === 'object' && body !== null ? (body as { data?: unknown }).data : undefined;
  return Array.isArray(data)
    ? data.filter((model): model is ServedModel => typeof (model as ServedModel | null)?.id === 'string')
    : [];
}

/** The loaded one that chats, else any that chats; a model that does not tell counts as one. */
export function findChatModel(models: readonly ServedModel[]): ServedModel | undefined {
  const chatting = models.filter(({ capabilities, state }) => state !== 'unusable' && (capabilities?.includes('chat') ?? true));
  return chatting.find(({ state }) => state === 'loaded') ?? chatting[0];
}
