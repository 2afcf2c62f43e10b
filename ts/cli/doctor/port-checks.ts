import { createServer } from 'node:net';
import { parseListenAddress } from '../../server/platform/config/listen-address.ts';
import { broken, type Check, type Finding, ok } from './check.ts';

export const listenerCheck: Check = {
  name: 'listener',
  run: ({ config }) => checkListener(config.values.listen, 'SVC_LISTEN'),
};

export const publicListenerCheck: Check = {
  name: 'public listener',
  run: ({ config }) =>
    config.values.public_listen === '' ? ok('none configured') : checkListener(config.values.public_listen, 'SVC_PUBLIC_LISTEN'),
};

async function checkListener(listen: string, variable: string): Promise<Finding> {
  const { host, port } = parseListenAddress(listen);
  const code = await tryListening(host, port);
  if (code === undefined) return ok(`${listen} is free`);
  if (code === 'EADDRINUSE' && (await isOurs(host, port))) return ok(`${listen} is where svc already runs`);
  if (code === 'EADDRINUSE') return broken(`another program listens on ${listen}`, `stop it, or set ${variable} to another port`);
  if (code === 'EACCES')
    return broken(
      `this user may not listen on ${listen}`,
      `choose a port from 1024 on with ${variable}, or give the service CAP_NET_BIND_SERVICE`,
    );
  return broken(`${listen} cannot be used: ${code}`, `set ${variable} to an address of this machine`);
}

function tryListening(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

async function isOurs(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  try {
    const name = reachable.includes(':') ? `[${reachable}]` : reachable;
    const response = await fetch(`http://${name}:${port}/livez`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
