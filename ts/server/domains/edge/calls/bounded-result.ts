/** The result of a tool, cut to what a model reads. A longer one is kept as an artifact of the caller's. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import { type ConversationsApi, MAX_ARTIFACT_LENGTH, ownerOf } from '../../conversations/index.ts';

const MAX_RESULT_BYTES = 64 * 1024;

interface BoundedResult {
  /** The value itself, or the beginning of its text. */
  readonly value: unknown;
  /** Ids of artifacts. */
  readonly artifacts: readonly string[];
}

interface Returned {
  readonly tool: string;
  readonly value: unknown;
  readonly caller: Principal;
  readonly conversation: string | undefined;
}

export async function boundResult(
  { tool, value, caller, conversation }: Returned,
  artifacts: ConversationsApi['artifacts'],
): Promise<BoundedResult> {
  const text = JSON.stringify(value ?? null);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= MAX_RESULT_BYTES) return { value: JSON.parse(text), artifacts: [] };
  const artifact = await keepText(artifacts, { tool, text, caller, conversation });
  // A character that the limit falls into is left out.
  const beginning = Buffer.from(text)
    .subarray(0, MAX_RESULT_BYTES)
    .toString()
    .replace(/\uFFFD$/, '');
  return {
    value: { is_cut: true, size_bytes: sizeBytes, beginning, artifact: artifact ?? null },
    artifacts: artifact === undefined ? [] : [artifact],
  };
}

interface KeptText extends Omit<Returned, 'value'> {
  readonly text: string;
}

/** Undefined: the caller has no space for it. What the tool did is done, and its beginning is answered all the same. */
async function keepText(
  artifacts: ConversationsApi['artifacts'],
  { tool, text, caller, conversation }: KeptText,
): Promise<string | undefined> {
  try {
    const content = text.slice(0, MAX_ARTIFACT_LENGTH).toWellFormed();
    const about = { title: tool, kind: 'code', language: 'json', conversationId: conversation } as const;
    const { artifact } = await artifacts.create(ownerOf(caller), { ...about, content });
    return artifact.id;
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
