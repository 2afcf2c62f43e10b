/** A running server, as the command line reaches it: its address, its credential, its refusals as failures of the command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '../client/client.ts';
import { parseJson } from '../client/refusal.ts';
import { LOCAL_TOKEN_FILE } from '../server/domains/identity/index.ts';
import { parseListenAddress } from '../server/platform/config/listen-address.ts';
import { usageError } from './cli-error.ts';
import type { Invocation, Options } from './command.ts';
import { readConfig } from './configuration.ts';

export const clientOptions = {
  url: { kind: 'text', value: 'URL', help: 'server to talk to (else SVC_URL, else the configured listener)' },
  'api-key': { kind: 'text', value: 'KEY', help: 'key of that server (better in SVC_API_KEY: other users see command lines)' },
} as const satisfies Options;

export interface ServerClient extends Client {
  readonly base: URL;
}

/** A server that was restarted made another local token: a request that is answered 401 is sent once more where the credential has changed. */
export function openClient(invocation: Invocation<typeof clientOptions>): ServerClient {
  const { options, env } = invocation;
  const named = options.url ?? env['SVC_URL'];
  const config = named === undefined ? readConfig(invocation).values : undefined;
  const base = readAddress(named ?? listenUrl(config?.listen ?? ''));
  // The token is for the server of this machine's own configuration, and goes nowhere else.
  const localToken = () => (config === undefined ? undefined : readLocalToken(config.data_dir));
  const readCredential = () => options['api-key'] ?? env['SVC_API_KEY'] ?? localToken();
  let credential = readCredential();
  const client = createClient({
    base: base.origin + base.pathname.replace(/(?<!\/)\/+$/, ''),
    init: { signal: invocation.signal },
    headers: () => ({
      'user-agent': 'svc-cli',
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    }),
    renew: async () => {
      const sent = credential;
      credential = readCredential();
      return credential !== sent;
    },
  });
  return { base, ...client };
}

function readAddress(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address !== undefined && /^https?:$/.test(address.protocol)) return address;
  throw usageError(`"${text}" is no server address`, 'give it as http://127.0.0.1:8880');
}

/** Whoever may read the data of the server may administer it; others need a key. */
function readLocalToken(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, LOCAL_TOKEN_FILE), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A listener on every address is reached on this machine's own. */
function listenUrl(listen: string): string {
  const { host, port } = parseListenAddress(listen);
  const reachable = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

interface ServerAnswer {
  status: number;
  body: unknown;
}

/** The limit suits questions that a server answers at once or not at all. */
export function atOnce(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
}

/** The answer with its status, whatever that is; the body is text where it is no JSON. */
export async function readAnswer(response: Response): Promise<ServerAnswer> {
  return { status: response.status, body: parseJson(await response.text()) };
}
