/** What one backup holds: files, each as a list of chunks. */
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { named } from '../../../platform/schema/named.ts';
import { damaged } from '../errors.ts';
import { CHUNK_BYTES } from './chunk-store.ts';

/** The time to the millisecond, so that backups sort by their age, and a random part. */
export const BACKUP_ID = /^\d{8}T\d{9}Z-[0-9a-f]{8}$/;
/** The database, whichever it was, as a SQLite file. */
export const DATABASE_PATH = 'database.sqlite';

const Size = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
const ManifestEntry = named(
  'ManifestEntry',
  Type.Object(
    {
      /** `database.sqlite`, `data/...` (inside data_dir) or `config/...`. */
      path: Type.String({ minLength: 1, maxLength: 1024 }),
      size_bytes: Size,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      chunks: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    },
    { additionalProperties: false },
  ),
);

/** What can be read without the passphrase. */
export const ManifestHead = Type.Object({
  format: Type.Literal('svc-backup-1'),
  id: Type.String({ pattern: BACKUP_ID.source }),
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]{8,12}Z$' }),
  /** Of svc. */
  version: Type.String({ maxLength: 60 }),
  key_id: Type.Union([Type.String({ pattern: '^[0-9a-f]{16}$' }), Type.Null()]),
  /** Of all files. */
  size_bytes: Size,
  /** What the folder grew by. */
  stored_bytes: Size,
});

const ManifestBody = named(
  'Manifest',
  Type.Object({
    database: Type.Enum(['sqlite', 'postgres']),
    /** Rows by table. */
    tables: Type.Record(Type.String({ maxLength: 200 }), Size),
    files: Type.Array(ManifestEntry, { minItems: 1, maxItems: 1_000_000 }),
  }),
);

export type ManifestEntry = Static<typeof ManifestEntry>;
export type ManifestHead = Static<typeof ManifestHead>;
export type ManifestBody = Static<typeof ManifestBody>;
export type Manifest = ManifestHead & ManifestBody;

const checkBody = compileLazily(ManifestBody);

/** Throws `backup_damaged` for a list that does not add up, or with a path that leads out of the folder it is restored into. */
export function readManifestBody(value: unknown): ManifestBody {
  if (!checkBody.Check(value)) throw damaged('The manifest is not what svc writes.');
  const paths = new Set<string>();
  for (const entry of value.files) {
    checkPath(entry.path);
    if (paths.has(entry.path)) throw damaged(`The manifest lists ${JSON.stringify(entry.path)} twice.`);
    paths.add(entry.path);
    if (entry.chunks.length !== Math.ceil(entry.size_bytes / CHUNK_BYTES))
      throw damaged(`The manifest gives ${JSON.stringify(entry.path)} a wrong number of chunks.`);
  }
  for (const path of paths) checkParents(path, paths);
  if (!paths.has(DATABASE_PATH)) throw damaged('The manifest lists no database.');
  return value;
}

/** Only plain names, below one of the two folders. */
function checkPath(path: string): void {
  if (path === DATABASE_PATH) return;
  const [top = '', ...names] = path.split('/');
  const isPlain = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[\\\p{Cc}]/u.test(name);
  if ((top === 'data' || top === 'config') && names.length > 0 && names.length <= 32 && names.every(isPlain)) return;
  throw damaged(`The manifest lists ${JSON.stringify(path.slice(0, 200))}, which is no path of a backup.`);
}

function checkParents(path: string, paths: ReadonlySet<string>): void {
  const names = path.split('/');
  for (let n = 1; n < names.length; n += 1)
    if (paths.has(names.slice(0, n).join('/'))) throw damaged(`The manifest lists ${JSON.stringify(path)} below another file.`);
}
