/** A database on several servers, of which one takes writes. */

/** More than these are of no use to anybody, and each is asked at once. */
const MAX_HOSTS = 16;

/**
 * One URL for each server that `url` names, in the manner of libpq: `postgres://svc@one:5432,two:5432/svc`, or lists in the parameters
 * `host` and `port`. Source: PostgreSQL's manual, "Connection URIs".
 */
export function urlsOfHosts(url: string): string[] {
  const { before, hosts, path, parameters } = partsOf(url);
  if (hosts.includes(','))
    return hosts.split(',', MAX_HOSTS).map((host) => `${before}${host}${path}${parameters.size === 0 ? '' : `?${parameters}`}`);
  const names = parameters.get('host')?.split(',', MAX_HOSTS) ?? [];
  if (names.length < 2) return [url];
  const ports = parameters.get('port')?.split(',') ?? [];
  return names.map((host, i) => {
    const own = new URLSearchParams(parameters);
    own.set('host', host);
    const port = ports[i] ?? ports[0];
    if (port !== undefined) own.set('port', port);
    return `${before}${hosts}${path}?${own}`;
  });
}

/** Where a URL of one server leads, without names of users and passwords. */
export function hostOf(url: string): string {
  const { hosts, parameters } = partsOf(url);
  return parameters.get('host') ?? (hosts || 'localhost');
}

/** `before`: scheme and user. `hosts` may have ports. `path` begins with its slash. */
function partsOf(url: string): { before: string; hosts: string; path: string; parameters: URLSearchParams } {
  const [whole = '', query = ''] = split(url, '?');
  const begin = whole.indexOf('//') + 2;
  const slash = whole.indexOf('/', begin);
  const end = slash === -1 ? whole.length : slash;
  const host = whole.lastIndexOf('@', end) + 1 || begin;
  return {
    before: whole.slice(0, host),
    hosts: whole.slice(host, end),
    path: whole.slice(end),
    parameters: new URLSearchParams(query),
  };
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
