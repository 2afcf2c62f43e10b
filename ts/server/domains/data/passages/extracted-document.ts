/** What extraction makes of a file, whatever its kind: blocks in reading order. */
import Type, { type Static } from 'typebox';

export const BLOCK_TYPES = ['heading', 'paragraph', 'table-row', 'code', 'note'] as const;

const Place = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

export const Block = Type.Object({
  text: Type.String(),
  type: Type.Enum([...BLOCK_TYPES]),
  /** Of a heading, from 1. */
  level: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
  /** Counted from 1. */
  page: Type.Optional(Place),
  /** Its name. */
  sheet: Type.Optional(Type.String()),
  /** Counted from 1. */
  slide: Type.Optional(Place),
});

export type Block = Static<typeof Block>;

export interface ExtractedDocument {
  /** What the file is: `text`, `markdown`, `pdf`. */
  readonly kind: string;
  readonly title?: string;
  readonly blocks: readonly Block[];
  /** Sentences about what was left out of it. */
  readonly warnings?: readonly string[];
}
