/** Runs a node until it is told to stop. */
import { createServer, type Server } from './main.ts';
import type { Config } from './platform/config/config.ts';
import type { ListenAddresses } from './platform/http/http-server.ts';

/**
 * Resolves to the exit code: 0 after a clean drain, also when answers had to be cut at the time limit. The first SIGTERM or SIGINT
 * drains; a second one ends the process at once with 130. Rejects when the node cannot start.
 */
export async function runServer(
  config: Config,
  onListening: (addresses: ListenAddresses, server: Server) => void,
): Promise<number> {
  const server = await createServer(config);
  const told = firstSignal(server);
  onListening(await server.start(), server);
  await told;
  await server.stop();
  return 0;
}

function firstSignal(server: Server): Promise<void> {
  return new Promise((resolve) => {
    let isTold = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isTold) process.exit(130);
      isTold = true;
      server.log.info('told to stop', { signal });
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
