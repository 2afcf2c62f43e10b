/** Answers to challenges of SIP servers: digest authentication by MD5 and SHA-256 (RFC 2617, RFC 8760). */
import { createHash, randomBytes } from 'node:crypto';

interface DigestRequest {
  readonly method: string;
  readonly uri: string;
  readonly user: string;
  readonly password: string;
}

const ALGORITHMS: Readonly<Record<string, string>> = { '': 'md5', md5: 'md5', 'sha-256': 'sha256' };

/** The best challenge that can be answered, as the value of Authorization; undefined: there is none. */
export function answerChallenge(challenges: readonly string[], request: DigestRequest, cnonce = randomBytes(8).toString('hex')) {
  const usable = challenges.map(readChallenge).filter((challenge) => challenge !== undefined);
  const best = usable.find(({ hash }) => hash === 'sha256') ?? usable[0];
  if (best === undefined) return undefined;
  const { realm, nonce, opaque, algorithm, hash, hasQop } = best;
  const { method, uri, user, password } = request;
  const digest = (text: string): string => createHash(hash).update(text).digest('hex');
  const ha1 = digest(`${user}:${realm}:${password}`);
  const ha2 = digest(`${method}:${uri}`);
  const nc = '00000001';
  const response = digest(hasQop ? `${ha1}:${nonce}:${nc}:${cnonce}:auth:${ha2}` : `${ha1}:${nonce}:${ha2}`);
  const quoted = { username: user, realm, nonce, uri, response, ...(opaque !== undefined && { opaque }) };
  const plain = { ...(algorithm !== '' && { algorithm }), ...(hasQop && { qop: 'auth', nc }) };
  const members = [
    ...Object.entries(quoted).map(([name, value]) => `${name}="${value}"`),
    ...Object.entries(plain).map(([name, value]) => `${name}=${value}`),
    ...(hasQop ? [`cnonce="${cnonce}"`] : []),
  ];
  return `Digest ${members.join(', ')}`;
}

function readChallenge(challenge: string) {
  if (!/^Digest\s/i.test(challenge)) return undefined;
  const members = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of challenge
    .slice(7)
    .matchAll(/(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,]+))/g))
    members.set(name.toLowerCase(), quoted ?? plain);
  const algorithm = members.get('algorithm') ?? '';
  const hash = ALGORITHMS[algorithm.toLowerCase()];
  const qop = members.get('qop');
  const isKnown = qop === undefined || qop.split(',').some((each) => each.trim() === 'auth');
  const [realm, nonce] = [members.get('realm'), members.get('nonce')];
  if (hash === undefined || !isKnown || realm === undefined || nonce === undefined) return undefined;
  return { realm, nonce, opaque: members.get('opaque'), algorithm, hash, hasQop: qop !== undefined };
}
