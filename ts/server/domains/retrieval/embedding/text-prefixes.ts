/**
 * What models want to stand before a question and before a passage: they were trained with it, and without it their similarities blur. Told by the
 * names of their families, as their cards write them. Sources: the models' cards on their hub.
 */
export interface TextPrefixes {
  readonly query: string;
  readonly passage: string;
}

const NONE: TextPrefixes = { query: '', passage: '' };

interface PrefixFamily extends TextPrefixes {
  readonly names: RegExp;
}

const RETRIEVE = 'Represent this sentence for searching relevant passages: ';

/** Stored with what was embedded: a name keeps its meaning. The first that fits a model's name counts. */
const FAMILIES: Readonly<Record<string, PrefixFamily>> = {
  'e5-instruct': {
    names: /(?:^|[^a-z0-9])e5(?:[-_][a-z0-9]+)*[-_]instruct/,
    query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ',
    passage: '',
  },
  e5: { names: /(?:^|[^a-z0-9])e5(?![a-z0-9])/, query: 'query: ', passage: 'passage: ' },
  nomic: { names: /nomic-embed-text/, query: 'search_query: ', passage: 'search_document: ' },
  'bge-en': { names: /bge-(?:small|base|large)-en/, query: RETRIEVE, passage: '' },
  mxbai: { names: /mxbai-embed/, query: RETRIEVE, passage: '' },
  'arctic-2': { names: /arctic-embed(?:-[a-z]+)?-v2/, query: 'query: ', passage: '' },
  arctic: { names: /arctic-embed/, query: RETRIEVE, passage: '' },
  qwen3: {
    names: /qwen3-embedding/,
    query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
    passage: '',
  },
  gemma: { names: /embedding-?gemma/, query: 'task: search result | query: ', passage: 'title: none | text: ' },
};

/** What models without a family are embedded with: their texts alone. */
export const NO_PREFIXES = 'none';

/** @param names of one model: its id, and what its file calls it. */
export function prefixFamilyOf(...names: readonly (string | undefined)[]): string {
  for (const name of names) {
    const plain = name?.toLowerCase().replaceAll(/[\s_]/g, '-') ?? '';
    const found = Object.entries(FAMILIES).find(([, { names: pattern }]) => pattern.test(plain));
    if (found !== undefined) return found[0];
  }
  return NO_PREFIXES;
}

/** @param family as it was stored; undefined: before there were any. */
export function prefixesOf(family: string | undefined): TextPrefixes {
  return FAMILIES[family ?? NO_PREFIXES] ?? NONE;
}
