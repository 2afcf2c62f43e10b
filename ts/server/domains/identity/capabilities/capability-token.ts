/** Capability tokens as text: signed, made narrower, and verified. What they mean stands in restrictions.ts. */
import type { Biscuit } from '@biscuit-auth/biscuit-wasm';
import { loadBiscuit } from './biscuit.ts';
import { readChecks, readFirstBlock, type TokenFacts } from './block-reader.ts';
import { RUN_LIMITS } from './capability-limits.ts';
import { CAPABILITY_PREFIX } from './envelope.ts';
import { checksOf, dateOf, intersect, listsOf, type Predicates, type Restrictions } from './restrictions.ts';

export interface SigningKey {
  number: number;
  /** Hexadecimal. */
  privateKey: string;
}

export interface MadeToken {
  text: string;
  /** Of its last block. */
  revocationId: string;
}

export interface VerifiedToken extends TokenFacts {
  /** What all blocks allow. */
  restrictions: Restrictions & { scopes: readonly string[]; expiresAt: number };
  /** Of every block, the first one first: when one of them is revoked, so is the token. */
  revocationIds: readonly string[];
}

type TokenFault = 'bad_encoding' | 'bad_signature';

/** A new pair of keys, hexadecimal. */
export async function newKeyPair(): Promise<{ publicKey: string; privateKey: string }> {
  const { KeyPair, SignatureAlgorithm } = await loadBiscuit();
  const pair = new KeyPair(SignatureAlgorithm.Ed25519);
  const [publicKey, privateKey] = [pair.getPublicKey().toString(), pair.getPrivateKey().toString()];
  pair.free();
  return { publicKey: publicKey.replace('ed25519/', ''), privateKey: privateKey.replace('ed25519-private/', '') };
}

export async function signToken(
  predicates: Predicates,
  facts: TokenFacts,
  restrictions: Restrictions,
  key: SigningKey,
): Promise<MadeToken> {
  const { Biscuit, PrivateKey } = await loadBiscuit();
  const builder = Biscuit.builder();
  const lines = Object.entries(facts).map(([name, value]) => `${name}("${value}");`);
  builder.addCode([...lines, checksOf(predicates, restrictions)].join('\n'));
  builder.setRootKeyId(key.number);
  return made(builder.build(PrivateKey.fromString(`ed25519-private/${key.privateKey}`)));
}

/** `bytes` were verified. Throws for a token that its owner sealed. */
export async function deriveToken(
  predicates: Predicates,
  bytes: Uint8Array,
  publicKey: string,
  narrower: Restrictions,
): Promise<MadeToken> {
  const { Biscuit, PublicKey, SignatureAlgorithm } = await loadBiscuit();
  const parent = Biscuit.fromBytes(bytes, PublicKey.fromString(publicKey, SignatureAlgorithm.Ed25519));
  const block = Biscuit.block_builder();
  block.addCode(checksOf(predicates, narrower));
  try {
    return made(parent.appendBlock(block));
  } finally {
    parent.free();
    block.free();
  }
}

/** Checks the signatures of all blocks and reads what they say. Throws only when the token could not be judged. */
export async function verifyToken(
  predicates: Predicates,
  bytes: Uint8Array,
  publicKey: string,
): Promise<VerifiedToken | TokenFault> {
  const { Biscuit, PublicKey, SignatureAlgorithm } = await loadBiscuit();
  const key = PublicKey.fromString(publicKey, SignatureAlgorithm.Ed25519);
  let token: Biscuit;
  try {
    token = Biscuit.fromBytes(bytes, key);
  } catch (error) {
    return isOfSignature(error) ? 'bad_signature' : 'bad_encoding';
  } finally {
    key.free();
  }
  try {
    const read = readToken(predicates, token);
    if (read === undefined) return 'bad_encoding';
    return (await isConfirmed(predicates, token, read.restrictions)) ? read : 'bad_encoding';
  } finally {
    token.free();
  }
}

function readToken(predicates: Predicates, token: Biscuit): VerifiedToken | undefined {
  const [first, ...others] = sourcesOf(token) ?? [];
  const begun = first === undefined ? undefined : readFirstBlock(predicates, first);
  if (begun === undefined) return undefined;
  let all = begun.restrictions;
  for (const source of others) {
    const narrower = readChecks(predicates, source);
    if (narrower === undefined) return undefined;
    all = intersect(all, narrower);
  }
  const { scopes, expiresAt } = all;
  if (scopes === undefined || expiresAt === undefined) return undefined;
  return { ...begun.facts, restrictions: { ...all, scopes, expiresAt }, revocationIds: revocationIdsOf(token) };
}

/** Undefined: a block cannot be written as Datalog, which the library says by an error. */
function sourcesOf(token: Biscuit): string[] | undefined {
  try {
    return Array.from({ length: token.countBlocks() }, (_, index) => token.getBlockSource(index));
  } catch {
    return undefined;
  }
}

/**
 * Biscuit's own decision about one use that our reading of the token allows: where the two differ, the token is refused. Its time is that of
 * the last moment at which the token is valid, so that the answer does not depend on the clock.
 */
async function isConfirmed(
  predicates: Predicates,
  token: Biscuit,
  restrictions: VerifiedToken['restrictions'],
): Promise<boolean> {
  const { AuthorizerBuilder } = await loadBiscuit();
  const lists = listsOf(restrictions);
  const uses = [...predicates.keys()].map((list) => {
    const names = lists[list];
    return names === undefined ? 'any' : names[0];
  });
  // A token that allows nothing has no use to ask about.
  if (uses.includes(undefined)) return true;
  const facts = [...predicates.values()].map((predicate, index) => `${predicate}("${uses[index]}");`);
  const builder = new AuthorizerBuilder();
  builder.addCode([...facts, `time(${dateOf(restrictions.expiresAt - 1000)});`, 'allow if true;'].join('\n'));
  const authorizer = builder.buildAuthenticated(token);
  try {
    authorizer.authorizeWithLimits(RUN_LIMITS);
    return true;
  } catch (error) {
    if (hasMember(error, 'RunLimit')) throw new Error('a capability token was not judged in time', { cause: error });
    return false;
  } finally {
    authorizer.free();
  }
}

function made(token: Biscuit): MadeToken {
  const text = CAPABILITY_PREFIX + token.toBase64().replace(/={1,2}$/, '');
  const revocationId = revocationIdsOf(token).at(-1) ?? '';
  token.free();
  return { text, revocationId };
}

function revocationIdsOf(token: Biscuit): string[] {
  return token.getRevocationIdentifiers().map(String);
}

/** The library throws plain objects: the variants of its error type. */
function isOfSignature(error: unknown): boolean {
  const format = (error as { Format?: unknown } | undefined)?.Format;
  return hasMember(format, 'Signature') || hasMember(format, 'InvalidKey');
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}
