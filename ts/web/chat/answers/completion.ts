/** Asks the model and says what comes, piece by piece. */

import { Refusal } from '../../../client/refusal.ts';
import { request } from '../../api/call.ts';
import { usesOwnKnowledge } from '../../session/account-settings.ts';
import { givenPreferences, type Preferences } from '../composer/preferences.ts';
import type { Recalled } from '../memory/memories.ts';
import { type Citation, type ToolEvent, type Unindexed, unindexedOf } from '../thread/message.ts';
import { readAnswer } from './answer-stream.ts';

export interface ChatTurn {
  role: string;
  content: string | readonly TurnPart[];
}

type TurnPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

interface CompletionInput {
  model: string;
  turns: readonly ChatTurn[];
  preferences: Preferences;
  /** Where the server stores the answer. */
  storage: AnswerStorage;
  signal: AbortSignal;
}

interface AnswerStorage {
  conversationId: string;
  /** The id of the answer's message, and of its stream. */
  id: string;
  parentId: string;
  /** What the answer begins with. */
  prefix: string;
}

export interface Chunk {
  /** The first chunk of an answer that this page has asked for says whether it goes on without the page. */
  isResumable?: boolean;
  /** The name of its stream. */
  stream?: string;
  text?: string;
  reasoning?: string;
  toolCall?: { index: number; name?: string; args?: string };
  toolEvent?: ToolEvent;
  finishReason?: string;
  model?: string;
  usage?: { prompt_tokens: number; completion_tokens: number };
  tokensPerSecond?: number;
  citations?: Citation[];
  unindexed?: Unindexed;
  memories?: Recalled[];
}

interface Frame {
  error?: { message?: string; code?: string };
  detail?: string;
  model?: string;
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  timings?: { predicted_per_second?: number };
  citations?: Citation[];
  unindexed?: unknown;
  memories?: Recalled[];
  tool_event?: ToolEvent;
}

interface Delta {
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[];
}

/** Yields what came at once together. Throws Refusal; of a stream that breaks off for good, `unreachable`. */
export async function* complete({ model, turns, preferences, storage, signal }: CompletionInput): AsyncGenerator<Chunk[]> {
  const { system, uses_tools: usesTools, ...rest } = givenPreferences(preferences) as { system?: string; uses_tools?: true };
  const messages = [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...turns];
  const { conversationId, id, parentId, prefix } = storage;
  const stored = {
    conversation_id: conversationId,
    conversation_answer: { id, parent_id: parentId, ...(prefix === '' ? {} : { prefix }) },
    resumable: true,
  };
  const fallback = usesOwnKnowledge.value ? { knowledge_fallback: 'model' as const } : {};
  const body = { model, messages, stream: true, stream_options: { include_usage: true }, ...stored, ...fallback, ...rest };
  const response = await request('POST /v1/chat/completions', {
    body,
    signal,
    ...(usesTools && { headers: { 'x-svc-edge-tools': '1' } }),
  });
  const stream = response.headers.get('x-svc-stream') ?? undefined;
  yield [{ isResumable: stream !== undefined, ...(stream !== undefined && { stream }) }];
  yield* chunksFrom(readAnswer({ id: stream, response, signal }));
}

/** An answer that another page has asked for, or this one before it was loaded anew, from its beginning. */
export async function* follow(id: string, signal: AbortSignal): AsyncGenerator<Chunk[]> {
  yield* chunksFrom(readAnswer({ id, response: undefined, signal }));
}

async function* chunksFrom(events: AsyncIterable<string[]>): AsyncGenerator<Chunk[]> {
  for await (const frames of events) {
    const chunks: Chunk[] = [];
    for (const data of frames) {
      const frame = JSON.parse(data) as Frame;
      if (frame.error !== undefined) {
        yield chunks;
        throw new Refusal(500, frame.error.code ?? 'failed', frame.detail ?? frame.error.message ?? '');
      }
      addChunks(chunks, frame);
    }
    yield chunks;
  }
}

function addChunks(chunks: Chunk[], frame: Frame): void {
  if (frame.model !== undefined) chunks.push({ model: frame.model });
  for (const { delta = {}, finish_reason: finishReason } of frame.choices ?? []) {
    if (delta.content) chunks.push({ text: delta.content });
    if (delta.reasoning_content) chunks.push({ reasoning: delta.reasoning_content });
    for (const { index = 0, function: called = {} } of delta.tool_calls ?? []) {
      const { name, arguments: args } = called;
      chunks.push({ toolCall: { index, ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { args }) } });
    }
    if (finishReason) chunks.push({ finishReason });
  }
  if (frame.tool_event !== undefined) chunks.push({ toolEvent: frame.tool_event });
  if (frame.citations !== undefined) chunks.push({ citations: frame.citations });
  const unindexed = unindexedOf(frame.unindexed);
  if (unindexed !== undefined) chunks.push({ unindexed });
  if (frame.memories !== undefined) chunks.push({ memories: frame.memories });
  if (frame.usage) chunks.push({ usage: frame.usage });
  if (frame.timings?.predicted_per_second !== undefined) chunks.push({ tokensPerSecond: frame.timings.predicted_per_second });
}
