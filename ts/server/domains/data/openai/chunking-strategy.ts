/** How OpenAI's clients ask for files to be cut. Here all are cut alike. */
import Type, { type Static } from 'typebox';
import { knowledgeError } from '../errors.ts';

export const ChunkingStrategy = Type.Object({
  type: Type.Enum(['auto', 'static'], { description: 'Only auto: passages of about 1,200 characters that overlap by 150.' }),
  static: Type.Optional(Type.Object({ max_chunk_size_tokens: Type.Integer(), chunk_overlap_tokens: Type.Integer() })),
});

/** Throws `unsupported_parameter`. */
export function requireAutoChunking(strategy: Static<typeof ChunkingStrategy> | undefined, param = 'chunking_strategy'): void {
  if (strategy === undefined || strategy.type === 'auto') return;
  throw knowledgeError(
    'unsupported_parameter',
    `${param} must be auto: every document is cut into passages of about 1,200 characters that overlap by 150.`,
    { param },
  );
}
