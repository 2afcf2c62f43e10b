/** What a job says beside its prompt and how it is sampled. */
import type { OptionTable, OptionValues } from './option.ts';

const mostTimeoutMs = 86_400_000 * 365;

export const jobOptions = {
  maxTokens: {
    kind: 'integer',
    type: 'int32_t',
    minimum: 1,
    maximum: 16_777_216,
    default: -1,
    help: 'Most tokens of one choice; absent: until the context is full.',
  },
  n: { kind: 'integer', type: 'int32_t', minimum: 1, maximum: 128, default: 1, help: 'Choices.' },
  topLogprobs: {
    kind: 'integer',
    type: 'int32_t',
    minimum: 0,
    maximum: 20,
    default: -1,
    help: 'Alternatives reported with each token; absent: no log probabilities.',
  },
  draftSource: {
    kind: 'choice',
    type: 'DraftSource',
    choices: { any: 'DraftSource::Any', none: 'DraftSource::None', ngram: 'DraftSource::Ngrams', model: 'DraftSource::Model' },
    default: 'any',
    help: "Where drafts come from: anywhere, nowhere, the job's own tokens, the draft model.",
  },
  nDraftMax: {
    kind: 'integer',
    type: 'uint32_t',
    minimum: 0,
    maximum: 64,
    help: "Lowers the engine's own limit.",
  },
  cachePrompt: { kind: 'boolean', default: true, help: 'Reuses cached prefixes of the prompt and leaves one behind.' },
  priority: {
    kind: 'integer',
    type: 'int32_t',
    minimum: -1000,
    maximum: 1000,
    default: 0,
    help: 'Higher runs first; 0 is normal.',
  },
  timeoutMs: {
    kind: 'integer',
    type: 'int64_t',
    minimum: 0,
    maximum: mostTimeoutMs,
    default: 0,
    help: 'Milliseconds from submit after which the job fails with deadline_exceeded; 0: none.',
  },
} as const satisfies OptionTable;

export type JobOptionValues = OptionValues<typeof jobOptions>;
