/** A collection as an administrator configures it: listeners, whose lines are taken, classes, copies, and how long they are kept. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isAbsolute, normalize, sep } from 'node:path';
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { logsError } from '../errors.ts';
import { CANARY_CLASS } from './copy-files.ts';
import { networkCondition } from './networks.ts';

const LISTEN_PROTOCOLS = ['udp', 'tcp', 'tls', 'relp'] as const;
/** Lines that match no class and come from no source. */
export const OTHER_CLASS = 'other';
/** Stands for a key that is there and is not shown. */
export const KEY_IS_SET = 'set';

const Text = Type.String({ minLength: 1, maxLength: 200 });
const Network = Type.String({ minLength: 1, maxLength: 64, description: 'An address or a network, such as 10.0.0.0/8.' });
const ClassName = Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' });
const Pem = Type.String({ minLength: 1, maxLength: 65_536 });

const Listener = Type.Object(
  {
    protocol: Type.Enum([...LISTEN_PROTOCOLS]),
    address: Type.String({ minLength: 1, maxLength: 64 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    tls: Type.Optional(
      Type.Object(
        {
          cert: Pem,
          key: Type.String({
            minLength: 1,
            maxLength: 65_536,
            description: `PEM; answered as \`${KEY_IS_SET}\`, which keeps it.`,
          }),
          ca: Type.Optional(
            Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM; senders then show a certificate of it.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

export const CollectionConfig = named(
  'LogCollection',
  Type.Object(
    {
      listen: Type.Array(Listener, { minItems: 1, maxItems: 16 }),
      allowed_networks: Type.Array(Network, { minItems: 1, maxItems: 256, description: 'Lines of other senders are not kept.' }),
      sources: Type.Array(
        Type.Object(
          { network: Network, class: ClassName, tenant: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) },
          { additionalProperties: false },
        ),
        { maxItems: 1024, description: 'Classes by sender, for lines that match none by what they say.' },
      ),
      classes: Type.Array(
        Type.Object(
          {
            name: ClassName,
            match: Type.Object(
              { app: Type.Optional(Text), host: Type.Optional(Text), contains: Type.Optional(Text) },
              { additionalProperties: false, minProperties: 1 },
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: 256, description: 'The first whose members all match counts.' },
      ),
      copies: Type.Array(Type.String({ minLength: 2, maxLength: 1024 }), {
        minItems: 2,
        maxItems: 2,
        description: 'Two folders, best on two disks. A folder whose parent is there is made.',
      }),
      retention: Type.Object(
        { days: Type.Integer({ minimum: 1, maximum: 36_500 }), bytes: Type.Integer({ minimum: 1_000_000, maximum: 2 ** 52 }) },
        { additionalProperties: false, description: 'Of each copy; the oldest hours go first.' },
      ),
    },
    { additionalProperties: false },
  ),
);
export type CollectionConfig = Static<typeof CollectionConfig>;
export type Listener = Static<typeof Listener>;

/** Checks what the schema cannot say. Throws DomainError. */
export function requireUsable({ listen, allowed_networks, sources, classes, copies }: CollectionConfig): void {
  for (const [i, listener] of listen.entries()) requireListener(listener, `listen[${i}]`);
  const places = listen.map(({ protocol, address, port }) => `${protocol === 'udp' ? 'udp' : 'tcp'} ${address} ${port}`);
  const twice = places.find((place, i) => places.indexOf(place) < i);
  if (twice !== undefined) throw wrong('listen', `has two listeners at ${twice}`);
  for (const network of [...allowed_networks, ...sources.map((source) => source.network)]) {
    if (networkCondition(network) === undefined)
      throw wrong(
        'network',
        `${network} is no address and no network; of IPv6, write addresses, or prefixes of 16, 32, 48 or 64 bits`,
      );
  }
  const names = [...sources.map((source) => source.class), ...classes.map(({ name }) => name)];
  if (names.includes(CANARY_CLASS)) throw wrong('class', `${CANARY_CLASS} is kept for lines of the service`);
  for (const text of classes.flatMap(({ match }) => Object.values(match)))
    if (/\p{Cc}/u.test(text)) throw wrong('match', 'may hold no control characters');
  requireCopies(copies);
}

function requireListener({ protocol, address, tls }: Listener, place: string): void {
  if (isIP(address) === 0) throw wrong(`${place}.address`, 'must be an address of this machine; 0.0.0.0 stands for all');
  if (protocol === 'tls' && tls === undefined)
    throw wrong(`${place}.tls`, 'is missing: a TLS listener has a certificate and its key');
  if (protocol !== 'tls' && tls !== undefined) throw wrong(`${place}.tls`, `is for TLS listeners, and this one is ${protocol}`);
  if (tls === undefined) return;
  requirePem(`${place}.tls.cert`, 'certificate', () => new X509Certificate(tls.cert));
  if (tls.ca !== undefined) requirePem(`${place}.tls.ca`, 'certificate', () => new X509Certificate(tls.ca ?? ''));
  if (tls.key === KEY_IS_SET) throw wrong(`${place}.tls.key`, 'was not set before for this listener; send it');
  requirePem(`${place}.tls.key`, 'private key without a passphrase', () => {
    if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key)))
      throw new Error('it is the key of another certificate');
  });
}

function requirePem(place: string, what: string, read: () => unknown): void {
  try {
    read();
  } catch (cause) {
    throw wrong(place, `must be a ${what} as PEM: ${(cause as Error).message}`);
  }
}

/** File systems of the kernel hang, or hold nothing. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev', '/run'];

function requireCopies(copies: readonly string[]): void {
  for (const path of copies) {
    if (!isAbsolute(path) || normalize(path) !== path || path.endsWith(sep) || /[\p{Cc}%"\\]/u.test(path))
      throw wrong(
        'copies',
        `${path} must be an absolute path without a slash at its end, and without control characters, %, " and \\`,
      );
    if (KERNEL_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      throw wrong('copies', `${path} lies in a file system of the kernel`);
  }
  const [a = '', b = ''] = copies;
  if (a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`))
    throw wrong('copies', 'must be two folders, none inside the other');
}

function wrong(param: string, fault: string): Error {
  return logsError('invalid_request', `\`${param}\` ${fault}.`, { param });
}
