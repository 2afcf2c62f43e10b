/** Documents of several knowledge bases, page by page. */
import t from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import { CallerDocuments } from './caller-documents.ts';

const documents = ['doc_1', 'doc_2', 'doc_3'].map((id) => ({ id, source: `${id}.txt` }));

/** The text of a document comes in stretches that overlap, and with a gap of white space before the last one. */
const stretches = [
  { start: 0, text: 'The tower ', next: 1 },
  { start: 4, text: 'tower is open', next: 2 },
  { start: 19, text: 'daily.', next: undefined },
];

const service = {
  list: async () => ['legal', 'secret', 'handbook'].map((namespace) => ({ namespace })),
  listDocuments: async (_scope: unknown, _namespace: string, { limit, after = '' }: { limit: number; after?: string }) =>
    documents.filter(({ id }) => id > after).slice(0, limit),
  getDocument: async (_scope: unknown, _namespace: string, id: string) => {
    if (id === 'none') throw new DomainError('document_not_found', 'There is no such document.');
    return { no: 1 };
  },
  readText: async (_scope: unknown, _document: unknown, from: number) => stretches[from],
};
const access = {
  usable: async (_caller: unknown, bases: { namespace: string }[]) => bases.filter(({ namespace }) => namespace !== 'secret'),
  scopeFor: async (_caller: unknown, _tenant: string, namespace: string) => {
    if (namespace === 'secret') throw new DomainError('namespace_not_found', 'There is no such base.');
  },
};
const all = new CallerDocuments(service as never, access as never);

t.test('pages of any size hold each document of the usable bases once, in order', async (t) => {
  const expected = ['handbook', 'legal'].flatMap((namespace) => documents.map(({ id }) => `${namespace}/${id}`));
  for (const limit of [1, 2, 3, 4, 6, 100]) {
    const found: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await all.list(ANONYMOUS, cursor, limit);
      t.ok(page.documents.length <= limit);
      found.push(...page.documents.map(({ namespace, document }) => `${namespace}/${document.id}`));
      cursor = page.next;
    }
    t.strictSame(found, expected, `${limit} a page`);
  }
  t.equal((await all.list(ANONYMOUS, 'no cursor', 100)).documents.length, expected.length);
});

t.test('the text is put together, and what the caller may not read is not there', async (t) => {
  t.equal(await all.read(ANONYMOUS, 'handbook', 'doc_1'), 'The tower is open\n\ndaily.');
  t.equal(await all.read(ANONYMOUS, 'secret', 'doc_1'), undefined);
  t.equal(await all.read(ANONYMOUS, 'handbook', 'none'), undefined);
});
