/** Small files of age with X25519 recipients (https://age-encryption.org/v1): a header that wraps the file's key for each, and one sealed chunk. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { newPrivateKey, publicBytesOf, sharedSecret } from './x25519.ts';

const VERSION = 'age-encryption.org/v1';
const FILE_KEY_BYTES = 16;
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;
/** A larger file has several chunks. */
const LARGEST_PLAIN = 64 * 1024;
const LARGEST_HEADER = 64 * 1024;
/** Of a wrapped key: the file's key is new for each file, and so is the key that wraps it. */
const WRAP_NONCE = Buffer.alloc(12);
/** Of the first chunk, which is the last one too. */
const ONLY_CHUNK = Buffer.from([...Buffer.alloc(11), 1]);

interface Stanza {
  args: readonly string[];
  body: Buffer;
}

/** `recipients`: public keys. Throws RangeError for more than 64 KiB, and where a recipient is no usable point. */
export function encryptFor(recipients: readonly Uint8Array[], plain: Uint8Array): Buffer {
  if (plain.length > LARGEST_PLAIN) throw new RangeError(`${plain.length} bytes are more than one chunk`);
  const fileKey = randomBytes(FILE_KEY_BYTES);
  const stanzas = recipients.map((recipient) => wrap(fileKey, recipient)).join('');
  const header = `${VERSION}\n${stanzas}---`;
  const nonce = randomBytes(NONCE_BYTES);
  const payload = seal(derive(fileKey, nonce, 'payload'), ONLY_CHUNK, plain);
  return Buffer.concat([Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`), nonce, payload]);
}

/** Undefined: not such a file, damaged, or none of the private keys opens it. */
export function decryptWith(identities: readonly KeyObject[], file: Uint8Array): Buffer | undefined {
  const bytes = Buffer.from(file);
  const end = bytes.subarray(0, LARGEST_HEADER).indexOf('\n--- ');
  const endOfLine = end < 0 ? -1 : bytes.indexOf('\n', end + 1);
  if (endOfLine < 0) return undefined;
  const header = bytes.toString('latin1', 0, end + 4);
  const mac = bytes.subarray(end + 5, endOfLine);
  const stanzas = stanzasOf(header);
  for (const identity of identities) {
    for (const stanza of stanzas) {
      const fileKey = unwrap(stanza, identity);
      if (fileKey === undefined) continue;
      const expected = Buffer.from(base64(macOf(fileKey, header)));
      if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined;
      const payload = bytes.subarray(endOfLine + 1);
      return open(derive(fileKey, payload.subarray(0, NONCE_BYTES), 'payload'), ONLY_CHUNK, payload.subarray(NONCE_BYTES));
    }
  }
  return undefined;
}

function wrap(fileKey: Buffer, recipient: Uint8Array): string {
  const ephemeral = newPrivateKey();
  const share = publicBytesOf(ephemeral);
  const key = derive(sharedSecret(ephemeral, recipient), Buffer.concat([share, recipient]), `${VERSION}/X25519`);
  return `-> X25519 ${base64(share)}\n${base64(seal(key, WRAP_NONCE, fileKey))}\n`;
}

/** Undefined: wrapped for somebody else. */
function unwrap({ args, body }: Stanza, identity: KeyObject): Buffer | undefined {
  const share = Buffer.from(args[1] ?? '', 'base64');
  if (args[0] !== 'X25519' || args.length !== 2 || share.length !== KEY_BYTES) return undefined;
  if (body.length !== FILE_KEY_BYTES + TAG_BYTES) return undefined;
  try {
    const salt = Buffer.concat([share, publicBytesOf(identity)]);
    return open(derive(sharedSecret(identity, share), salt, `${VERSION}/X25519`), WRAP_NONCE, body);
  } catch {
    // A share with which every secret comes to nothing.
    return undefined;
  }
}

/** None where the header is not one. Kinds that are not known here are for others. */
function stanzasOf(header: string): Stanza[] {
  const [version, ...lines] = header.split('\n');
  if (version !== VERSION) return [];
  const stanzas: { args: string[]; body: string }[] = [];
  for (const line of lines.slice(0, -1)) {
    if (line.startsWith('-> ')) stanzas.push({ args: line.slice(3).split(' '), body: '' });
    else {
      const last = stanzas.at(-1);
      if (last === undefined) return [];
      last.body += line;
    }
  }
  return stanzas.map(({ args, body }) => ({ args, body: Buffer.from(body, 'base64') }));
}

function derive(secret: Uint8Array, salt: Uint8Array, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, KEY_BYTES));
}

function macOf(fileKey: Buffer, header: string): Buffer {
  return createHmac('sha256', derive(fileKey, Buffer.alloc(0), 'header'))
    .update(header, 'latin1')
    .digest();
}

function seal(key: Buffer, nonce: Buffer, plain: Uint8Array): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined: another key, or damaged. */
function open(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** As age writes it: without padding. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('base64')
    .replace(/={1,2}$/, '');
}
