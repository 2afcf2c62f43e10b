/** Shapes of artifacts. */
import Type, { type Static } from 'typebox';
import { toWire } from '../../../platform/http/to-wire.ts';
import { named } from '../../../platform/schema/named.ts';
import { MAX_ARTIFACT_LENGTH, MAX_PAGE_ARTIFACTS, MAX_TITLE_LENGTH } from '../limits.ts';
import { ID_PATTERN, timeText } from '../schemas.ts';
import { ARTIFACT_KINDS, type Artifact, type ArtifactContent, type ArtifactDetail, type ArtifactShare } from './artifact.ts';

const Id = Type.String({ pattern: ID_PATTERN, description: '1 to 64 letters, digits, `_` and `-`.' });
/** In questions any text may come: one that is no id is not found. */
const GivenId = Type.String({ minLength: 1, maxLength: 200 });
const Time = Type.String({ format: 'date-time' });
const Title = Type.String({ maxLength: MAX_TITLE_LENGTH });
const Kind = Type.Enum([...ARTIFACT_KINDS]);
const Language = Type.String({ maxLength: 50 });
const Content = Type.String({ minLength: 1, maxLength: MAX_ARTIFACT_LENGTH });
const VersionNumber = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Counted from 1.' });
const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const ArtifactParams = Type.Object({ id: Type.String() });
export const ShareParams = Type.Object({ share: Type.String() });

export const ListQuery = Type.Object({
  conversation_id: Type.Optional(GivenId),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_ARTIFACTS, default: MAX_PAGE_ARTIFACTS })),
  after: Type.Optional(Type.String({ maxLength: 100 })),
});
export const VersionQuery = Type.Object({ version: Type.Optional(VersionNumber) });

export const CreateArtifact = named(
  'CreateArtifact',
  Type.Object({
    id: Type.Optional(Id),
    title: Title,
    kind: Kind,
    language: Type.Optional(Language),
    content: Content,
    conversation_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'It is erased with this one.' })),
    message_id: Type.Optional(Id),
  }),
);
export const CreateVersion = named('CreateVersion', Type.Object({ content: Content, message_id: Type.Optional(Id) }));
export const ShareArtifact = named(
  'ShareArtifact',
  Type.Object({ id: GivenId, version: Type.Optional(VersionNumber) }, { additionalProperties: false }),
);

export const ArtifactShape = named(
  'Artifact',
  Type.Object({
    id: Id,
    title: Title,
    kind: Kind,
    language: nullable(Language),
    conversation_id: nullable(Type.String()),
    last_version: VersionNumber,
    created_at: Time,
    updated_at: Time,
  }),
);
export const ArtifactList = named(
  'ArtifactList',
  Type.Object({
    data: Type.Array(ArtifactShape),
    next: Type.Optional(Type.String({ description: 'Pass it as `after` for the next page; absent on the last one.' })),
  }),
);
const VersionShape = named(
  'ArtifactVersion',
  Type.Object({ version: VersionNumber, message_id: nullable(Type.String()), created_at: Time }),
);
export const ArtifactShareShape = named(
  'ArtifactShare',
  Type.Object({
    share: Type.String({ description: 'Whoever of the tenant has it may read.' }),
    version: VersionNumber,
    path: Type.String({ description: 'Of the page that shows it.' }),
    created_at: Time,
  }),
);
export const SharedArtifactShape = named(
  'SharedArtifact',
  Type.Object({
    ...ArtifactShape.properties,
    version: VersionNumber,
    content: Type.String(),
  }),
);
export const ArtifactDetailShape = named(
  'ArtifactDetail',
  Type.Object({
    ...SharedArtifactShape.properties,
    versions: Type.Array(VersionShape),
    shares: Type.Array(ArtifactShareShape),
  }),
);

export const toArtifactShape: (artifact: Artifact) => Static<typeof ArtifactShape> = toWire;

export function toContentShape(artifact: Artifact, shown: ArtifactContent): Static<typeof SharedArtifactShape> {
  return { ...toArtifactShape(artifact), version: shown.version, content: shown.content };
}

export function toDetailShape({ artifact, shown, versions, shares }: ArtifactDetail): Static<typeof ArtifactDetailShape> {
  return {
    ...toContentShape(artifact, shown),
    versions: versions.map(toWire),
    shares: shares.map(toArtifactShareShape),
  };
}

export function toArtifactShareShape({ id, version, createdAt }: ArtifactShare): Static<typeof ArtifactShareShape> {
  return { share: id, version, path: `/chat#a=${id}`, created_at: timeText(createdAt) };
}
