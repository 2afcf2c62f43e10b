/** One answer of POST /v1/chat/completions, as it comes. */
import type { Answer, Client } from '../../client/client.ts';
import { readEvents } from '../../client/events.ts';
import { isLate, sentenceOf } from '../../client/refusal.ts';
import { CliError } from '../cli-error.ts';
import { printable } from '../format.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface ChatAnswer {
  text: string;
  model: string;
  finishReason: string | null;
  usage: unknown;
  /** Of an answer from knowledge bases. */
  citations: NonNullable<Completion['citations']>;
  unindexed: Completion['unindexed'];
}

type Completion = Answer<'POST /v1/chat/completions'>;

export interface ChatRequest {
  model: string;
  messages: readonly ChatMessage[];
  temperature?: number;
  maxTokens?: number;
  /** Names of knowledge bases. */
  knowledge?: string[];
}

interface Chunk {
  model?: string;
  choices?: { delta?: { content?: string | null; reasoning_content?: string | null }; finish_reason?: string | null }[];
  usage?: unknown;
  citations?: ChatAnswer['citations'];
  unindexed?: ChatAnswer['unindexed'];
  error?: unknown;
  detail?: unknown;
}

interface ChatListener {
  onText(text: string): void;
  onThought?(text: string): void;
}

/** Throws CliError when the server refuses, fails inside the stream, is late, or ends without finishing. */
export async function streamChat(
  client: Client,
  request: ChatRequest,
  listener: ChatListener,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  const { model, messages, temperature, maxTokens, knowledge } = request;
  const body = {
    model,
    messages: [...messages],
    stream: true,
    stream_options: { include_usage: true },
    temperature,
    max_tokens: maxTokens,
    knowledge,
  };
  const response = await client.request('POST /v1/chat/completions', { body, signal });
  const answer: ChatAnswer = { text: '', model: '', finishReason: null, usage: null, citations: [], unindexed: undefined };
  try {
    for await (const events of response.body === null ? [] : readEvents(response.body))
      for (const { data } of events) {
        if (data === '[DONE]') return answer;
        take(parseChunk(data), answer, listener);
      }
  } catch (error) {
    throw signal.aborted || error instanceof CliError ? error : brokenOff(error);
  }
  if (answer.finishReason !== null) return answer;
  throw brokenOff();
}

function brokenOff(cause?: unknown): CliError {
  if (!isLate(cause))
    return new CliError('failed', 'stream_cut', 'the answer broke off', 'see the log of the server, then ask again', cause);
  const remedy = 'see `svc status` for what the server works on, then ask again or ask for less';
  return new CliError(
    'failed',
    'late',
    'the rest of the answer is late: nothing more of it has come for five minutes',
    remedy,
    cause,
  );
}

function take(chunk: Chunk, answer: ChatAnswer, listener: ChatListener): void {
  // A failure after the stream opened comes inside a frame, under either name.
  if (chunk.error !== undefined || chunk.detail !== undefined) {
    const sentence = printable(sentenceOf(chunk) ?? 'no reason given');
    throw new CliError('failed', 'stream_error', `the server failed: ${sentence}`, 'see the log of the server');
  }
  answer.model = chunk.model ?? answer.model;
  answer.usage = chunk.usage ?? answer.usage;
  answer.citations = chunk.citations ?? answer.citations;
  answer.unindexed = chunk.unindexed ?? answer.unindexed;
  const [choice] = chunk.choices ?? [];
  answer.finishReason = choice?.finish_reason ?? answer.finishReason;
  if (choice?.delta?.reasoning_content) listener.onThought?.(choice.delta.reasoning_content);
  const text = choice?.delta?.content;
  if (!text) return;
  answer.text += text;
  listener.onText(text);
}

function parseChunk(data: string): Chunk {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value;
  } catch (cause) {
    throw new CliError(
      'failed',
      'stream_error',
      'the server sent something that is no JSON',
      'is that address really a chat server?',
      cause,
    );
  }
  return {};
}
