/** Shapes of the HTTP interface. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import { Namespace, Source, Tags, Tenant } from './ingest/ingest-body.ts';
import type { AddedDocument } from './ingest/ingestion.ts';
import type { KnowledgeBase, ListedBase, PassageResult, StoredDocument } from './knowledge-base.ts';
import { MAX_BASES, MAX_QUERY, MAX_TOP_K } from './limits.ts';
import { stateOf, warningsOf } from './stored-kinds.ts';

/** In questions any name may come: one that is none is not found. */
const AnyNamespace = Type.String({ minLength: 1, maxLength: 200 });
const Time = Type.String({ format: 'date-time', maxLength: 40 });
const Place = Type.Integer({ minimum: 1 });

export const TenantParams = Type.Object({ tenant: Type.String() });
export const BaseParams = Type.Object({ tenant: Type.String(), namespace: Type.String() });
export const DocumentParams = Type.Object({ tenant: Type.String(), namespace: Type.String(), id: Type.String() });

const BaseShape = named(
  'KnowledgeBase',
  Type.Object({
    namespace: Namespace,
    documents: Type.Integer(),
    chunks: Type.Integer({ description: 'Passages.' }),
    embedding_model: Type.String({ description: 'The model that embeds its documents and the questions; it never changes.' }),
    embedding_source: Type.Enum(['local', 'remote'], { description: 'remote: the service of data.embedding_url.' }),
    bytes: Type.Integer({ description: 'Of the documents’ text.' }),
    created_at: Time,
  }),
);

export const BaseList = named(
  'KnowledgeBaseList',
  Type.Object({
    data: Type.Array(
      Type.Object({
        ...BaseShape.properties,
        note: Type.Optional(
          Type.String({
            description: 'Where its documents were embedded in another way than the model wants: what to do about it.',
          }),
        ),
      }),
    ),
  }),
);

export const CreateBase = named(
  'CreateKnowledgeBase',
  Type.Object({
    namespace: Namespace,
    embedding_model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Default: data.embedding_model, or what is installed.' }),
    ),
  }),
);

const Note = Type.Optional(
  Type.String({
    description: 'Where the knowledge base was made by this request: what is to be known of the embedding model that was chosen.',
  }),
);

export const CreatedBase = named('CreatedKnowledgeBase', Type.Object({ ...BaseShape.properties, note: Note }));

export const RebuiltBase = named(
  'RebuiltKnowledgeBase',
  Type.Object({
    ...BaseShape.properties,
    rebuilding: Type.Boolean({
      description:
        'true: it goes on in the background, and the index that was there serves meanwhile. Asking again waits for it.',
    }),
  }),
);

const State = Type.Enum(['indexed', 'stored'], { description: 'stored: the file is kept, and no search finds it.' });
const Detail = Type.Optional(Type.String({ description: 'Why it is not indexed, and what to do.' }));
const Warnings = Type.Optional(
  Type.Array(Type.String(), {
    description: 'What of the file was not read, as pages without a text layer; absent where all was.',
  }),
);

export const DocumentShape = named(
  'Document',
  Type.Object({
    id: Type.String(),
    source: Type.String(),
    title: Type.Union([Type.String(), Type.Null()]),
    kind: Type.String({ description: 'text, markdown, or the kind of the file.' }),
    state: State,
    detail: Detail,
    warnings: Warnings,
    tags: Type.Array(Type.String()),
    date: Time,
    chunks: Type.Integer(),
    bytes: Type.Integer(),
    sha256: Type.String({ description: 'Of what was given, so that an unchanged file need not be sent again.' }),
    added_at: Time,
  }),
);

export const DocumentList = named(
  'DocumentList',
  Type.Object({
    data: Type.Array(DocumentShape),
    next: Type.Optional(Type.String({ description: 'Pass it as `after` for the next page; absent on the last one.' })),
  }),
);

export const DocumentDetail = named(
  'DocumentDetail',
  Type.Object({
    ...DocumentShape.properties,
    text: Type.String({ description: 'The stored text from the passage `from` on; places of passages count in the whole text.' }),
    text_start: Type.Integer({ description: 'Where this text begins in the whole one, UTF-16 code units.' }),
    next: Type.Optional(Type.Integer({ description: 'Pass it as `from` for more.' })),
  }),
);

export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 })),
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
});

export const TextQuery = Type.Object({
  from: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 })),
  around: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2 ** 31,
      description: 'In the place of `from`: a few passages around this place of the text, for a citation’s `start`.',
    }),
  ),
});

export const LeftoverList = named(
  'LeftoverList',
  Type.Object({
    data: Type.Array(
      Type.Object({
        document_id: Type.Union([Type.String(), Type.Null()]),
        chunks: Type.Integer(),
        marker: Type.Enum(['deleted_likely', 'undecidable'], {
          description: 'deleted_likely: the document was deleted. undecidable: nothing is known of it.',
        }),
      }),
    ),
  }),
);

export const Ingested = named(
  'Ingested',
  Type.Object({
    id: Type.String(),
    namespace: Type.String(),
    source: Type.String(),
    chunks: Type.Integer(),
    embedding_model: Type.String(),
    state: Type.Optional(State),
    detail: Detail,
    warnings: Warnings,
    note: Note,
  }),
);

export const IngestQueued = named(
  'IngestQueued',
  Type.Object({
    job_id: Type.String({ description: 'GET /api/v1/system/jobs/{id} shows it.' }),
    note: Note,
  }),
);

export const SearchRequest = named(
  'KnowledgeSearch',
  Type.Object({
    tenant: Tenant,
    namespace: Type.Union([AnyNamespace, Type.Array(AnyNamespace, { minItems: 1, maxItems: MAX_BASES })], {
      description: 'A knowledge base, or several that are searched together.',
    }),
    query: Type.String({ minLength: 1, maxLength: MAX_QUERY, pattern: '\\S' }),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TOP_K, default: 10 })),
    mode: Type.Optional(Type.Enum(['hybrid', 'lexical', 'dense'], { default: 'hybrid' })),
    sources: Type.Optional(Type.Array(Source, { minItems: 1, maxItems: 100, description: 'Only documents of these.' })),
    tags: Type.Optional(Tags),
    from: Type.Optional(
      Type.String({ format: 'date-time', maxLength: 40, description: 'Only documents of this date or later.' }),
    ),
    to: Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description: 'Only documents of an earlier date.' })),
  }),
);

export type SearchRequest = Static<typeof SearchRequest>;

export const SearchResults = named(
  'KnowledgeResults',
  Type.Object({
    results: Type.Array(
      Type.Object({
        id: Type.String(),
        document_id: Type.String(),
        namespace: Type.String(),
        text: Type.String(),
        source: Type.String(),
        score: Type.Number({ description: '0 to 1; comparable within one search.' }),
        relevance: Type.Number({ description: '0 to 1; comparable between searches.' }),
        title: Type.Optional(Type.String()),
        page: Type.Optional(Place),
        sheet: Type.Optional(Type.String()),
        slide: Type.Optional(Place),
        start_seconds: Type.Optional(Type.Number({ description: 'When it is said in a recording.' })),
        end_seconds: Type.Optional(Type.Number()),
        heading: Type.Optional(Type.String({ description: 'Headings that the passage stands below, joined by ` > `.' })),
        start: Type.Integer({ description: 'Where the passage begins in the stored text, UTF-16 code units.' }),
        end: Type.Integer(),
        lexical_score: Type.Optional(Type.Number({ description: 'BM25.' })),
        dense_score: Type.Optional(Type.Number({ description: 'Cosine.' })),
      }),
    ),
    answerable: Type.Boolean({
      description:
        'Whether a chat would answer from them with citations: by the question and its passages, whatever `relevance` each has.',
    }),
    took_ms: Type.Number(),
  }),
);

export function toBaseShape(base: KnowledgeBase & Partial<ListedBase>): Static<typeof BaseShape> {
  return {
    namespace: base.namespace,
    documents: base.nDocuments ?? 0,
    chunks: base.nChunks ?? 0,
    embedding_model: base.embeddingModel,
    embedding_source: base.embeddingSource,
    bytes: base.sizeBytes ?? 0,
    created_at: timeText(base.createdAt),
  };
}

export function toDocumentShape(document: StoredDocument): Static<typeof DocumentShape> {
  return {
    id: document.id,
    source: document.source,
    title: document.title ?? null,
    kind: document.kind,
    ...stateOf(document.kind),
    ...warningsOf(document.warnings),
    tags: [...document.tags],
    date: timeText(document.datedAt),
    chunks: document.nChunks,
    bytes: document.sizeBytes,
    sha256: document.sha256,
    added_at: timeText(document.changedAt),
  };
}

export function toIngested(document: AddedDocument): Static<typeof Ingested> {
  const { id, namespace, source, nChunks, embeddingModel, kind, warnings } = document;
  const made = { id, namespace, source, chunks: nChunks, embedding_model: embeddingModel };
  return { ...made, ...stateOf(kind), ...warningsOf(warnings) };
}

type ResultShape = Static<typeof SearchResults>['results'][number];

export function toResultShape(result: PassageResult): ResultShape {
  const { title, page, sheet, slide, startSeconds, endSeconds, heading, denseScore } = result;
  return {
    id: `${result.documentId}:${result.seq}`,
    document_id: result.documentId,
    namespace: result.namespace,
    text: result.text,
    source: result.source,
    score: rounded(result.score),
    relevance: rounded(result.relevance),
    ...(title === undefined ? {} : { title }),
    ...(page === undefined ? {} : { page }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(slide === undefined ? {} : { slide }),
    ...(startSeconds === undefined ? {} : { start_seconds: startSeconds }),
    ...(endSeconds === undefined ? {} : { end_seconds: endSeconds }),
    ...(heading === undefined ? {} : { heading }),
    start: result.start,
    end: result.end,
    ...(result.lexicalScore > 0 ? { lexical_score: rounded(result.lexicalScore) } : {}),
    ...(denseScore === undefined ? {} : { dense_score: rounded(denseScore) }),
  };
}

function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

/** A date beyond the range of dates is shown as the end of that range. */
function timeText(ms: number): string {
  return new Date(Math.max(-8.64e15, Math.min(8.64e15, ms))).toISOString();
}
