/**
 * A key of this node, in a file of data_dir that only the server's account can read (mode 0600), with which secrets are encrypted before they are
 * stored. Whoever has a copy of the database, or reads it over the network, has none of the secrets; whoever has data_dir has both.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { moveIntoPlace } from '../files/atomic-file.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SHAPE = /^svc-sealing-key-1 ([\w-]{12}) ([\w-]{43})\n$/;

export class SealingKey {
  /** Tells which node's key a secret was sealed with. */
  readonly id: string;
  readonly #key: Buffer;

  private constructor(id: string, key: Buffer) {
    this.id = id;
    this.#key = key;
  }

  /** Makes the file when there is none. Throws with a remedy when it cannot be read or is damaged. */
  static async open(path: string): Promise<SealingKey> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return make(path);
    const [, id, key] = SHAPE.exec(text) ?? [];
    if (id !== undefined && key !== undefined) return new SealingKey(id, Buffer.from(key, 'base64url'));
    throw new Error(
      `${path} is damaged, so what was sealed with it cannot be read: restore it from a backup, or move it away to begin with a new key`,
    );
  }

  /** `context` says what the secret is and whose: it opens nowhere else. */
  seal(secret: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Throws when it was sealed with another key or for another context, or was changed. */
  unseal(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed secret is cut off');
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
  }

  /** The text of the key's file. */
  static newText(): string {
    return `svc-sealing-key-1 ${randomBytes(9).toString('base64url')} ${randomBytes(KEY_BYTES).toString('base64url')}\n`;
  }
}

async function make(path: string): Promise<SealingKey> {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(SealingKey.newText());
    await file.sync();
  } finally {
    await file.close();
  }
  await moveIntoPlace(temporary, path);
  return SealingKey.open(path);
}
