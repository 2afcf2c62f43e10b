/** `svc edge config`: what a reverse proxy in front of the node needs to be told. */
import { formatListenAddress, parseListenAddress } from '../../server/platform/config/listen-address.ts';
import { usageError } from '../cli-error.ts';
import { command } from '../command.ts';
import { readConfig } from '../configuration.ts';
import type { EdgePlan } from '../edge/edge-plan.ts';
import { haproxyConfig } from '../edge/haproxy-config.ts';
import { nginxConfig } from '../edge/nginx-config.ts';

const WRITERS: Readonly<Record<string, (plan: EdgePlan) => string>> = { nginx: nginxConfig, haproxy: haproxyConfig };
const NAME = /^(?=.{1,253}$)(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9])?)*$/;
const LISTEN = /^((\[[0-9A-Fa-f:.]+\]|[\d.]+|\*):)?\d{1,5}$/;
/** What has a meaning in either file's language. */
const UNSAFE_PATH = /[\n\r\0{};]/;

const UNTRUSTED =
  'The node trusts no proxy yet, so that every client will count as the proxy, for limits and in the audit log: set edge.trusted_proxies to the ' +
  'address that the proxy calls from (127.0.0.1 on the same machine), in svc.toml or a file of conf.d beside it, and restart the node.';

export const edgeConfig = command({
  words: ['edge', 'config'],
  summary: 'Print the configuration of a reverse proxy for this node',
  positionals: [{ name: 'PROXY', help: 'nginx or haproxy' }],
  options: {
    name: { kind: 'texts', value: 'NAME', help: 'host name under which people reach the node; may be repeated' },
    cert: { kind: 'text', value: 'FILE', help: 'PEM of the certificate chain (for haproxy with the key behind it)' },
    key: { kind: 'text', value: 'FILE', help: 'PEM of the private key (nginx)' },
    listen: { kind: 'text', value: 'ADDRESS', help: 'where the proxy takes TLS: PORT or IP:PORT (default 443)' },
    'redirect-from': { kind: 'text', value: 'ADDRESS', help: 'where plain HTTP is redirected to it (default 80; none: nowhere)' },
    upstream: { kind: 'text', value: 'HOST:PORT', help: 'internal listener of the node (default: the configured one)' },
    unprivileged: {
      kind: 'text',
      value: 'FOLDER',
      help: 'make a whole configuration for an account without privileges, with its files there',
    },
  },
  examples: [
    'svc edge config nginx --name ai.example > /etc/nginx/conf.d/svc.conf',
    'svc edge config haproxy --name ai.example --cert /etc/haproxy/ai.example.pem > /etc/haproxy/haproxy.cfg',
  ],
  async run(invocation) {
    const { positionals, options, terminal } = invocation;
    const [proxy = ''] = positionals;
    const write = WRITERS[proxy];
    if (!Object.hasOwn(WRITERS, proxy) || write === undefined)
      throw usageError(`"${proxy}" is no proxy that is known here`, 'write nginx or haproxy');
    const { values } = readConfig(invocation);
    const serverNames = options.name ?? ['localhost'];
    for (const name of serverNames) requireMatch(NAME, name, 'host name', 'write it like ai.example');
    const [first = 'localhost'] = serverNames;
    const redirect = options['redirect-from'] ?? '80';
    const plan: EdgePlan = {
      serverNames,
      listen: listenOf(options.listen ?? '443'),
      redirectListen: redirect === 'none' ? undefined : listenOf(redirect),
      certFile: pathOf(
        options.cert ?? (proxy === 'haproxy' ? `/etc/haproxy/${first}.pem` : `/etc/ssl/svc/${first}/fullchain.pem`),
      ),
      keyFile: pathOf(options.key ?? `/etc/ssl/svc/${first}/privkey.pem`),
      upstream: upstreamOf(options.upstream ?? values.listen),
      maxBodyBytes: values['http.max_body_bytes'],
      stateDir: options.unprivileged === undefined ? undefined : pathOf(options.unprivileged),
    };
    const text = write(plan);
    if (values['edge.trusted_proxies'].trim() === '') terminal.note(UNTRUSTED);
    terminal.result({ proxy, config: text }, text.trimEnd());
    return 'ok';
  },
});

function listenOf(text: string): string {
  requireMatch(LISTEN, text, 'address to listen on', 'write a port, or an IP address and a port, for example 0.0.0.0:443');
  const port = Number(text.slice(text.lastIndexOf(':') + 1));
  if (port < 1 || port > 65_535) throw usageError(`"${text}" names no port from 1 to 65535`, 'write for example 443');
  return text;
}

/** A node that listens on all addresses is reached on this machine's own. */
function upstreamOf(text: string): string {
  requireMatch(/^((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):)?\d{1,5}$/, text, 'address of a node', 'write it like 127.0.0.1:8880');
  const { host, port } = parseListenAddress(text);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatListenAddress({ host: reachable, port });
}

function pathOf(path: string): string {
  if (path.startsWith('/') && !UNSAFE_PATH.test(path)) return path;
  throw usageError(
    `"${path}" is no path that a proxy can be given`,
    'write an absolute path without braces, semicolons and line ends',
  );
}

function requireMatch(pattern: RegExp, text: string, what: string, remedy: string): void {
  if (!pattern.test(text)) throw usageError(`"${text}" is no ${what}`, remedy);
}
