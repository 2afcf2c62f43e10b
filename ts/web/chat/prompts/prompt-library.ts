/** The prompt library: the caller's own prompts and those of the tenant. */
import { type Answer, call } from '../../api/call.ts';

export type Prompt = Answer<'GET /api/v1/edge/prompts'>['data'][number];

interface PromptText {
  title: string;
  content: string;
}

export async function listPrompts(): Promise<Prompt[]> {
  return (await call('GET /api/v1/edge/prompts')).data;
}

/** `id` undefined: a new one. */
export async function savePrompt(text: PromptText, isShared: boolean, id?: string): Promise<void> {
  if (id === undefined) {
    await call(isShared ? 'POST /api/v1/edge/prompts/shared' : 'POST /api/v1/edge/prompts', { body: text });
    return;
  }
  const name = isShared ? 'PATCH /api/v1/edge/prompts/shared/{id}' : 'PATCH /api/v1/edge/prompts/{id}';
  await call(name, { params: { id }, body: text });
}

export async function removePrompt({ id, shared }: Prompt): Promise<void> {
  await call(shared ? 'DELETE /api/v1/edge/prompts/shared/{id}' : 'DELETE /api/v1/edge/prompts/{id}', { params: { id } });
}
