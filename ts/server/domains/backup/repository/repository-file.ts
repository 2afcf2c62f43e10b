/** `repository.json`, which makes a folder one of backups, and what opens its key: a passphrase, keys of age, or either. */
import { randomBytes, randomUUID, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { damaged } from '../errors.ts';
import { sealFor } from './age-keys.ts';
import { decrypt, encrypt } from './sealing.ts';

/** The largest costs that are accepted come to 512 MiB: a foreign file must not take the memory of the node. */
const Scrypt = Type.Object({
  kdf: Type.Literal('scrypt'),
  n: Type.Enum([2 ** 14, 2 ** 15, 2 ** 16, 2 ** 17, 2 ** 18, 2 ** 19]),
  r: Type.Literal(8),
  p: Type.Literal(1),
  salt: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  /** The folder's own key, sealed with what scrypt makes of the passphrase. */
  sealed_key: Type.String({ pattern: '^[A-Za-z0-9_-]{80}$' }),
});

const Age = Type.Object({
  kdf: Type.Literal('age'),
  recipients: Type.Array(Type.String({ pattern: '^age1[02-9ac-hj-np-z]{58}$' }), { minItems: 1, maxItems: 20 }),
  /** A file of age for all of them, in base64: it holds the folder's own key. */
  sealed_key: Type.String({ pattern: '^[A-Za-z0-9+/=]{100,8000}$' }),
  passphrase: Type.Optional(Scrypt),
});

const RepositoryFile = Type.Object({
  format: Type.Literal('svc-backups-1'),
  id: Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }),
  encryption: Type.Union([Scrypt, Age, Type.Null()]),
});
const check = compileLazily(RepositoryFile);
const stretch = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

export type RepositoryFile = Static<typeof RepositoryFile>;
type PassphraseBox = Static<typeof Scrypt>;

const COST = { n: 2 ** 16, r: 8, p: 1 } as const;

interface Protection {
  readonly passphrase: string | undefined;
  /** Public keys of age. */
  readonly recipients: readonly string[];
}

/** With the folder's new key; undefined: nothing protects it. */
export async function newRepositoryFile(by: Protection): Promise<{ file: RepositoryFile; key: Buffer | undefined }> {
  const id = randomUUID();
  const isProtected = by.passphrase !== undefined || by.recipients.length > 0;
  const key = isProtected ? randomBytes(32) : undefined;
  return { file: await repositoryFile(id, key, by), key };
}

/** The same folder, opened by others. */
export async function repositoryFile(
  id: string,
  key: Uint8Array | undefined,
  { passphrase, recipients }: Protection,
): Promise<RepositoryFile> {
  const format = 'svc-backups-1';
  if (key === undefined) return { format, id, encryption: null };
  const box = passphrase === undefined ? undefined : await passphraseBox(id, key, passphrase);
  if (recipients.length === 0) return { format, id, encryption: box ?? null };
  const sealed = (await sealFor(recipients, key)).toString('base64');
  const encryption = { kdf: 'age', recipients: [...recipients], sealed_key: sealed, ...(box && { passphrase: box }) } as const;
  return { format, id, encryption: encryption as RepositoryFile['encryption'] };
}

/** Throws `backup_damaged` for what is no such file. */
export function parseRepositoryFile(text: string): RepositoryFile {
  try {
    const file = JSON.parse(text) as unknown;
    if (check.Check(file)) return file;
  } catch {
    // Told below, like any other content that is none of this.
  }
  throw damaged('repository.json of the backup folder is not what svc writes.');
}

/** Undefined: the passphrase is another one. */
export async function openBox(id: string, box: PassphraseBox, passphrase: string): Promise<Buffer | undefined> {
  const key = await keyOf(passphrase, Buffer.from(box.salt, 'base64url'), box);
  try {
    return decrypt(key, Buffer.from(box.sealed_key, 'base64url'), id);
  } catch {
    return undefined;
  }
}

async function passphraseBox(id: string, key: Uint8Array, passphrase: string): Promise<PassphraseBox> {
  const salt = randomBytes(32);
  const sealed = encrypt(await keyOf(passphrase, salt, COST), key, id).toString('base64url');
  return { kdf: 'scrypt', ...COST, salt: salt.toString('base64url'), sealed_key: sealed };
}

function keyOf(passphrase: string, salt: Buffer, { n, r, p }: { n: number; r: number; p: number }): Promise<Buffer> {
  return stretch(passphrase.normalize('NFC'), salt, 32, { N: n, r, p, maxmem: 256 * n * r });
}
