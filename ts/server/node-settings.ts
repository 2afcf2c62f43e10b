/** Settings of the node itself: where it listens, where it keeps things, how it logs. Modules declare their own. */
import Type from 'typebox';
import { integerSchema, maskUserInfo, pathSchema, setting, textSchema } from './platform/config/setting.ts';
import { FORWARDING_HEADER_NAMES } from './platform/http/access/client-address.ts';

const MIB = 1024 * 1024;
const addressSchema = Type.String({ pattern: '^$|^((\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]/]+):)?\\d{1,5}$' });
const ofMachine = { isOfMachine: true };
const address = { accepts: 'HOST:PORT, [IPv6]:PORT or a port, for example 127.0.0.1:8880', ...ofMachine };

/** `data_dir` is empty here; config.ts fills it from where the program is installed. */
export const nodeSettings = {
  listen: setting(addressSchema, '127.0.0.1:8880', 'HOST:PORT of the internal listener; port 0 takes any free one.', address),
  public_listen: setting(
    addressSchema,
    '',
    'HOST:PORT of the public edge, where every caller needs a login; empty for none.',
    address,
  ),
  data_dir: setting(pathSchema, '', 'Folder of everything that must survive a restart.', { isPath: true }),
  'node.name': setting(
    Type.String({ maxLength: 100, pattern: '^[^\\s,=@]*$' }),
    '',
    'What other nodes and clients call this node; empty: the name of the machine.',
    { accepts: 'a name of at most 100 characters without blanks, commas, = and @', ...ofMachine },
  ),
  'node.roles': setting(
    textSchema,
    '',
    'Roles of this node, separated by commas; empty: all that a single node needs. `svc roles` switches them while it runs.',
    ofMachine,
  ),

  'database.url': setting(
    Type.String({ maxLength: 4096, pattern: '^$|^postgres(ql)?://' }),
    '',
    'PostgreSQL (15 or newer) instead of the SQLite file in data_dir: postgres://USER:PASSWORD@HOST/DATABASE. ' +
      'Of several hosts (ONE:5432,TWO:5432) the node uses the one that takes writes.',
    { accepts: 'a URL that starts with postgres://', mask: maskUserInfo, ...ofMachine },
  ),
  'database.pool_size': setting(integerSchema(1, 1000), 10, 'Most connections for reads and writes; 3 more may listen.'),
  'cluster.wait_seconds': setting(
    integerSchema(0, 600),
    20,
    'How long requests wait for PostgreSQL while it is away, as in a failover, before they are answered 503.',
  ),

  'log.level': setting(Type.Enum(['debug', 'info', 'warn', 'error']), 'info', 'Least severity that is logged.', { isLive: true }),
  'log.format': setting(Type.Enum(['auto', 'json', 'text']), 'auto', 'auto: words on a terminal, JSON lines elsewhere.'),

  'http.max_body_bytes': setting(
    integerSchema(1024, 2 ** 31 - 1),
    128 * MIB,
    'Largest request body; routes with a smaller limit keep theirs.',
  ),
  'http.max_buffered_bytes': setting(
    integerSchema(MIB, 2 ** 36),
    512 * MIB,
    'Request bodies that are still arriving, all together, in memory at once.',
  ),
  'http.max_unsent_bytes': setting(
    integerSchema(MIB, 2 ** 36),
    256 * MIB,
    'Bytes of answers that wait for clients who read slowly, all together; beyond it, those are cut that have waited longest.',
  ),
  'http.max_unsent_bytes_per_caller': setting(
    integerSchema(MIB, 2 ** 36),
    64 * MIB,
    'The same for one account, key, or address without either; a single answer may be larger.',
  ),
  'http.max_connections': setting(integerSchema(16, 1_000_000), 9_000, 'Open connections per listener; more are closed at once.'),
  'http.drain_timeout_seconds': setting(integerSchema(0, 3600), 30, 'How long open answers may take to finish after SIGTERM.'),
  'http.allowed_hosts': setting(
    textSchema,
    '',
    'Host names, separated by commas, under which the node may be called while authentication is off, beside loopback and its own.',
    ofMachine,
  ),
  'http.allowed_origins': setting(
    textSchema,
    '',
    'Origins, separated by commas, whose pages may call the API; loopback always may, and all may (*) once authentication is on.',
    ofMachine,
  ),

  'edge.trusted_proxies': setting(
    textSchema,
    '',
    'Addresses and CIDR blocks, separated by commas, of the reverse proxies that are believed when they say whose request they pass on.',
    ofMachine,
  ),
  'edge.forwarded_header': setting(
    Type.Enum([...FORWARDING_HEADER_NAMES]),
    'x-forwarded-for',
    'The header in which those proxies say it; no other one is read.',
    ofMachine,
  ),

  'network.ca_file': setting(
    pathSchema,
    '',
    'PEM file of certificate authorities that the node trusts, beside those that Node.js brings, in the servers that it calls.',
    { isPath: true },
  ),

  'public_tls.cert': setting(
    pathSchema,
    '',
    'PEM file of the certificate chain of the public listener; read again when it changes.',
    { isPath: true },
  ),
  'public_tls.key': setting(pathSchema, '', 'PEM file of its private key.', { isPath: true }),
} as const;
