/** The body of an ingest, and the members that others share with it. Worker threads read it, so what is imported here is pure. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { MAX_SOURCE, MAX_TAG, MAX_TAGS, MAX_TITLE } from '../limits.ts';

/** No slash, since it stands in paths; nothing that cannot be seen. */
export const NAMESPACE_PATTERN = '^[^\\s/\\\\\\p{C}]([^/\\\\\\p{C}]{0,126}[^\\s/\\\\\\p{C}])?$';

export const Tenant = Type.String({ minLength: 1, maxLength: 128, description: 'The caller’s own tenant.' });
export const Namespace = Type.String({
  pattern: NAMESPACE_PATTERN,
  description: 'Name of the knowledge base, 1 to 128 characters without slashes.',
});
export const Source = Type.String({
  minLength: 1,
  maxLength: MAX_SOURCE,
  pattern: '\\S',
  description: 'Where the text is from: a file name, an address.',
});
const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE });
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: MAX_TAG }), { maxItems: MAX_TAGS });

export const IngestText = named(
  'IngestText',
  Type.Object({
    tenant: Tenant,
    namespace: Namespace,
    text: Type.String({ description: 'At least 20 characters.' }),
    source: Source,
    title: Type.Optional(Title),
    tags: Type.Optional(Tags),
    date: Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description: 'Of the document; default: now.' })),
    format: Type.Optional(Type.Enum(['text', 'markdown'], { description: 'Default: by the end of `source`.' })),
    embedding_model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Refused when the knowledge base has another one.' }),
    ),
  }),
);

export type IngestText = Static<typeof IngestText>;
