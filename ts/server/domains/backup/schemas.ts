/** Shapes of the module's routes. */
import Type, { type Static } from 'typebox';
import { named } from '../../platform/schema/named.ts';
import type { Manifest, ManifestHead } from './repository/manifest.ts';

export const Backup = named(
  'Backup',
  Type.Object({
    id: Type.String(),
    created_at: Type.String({ description: 'ISO 8601.' }),
    version: Type.String({ description: 'Of svc, when it was made.' }),
    encrypted: Type.Boolean(),
    key_id: Type.Union([Type.String(), Type.Null()], { description: 'Of the key that it is encrypted with.' }),
    size_bytes: Type.Integer({ description: 'Of all its files.' }),
    stored_bytes: Type.Integer({
      description: 'What the destination grew by; less when an earlier backup has the same content.',
    }),
  }),
);

export const BackupDetails = named(
  'BackupDetails',
  Type.Intersect([
    Backup,
    Type.Object({
      database: Type.Enum(['sqlite', 'postgres'], { description: 'What the node had; a backup goes into either.' }),
      tables: Type.Record(Type.String(), Type.Integer(), { description: 'Rows by table.' }),
      files: Type.Array(Type.Object({ path: Type.String(), size_bytes: Type.Integer(), sha256: Type.String() })),
    }),
  ]),
);

export const BackupId = Type.Object({ id: Type.String({ maxLength: 60, description: 'Id of a backup.' }) });
export const Started = named(
  'BackupStarted',
  Type.Object({ job_id: Type.String({ description: 'Follow it below /api/v1/system/jobs.' }) }),
);
export const RestoreRequest = named(
  'RestoreRequest',
  Type.Object({
    id: Type.String({ minLength: 1, maxLength: 60, description: 'Id of a backup, or latest.' }),
    confirm: Type.Literal(true, { description: 'What the node holds now is replaced.' }),
  }),
);
export const Restoring = named(
  'RestoreStarted',
  Type.Object({
    job_id: Started.properties.job_id,
    backup: Type.String({ description: 'Its id.' }),
    next: Type.String({ description: 'What happens, as a sentence.' }),
  }),
);
export const FOLDER =
  'An absolute path on the machine of the node, s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, or sftp://USER@HOST:PORT/FOLDER. ' +
  'It holds no password or key: those are in files that settings name.';
export const Destination = named(
  'BackupDestination',
  Type.Object({
    folder: Type.String({ description: FOLDER }),
    kind: Type.Enum(['folder', 's3', 'sftp']),
    encrypted: Type.Union([Type.Boolean(), Type.Null()], { description: 'null: it holds no backups yet.' }),
  }),
);

export const ScheduleShape = named(
  'BackupSchedule',
  Type.Object({
    hours: Type.Integer({ description: 'Between backups that the node makes by itself; 0: none.' }),
    keep: Type.Integer({ description: 'How many backups are kept; 0: all.' }),
    source: Type.Enum(['saved', 'settings'], { description: 'saved: it was set while the node ran, and survives a restart.' }),
    next_at: Type.Union([Type.String({ description: 'ISO 8601.' }), Type.Null()]),
  }),
);

export function toBackup({ id, created_at, version, key_id, size_bytes, stored_bytes }: ManifestHead): Static<typeof Backup> {
  return { id, created_at, version, encrypted: key_id !== null, key_id, size_bytes, stored_bytes };
}

export function toDetails(manifest: Manifest): Static<typeof BackupDetails> {
  const files = manifest.files.map(({ path, size_bytes, sha256 }) => ({ path, size_bytes, sha256 }));
  return { ...toBackup(manifest), database: manifest.database, tables: manifest.tables, files };
}
