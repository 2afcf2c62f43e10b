/** The outer layers of a Biscuit token, read before any of its cryptography: which key signed it, and how large it is. */
import { MAX_BLOCKS, MAX_PRINTED_LENGTH, MAX_TOKEN_LENGTH } from './capability-limits.ts';
import { type ProtobufField, protobufFields } from './protobuf-fields.ts';

/** Before the token's own text, so that scanners and people can tell what it is. A token without it is taken too, as Biscuit's libraries write it. */
export const CAPABILITY_PREFIX = 'svcc_';

interface Envelope {
  bytes: Uint8Array;
  /** The hint in the token which key to check it with. */
  keyNumber: number;
  /** The first one included. */
  nBlocks: number;
}

const TEXT = /^[\w-]{64,}={0,2}$/;
/** Numbers of Biscuit's schema.proto. */
const TOKEN = { keyNumber: 1, authority: 2, block: 3, proof: 4 } as const;
const SIGNED_BLOCK = { block: 1 } as const;
const BLOCK = { symbol: 1 } as const;
/** A use of a symbol takes at least so many bytes. */
const BYTES_OF_A_USE = 4;

/** Undefined: the text is no token, or one that is larger than the server takes. */
export function readEnvelope(text: string): Envelope | undefined {
  if (text.length > MAX_TOKEN_LENGTH) return undefined;
  const plain = text.startsWith(CAPABILITY_PREFIX) ? text.slice(CAPABILITY_PREFIX.length) : text;
  if (!TEXT.test(plain)) return undefined;
  const bytes = Buffer.from(plain, 'base64url');
  const fields = protobufFields(bytes);
  if (fields === undefined || !isWhole(fields)) return undefined;
  const keyNumber = fields.find(({ number }) => number === TOKEN.keyNumber)?.value;
  const blocks = fields.filter(({ number }) => number === TOKEN.authority || number === TOKEN.block);
  if (keyNumber === undefined || blocks.length > MAX_BLOCKS || !isPrintable(blocks)) return undefined;
  return { bytes, keyNumber, nBlocks: blocks.length };
}

function isWhole(fields: readonly ProtobufField[]): boolean {
  const count = (wanted: number) => fields.filter(({ number }) => number === wanted).length;
  const isKnown = fields.every(({ number, bytes }) =>
    number === TOKEN.keyNumber ? bytes === undefined : number >= TOKEN.authority && number <= TOKEN.proof && bytes !== undefined,
  );
  return isKnown && count(TOKEN.keyNumber) === 1 && count(TOKEN.authority) === 1 && count(TOKEN.proof) === 1;
}

/** A text stands in a token once and can be used again and again: what the blocks come to as Datalog is bounded as well. */
function isPrintable(signedBlocks: readonly ProtobufField[]): boolean {
  let longestSymbol = 0;
  let bytesOfUses = 0;
  for (const { bytes } of signedBlocks) {
    const block = protobufFields(bytes as Buffer)?.find(({ number }) => number === SIGNED_BLOCK.block)?.bytes;
    const fields = block && protobufFields(block);
    if (fields === undefined) return false;
    for (const field of fields) {
      const length = field.bytes?.length ?? 0;
      if (field.number === BLOCK.symbol) longestSymbol = Math.max(longestSymbol, length);
      else bytesOfUses += length;
    }
  }
  return (bytesOfUses / BYTES_OF_A_USE) * longestSymbol <= MAX_PRINTED_LENGTH;
}
