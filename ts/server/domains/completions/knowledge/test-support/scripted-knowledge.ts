/** A knowledge base of one passage, of which every `[1]` is a right citation, and no other number is. */
import type {
  AnswerFilter,
  Citation,
  CitationMark,
  InputFile,
  KnowledgeContext,
  KnowledgePort,
  KnowledgeQuestion,
} from '../../../data/index.ts';

export const PASSAGE = 'Mira Doll keeps it.';

const citation: Citation = {
  n: 1,
  namespace: 'kb',
  documentId: 'd',
  fileId: 'file-d',
  source: 'a.pdf',
  page: 2,
  sheet: undefined,
  slide: undefined,
  startSeconds: undefined,
  endSeconds: undefined,
  start: 5,
  end: 24,
  text: PASSAGE,
  score: 0.9,
  url: '/d',
};

class NumberFilter implements AnswerFilter {
  readonly marks: CitationMark[] = [];
  readonly unsupported = [];
  #passed = '';
  #held = '';

  push(piece: string): string {
    this.#held += piece;
    const open = this.#held.lastIndexOf('[');
    const end = open >= 0 && !this.#held.includes(']', open) ? open : this.#held.length;
    return this.#pass(end);
  }

  end(): string {
    return this.#pass(this.#held.length);
  }

  conclude(): string {
    return this.end();
  }

  #pass(end: number): string {
    const text = this.#held.slice(0, end).replace(/\[[02-9]\]/g, '');
    this.#held = this.#held.slice(end);
    for (const { index } of text.matchAll(/\[1\]/g))
      this.marks.push({ n: 1, start: this.#passed.length + index, end: this.#passed.length + index + 3 });
    this.#passed += text;
    return text;
  }
}

export const scriptedContext: KnowledgeContext = {
  instruction: 'Cite.',
  passages: `<passage id="1">\n${PASSAGE}\n</passage>`,
  query: 'Who keeps it?',
  found: [{ fileId: 'file-d', fileName: 'a.pdf', score: 0.9, text: PASSAGE, attributes: { year: 1893 } }],
  unindexed: { count: 0, files: [] },
  ownWords: (answer) => answer.replace(' Quoted.', ''),
  fit: async () => scriptedContext,
  withoutTools: () => scriptedContext,
  silences: () => false,
  newFilter: () => new NumberFilter(),
  citationsOf: ({ marks }) => ({ citations: marks.length > 0 ? [citation] : [], marks }),
};

export interface ScriptedKnowledge extends KnowledgePort {
  readonly asked: KnowledgeQuestion[];
  readonly read: InputFile[];
}

export function scriptedKnowledge(context: Partial<KnowledgeContext> = {}): ScriptedKnowledge {
  const asked: KnowledgeQuestion[] = [];
  const read: InputFile[] = [];
  return {
    asked,
    read,
    consult: async (_, question) => {
      asked.push(question);
      const made: KnowledgeContext = { ...scriptedContext, fit: async () => made, withoutTools: () => made, ...context };
      return made;
    },
    nearness: async () => ({ names: ['kb'], cosines: [] }),
    admit: async () => {},
    reaches: async () => true,
    holdsFiles: async () => true,
    eraseFiles: async () => {},
    readFile: async (_, file) => {
      read.push(file);
      return { fileName: file.fileName ?? 'a.txt', text: 'The text of the file.' };
    },
  };
}
