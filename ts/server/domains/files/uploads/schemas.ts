/** Shapes of the chunked upload. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { MAX_NAMESPACE_LENGTH, MAX_SOURCE_LENGTH } from './given-file.ts';
import type { Upload } from './upload.ts';

const Id = Type.String({ minLength: 1, maxLength: 100 });

export const InitBody = named(
  'StartUpload',
  Type.Object(
    {
      upload_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Of an upload that began: asks what has arrived, and nothing else is needed.',
        }),
      ),
      filename: Type.Optional(
        Type.String({ minLength: 1, maxLength: 4096, description: 'Only the last part of a path is kept.' }),
      ),
      size: Type.Optional(Type.Integer({ minimum: 1, description: 'Bytes.' })),
      sha256: Type.Optional(
        Type.String({ minLength: 64, maxLength: 64, description: 'Of the whole file; verified when it is finalized.' }),
      ),
      tenant: Type.Optional(Type.String({ maxLength: 128, description: 'The caller’s own, which is the default.' })),
      namespace: Type.Optional(
        Type.String({ minLength: 1, maxLength: MAX_NAMESPACE_LENGTH, description: 'The knowledge base.' }),
      ),
      purpose: Type.Optional(
        Type.Literal('media', {
          description: 'A recording or film for the routes of media: it is stored as a file, and `namespace` is left out.',
        }),
      ),
      source: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: MAX_SOURCE_LENGTH,
          description: 'What citations name; the file name by default.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

export const InitShape = named(
  'ChunkedUpload',
  Type.Object({
    upload_id: Id,
    chunk_size: Type.Integer({ description: 'Bytes of each chunk but the last.' }),
    expires_at: Type.String({ format: 'date-time' }),
    received: Type.Array(Type.Integer(), { description: 'Indexes of chunks that are on disk, from 0.' }),
    size: Type.Integer(),
    filename: Type.String(),
  }),
);

export const ChunkShape = named('UploadChunk', Type.Object({ upload_id: Id, index: Type.Integer(), sha256: Type.String() }));

/** The answer to the end of an upload with the purpose `media`. */
export const MediaUploadShape = named(
  'MediaUpload',
  Type.Object({
    file_id: Type.String(),
    bytes: Type.Integer(),
    kind: Type.Enum(['audio', 'video']),
    duration: Type.Number({ description: 'Seconds.' }),
  }),
);

export const FinalizeBody = named('FinalizeUpload', Type.Object({ upload_id: Id }, { additionalProperties: false }));

export function toInitShape(upload: Upload, received: number[]): Static<typeof InitShape> {
  return {
    upload_id: upload.id,
    chunk_size: upload.chunkBytes,
    expires_at: new Date(upload.expiresAtMs).toISOString(),
    received,
    size: upload.sizeBytes,
    filename: upload.fileName,
  };
}
