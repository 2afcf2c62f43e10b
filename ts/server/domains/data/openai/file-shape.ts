/** Files on the wire. Source: OpenAI API reference, Files. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { PURPOSES } from '../../files/index.ts';
import type { ShownFile } from '../vector-stores/file-service.ts';
import { seconds } from './list-page.ts';

export const FileShape = named(
  'StoredFile',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('file'),
    bytes: Type.Integer(),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    expires_at: Type.Optional(Type.Integer({ description: 'Unix seconds; absent: it stays.' })),
    filename: Type.String(),
    purpose: Type.Enum([...PURPOSES]),
    status: Type.Literal('processed'),
  }),
);

export const DeletedFile = named(
  'DeletedFile',
  Type.Object({ id: Type.String(), object: Type.Literal('file'), deleted: Type.Literal(true) }),
);

export function toFileShape({ id, sizeBytes, createdAt, expiresAt, fileName, purpose }: ShownFile): Static<typeof FileShape> {
  return {
    id,
    object: 'file',
    bytes: sizeBytes,
    created_at: seconds(createdAt),
    ...(expiresAt === undefined ? {} : { expires_at: seconds(expiresAt) }),
    filename: fileName,
    purpose,
    status: 'processed',
  };
}
