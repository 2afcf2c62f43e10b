/** Hosts that downloads may reach although they lie inside the network: `models.allowed_hosts`. */
import { type AllowedHost, parseAllowedHost as parse } from '../../../platform/network/allowed-host.ts';
import { LibraryError } from './files/library-error.ts';

/** Throws LibraryError invalid_name. */
export function parseAllowedHost(entry: string): AllowedHost {
  const host = parse(entry);
  if (host !== undefined) return host;
  throw new LibraryError(
    'invalid_name',
    `models.allowed_hosts: ${JSON.stringify(entry.slice(0, 200))} is no host`,
    'write names or addresses separated by commas, for example files.lan:8443 or http://10.0.0.5',
  );
}

export function unsafeAddress(sentence: string): LibraryError {
  const remedy = 'use an https address on the internet, or, if that server is yours, have its host named in models.allowed_hosts';
  return new LibraryError('unsafe_address', sentence, remedy);
}
