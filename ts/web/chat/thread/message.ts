/** What a conversation holds, as the API has it. */
import type { Answer } from '../../api/call.ts';

export type Conversation = Answer<'GET /api/v1/edge/conversations'>['data'][number];
/** A conversation with its metadata, which lists leave out. */
export type WholeConversation = Answer<'POST /api/v1/edge/conversations'>;
export type Message = Answer<'GET /api/v1/edge/conversations/messages'>['data'][number];

export interface ToolCall {
  name: string;
  /** JSON text, as far as it has come. */
  args: string;
}

/** A passage that an answer stands on. */
export interface Citation {
  n: number;
  namespace?: string;
  /** The conversation whose file it stands in. */
  conversation_id?: string;
  document_id: string;
  source: string;
  page?: number;
  sheet?: string;
  slide?: number;
  /** The time in a recording at which it is said. */
  start_seconds?: number;
  end_seconds?: number;
  /** Where it stands in the document's stored text. */
  start?: number;
  end?: number;
  text: string;
  score?: number;
  /** What of the sentences that cite it the passage does not say. */
  unsupported?: UnsupportedSpan[];
}

/** From `start` to before `end` of the answer, UTF-16 code units. */
interface UnsupportedSpan {
  text: string;
  start: number;
  end: number;
}

/** What a question's `metadata` keeps beside its text. */
export interface QuestionFacts {
  /** Files that were added to the conversation for it. */
  files?: AttachedDocument[];
  /** Pictures for a model that sees, as data: addresses. */
  images?: string[];
}

interface AttachedDocument {
  name: string;
  /** A knowledge base; absent for a file of the conversation. */
  namespace?: string;
  document_id?: string;
  /** `stored`: it is kept, and no search finds it. */
  state: 'indexed' | 'stored';
  detail?: string;
}

/** A call of one of the node's own tools, in its last state. */
export interface ToolEvent {
  call_id: string;
  tool: string;
  arguments: unknown;
  state: string;
  approval_id?: string;
  asked_by?: string;
  result?: unknown;
}

/** Reads metadata, which other clients may have written. */
export function toolEventsOf(value: unknown): ToolEvent[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (each: Partial<ToolEvent> | null): each is ToolEvent =>
      typeof each === 'object' && typeof each?.call_id === 'string' && typeof each.tool === 'string',
  );
}

/** What an answer's `metadata` keeps beside its text. */
export interface AnswerFacts {
  reasoning?: string;
  tool_calls?: ToolCall[];
  /** Calls of the node's own tools. */
  tool_events?: ToolEvent[];
  finish_reason?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
  tokens_per_second?: number;
  /** Why it ended early: `stopped` by the reader, `broken` by a failure. */
  ended?: 'stopped' | 'broken';
  unindexed?: Unindexed;
}

/** Files of the knowledge bases that were asked which no search finds. */
export interface Unindexed {
  count: number;
  /** The first of them. */
  files: { source: string; detail: string }[];
}

export function factsOf(message: Message): AnswerFacts {
  const { incomplete, ...facts } = (message.metadata ?? {}) as AnswerFacts & { incomplete?: unknown };
  // The server says in its own words why it stored a part.
  return incomplete === undefined ? facts : { ended: incomplete === 'cancelled' ? 'stopped' : 'broken', ...facts };
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;

/** Metadata may come from other clients: what has not its shape is left out. */
export function questionFactsOf(message: Pick<Message, 'metadata'>): Required<QuestionFacts> {
  const { files, images } = (message.metadata ?? {}) as Record<string, unknown>;
  return {
    files: Array.isArray(files) ? files.filter(isDocument) : [],
    images: Array.isArray(images) ? images.filter((image) => typeof image === 'string' && PICTURE.test(image)) : [],
  };
}

function isDocument(value: unknown): value is AttachedDocument {
  if (typeof value !== 'object' || value === null) return false;
  const { name, namespace, detail, document_id: id } = value as Record<string, unknown>;
  const isText = (text: unknown): boolean => text === undefined || typeof text === 'string';
  return typeof name === 'string' && [namespace, detail, id].every(isText);
}

/** Undefined: it has not the shape. */
export function unindexedOf(value: unknown): Unindexed | undefined {
  const { count, files } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(count) || !Array.isArray(files)) return undefined;
  const known = files.filter((file) => typeof file?.source === 'string' && typeof file.detail === 'string');
  return { count: count as number, files: known };
}

/** Citations come from a file or a model: what has not their shape is left out. */
export function citationsOf(values: readonly unknown[] | undefined): Citation[] {
  return (values ?? []).filter(isCitation);
}

function isCitation(value: unknown): value is Citation {
  if (typeof value !== 'object' || value === null) return false;
  const { n, source, text } = value as Partial<Citation>;
  return Number.isSafeInteger(n) && typeof source === 'string' && typeof text === 'string';
}

/** What has not its shape is left out. */
export function unsupportedOf({ unsupported }: Pick<Citation, 'unsupported'>): UnsupportedSpan[] {
  if (!Array.isArray(unsupported)) return [];
  return unsupported.filter((span) => typeof span?.text === 'string' && span.text !== '' && Number.isSafeInteger(span.start));
}

/** Ids are made here, so that a request that is sent again is stored once. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
