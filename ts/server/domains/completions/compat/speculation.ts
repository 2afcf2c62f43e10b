/** Members that steer speculative decoding, by llama.cpp's names -> the engine's options. */
import type { GenerationJob } from '../../../native/llama-shapes.ts';
import { nullableInteger, nullableString } from './nullable.ts';

const maxDraft = 64;

export const speculationMembers = {
  'speculative.n_max': nullableInteger(
    0,
    maxDraft,
    "Most tokens drafted at a time; 0 switches speculative decoding off. Lowers the server's inference.draft_max.",
  ),
  'speculative.type': nullableString(
    'Where drafts come from: none, ngram-simple (the text so far) or draft-simple (the draft model).',
    {
      enum: ['none', 'ngram-simple', 'draft-simple'],
    },
  ),
};

interface SpeculationMembers {
  'speculative.n_max'?: number | null | undefined;
  'speculative.type'?: string | null | undefined;
}

const sources: Record<string, NonNullable<GenerationJob['draftSource']>> = {
  none: 'none',
  'ngram-simple': 'ngram',
  'draft-simple': 'model',
};

export function readSpeculation(body: SpeculationMembers): {
  nDraftMax: number | null | undefined;
  draftSource: GenerationJob['draftSource'];
} {
  return { nDraftMax: body['speculative.n_max'], draftSource: sources[body['speculative.type'] ?? ''] };
}
