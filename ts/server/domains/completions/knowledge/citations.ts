/** Citations of an answer on the wire: our own list, and OpenAI's annotations in the message. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import type { CheckedCitations, Citation, UnindexedFiles } from '../../data/index.ts';

const Place = Type.Optional(Type.Integer({ minimum: 1 }));

export const CitationShape = named(
  'Citation',
  Type.Object({
    n: Type.Integer({ description: 'The number that the answer has in square brackets.' }),
    namespace: Type.Optional(Type.String({ description: 'The knowledge base; absent for a file of the conversation.' })),
    conversation_id: Type.Optional(
      Type.String({ description: 'The conversation whose file it is: GET /api/v1/edge/conversations/files/{file_id} reads it.' }),
    ),
    document_id: Type.String(),
    source: Type.String(),
    page: Place,
    sheet: Type.Optional(Type.String()),
    slide: Place,
    start_seconds: Type.Optional(Type.Number({ description: 'When it is said in a recording.' })),
    end_seconds: Type.Optional(Type.Number()),
    start: Type.Integer({ description: 'Where the passage begins in the stored text of the document, UTF-16 code units.' }),
    end: Type.Integer(),
    text: Type.String({ description: 'The passage.' }),
    score: Type.Number(),
    unsupported: Type.Optional(
      Type.Array(
        Type.Object({
          text: Type.String(),
          start: Type.Integer({ description: 'In the text of the answer, UTF-16 code units.' }),
          end: Type.Integer(),
        }),
        {
          description:
            'Names, numbers, dates and units of the sentences that cite it which neither the passages that they cite nor the question say; absent: there are none.',
        },
      ),
    ),
  }),
);

export const AnnotationShape = named(
  'Annotation',
  Type.Object({
    type: Type.Literal('url_citation'),
    url_citation: Type.Object({
      start_index: Type.Integer(),
      end_index: Type.Integer(),
      url: Type.String({ description: 'The source where it is a web address, else the path of the document on this server.' }),
      title: Type.String(),
    }),
  }),
);

export const UnindexedShape = Type.Object({
  count: Type.Integer({ description: 'Of the knowledge bases that were asked.' }),
  files: Type.Array(
    Type.Object({
      namespace: Type.Optional(Type.String({ description: 'Absent for a file of the conversation.' })),
      document_id: Type.String(),
      source: Type.String(),
      detail: Type.String({ description: 'Why it is not indexed, and what to do.' }),
    }),
    { description: 'The first of them.' },
  ),
});

/** Empty where all files are indexed. */
export function unindexedMember({ count, files }: UnindexedFiles): { unindexed?: Static<typeof UnindexedShape> } {
  if (count === 0) return {};
  const shown = files.map(({ namespace, documentId, source, detail }) => ({
    ...(namespace === undefined ? {} : { namespace }),
    document_id: documentId,
    source,
    detail,
  }));
  return { unindexed: { count, files: shown } };
}

export interface WireCitations {
  readonly citations: Static<typeof CitationShape>[];
  readonly annotations: Static<typeof AnnotationShape>[];
}

export function wireCitations({ citations, marks }: CheckedCitations): WireCitations {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  const annotations = marks.flatMap(({ n, start, end }) => {
    const citation = byNumber.get(n);
    if (citation === undefined) return [];
    const place = { start_index: start, end_index: end, url: citation.url, title: citation.source };
    return [{ type: 'url_citation' as const, url_citation: place }];
  });
  return { citations: citations.map(toShape), annotations };
}

function toShape({
  n,
  namespace,
  conversationId,
  documentId,
  source,
  page,
  sheet,
  slide,
  startSeconds,
  endSeconds,
  start,
  end,
  text,
  score,
  unsupported,
}: Citation): Static<typeof CitationShape> {
  return {
    n,
    ...(namespace === undefined ? {} : { namespace }),
    ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
    document_id: documentId,
    source,
    ...(page === undefined ? {} : { page }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(slide === undefined ? {} : { slide }),
    ...(startSeconds === undefined ? {} : { start_seconds: startSeconds }),
    ...(endSeconds === undefined ? {} : { end_seconds: endSeconds }),
    start,
    end,
    text,
    score,
    ...(unsupported === undefined ? {} : { unsupported: unsupported.map((claim) => ({ ...claim })) }),
  };
}
