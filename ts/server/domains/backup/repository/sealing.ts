/** How the bytes of a backup folder are protected: with a key that a passphrase opens, or not at all. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { damaged } from '../errors.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealing {
  /** Tells which key it is; undefined: nothing is encrypted. */
  readonly keyId: string | undefined;
  /** The name of content: 64 hexadecimal digits. With a key it cannot be guessed from the content. */
  nameOf(bytes: Uint8Array): string;
  /** `context` says what the bytes are: they open as nothing else. */
  seal(bytes: Uint8Array, context: string): Buffer;
  /** Throws `backup_damaged`. */
  open(sealed: Uint8Array, context: string): Buffer;
}

export const PLAIN: Sealing = {
  keyId: undefined,
  nameOf: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  // A checksum: damage is found, but whoever may write into the folder can write another one.
  seal: (bytes, context) => Buffer.concat([checksum(bytes, context), bytes]),
  open: (sealed, context) => {
    const bytes = Buffer.from(sealed.subarray(32));
    if (sealed.length >= 32 && checksum(bytes, context).equals(sealed.subarray(0, 32))) return bytes;
    throw damaged(`The ${context} was changed or cut off.`);
  },
};

function checksum(bytes: Uint8Array, context: string): Buffer {
  return createHash('sha256').update(context).update('\0').update(bytes).digest();
}

/** AES-256-GCM with a random nonce each. `master` has 32 bytes. */
export function sealingWith(master: Uint8Array): Sealing {
  const key = derive(master, 'encrypt');
  const nameKey = derive(master, 'name');
  return {
    keyId: derive(master, 'id').toString('hex').slice(0, 16),
    nameOf: (bytes) => createHmac('sha256', nameKey).update(bytes).digest('hex'),
    seal: (bytes, context) => encrypt(key, bytes, context),
    open: (sealed, context) => {
      try {
        return decrypt(key, sealed, context);
      } catch (cause) {
        throw damaged(`The ${context} was changed or cut off.`, cause);
      }
    },
  };
}

function derive(master: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', master).update(`svc backup ${purpose}`).digest();
}

export function encrypt(key: Uint8Array, bytes: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = [nonce, cipher.update(bytes), cipher.final()];
  return Buffer.concat([...sealed, cipher.getAuthTag()]);
}

/** Throws when the key or the context is another one, or a byte was changed. */
export function decrypt(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('too short to be sealed');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}
