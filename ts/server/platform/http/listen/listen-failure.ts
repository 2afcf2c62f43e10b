/** Why an address cannot be listened on. The library does not say; Node's own socket does. */
import { createServer } from 'node:net';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it or choose another port',
  EACCES: 'ports below 1024 need a privilege; choose a higher port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name cannot be resolved',
};

export function findListenFailure(host: string, port: number): Promise<Error> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(describeFailure(host, port, cause)));
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve(new Error(`cannot listen on ${host}:${port}; try again`))),
    );
  });
}

function describeFailure(host: string, port: number, cause: NodeJS.ErrnoException): Error {
  return new Error(`cannot listen on ${host}:${port}: ${REASONS[cause.code ?? ''] ?? cause.message}`, { cause });
}
