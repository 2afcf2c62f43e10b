/** Runs a node until it is told to stop. */
import { createServer, type HeadStart, type Server } from './main.ts';
import { releaseFreedHeap } from './native/system.ts';
import type { ListenAddresses } from './platform/http/http-server.ts';
import { feedWatchdog, tell } from './service-manager.ts';
import type { NodeConfig } from './settings.ts';

const LEFT_BEHIND_MS = 2_000;
const MEMORY_CHECK_MS = 10_000;
/** By so much memory has grown when what was freed is returned. */
const GROWN_BYTES = 64 * 2 ** 20;
/** A failure to service managers that start again what failed. */
export const RESTART = 75;

/**
 * Resolves to the exit code: RESTART where the node itself asked to be started again, 0 after a clean drain, also when answers had to be cut
 * at the time limit. The first SIGTERM or SIGINT drains; a second one ends the process at once with 130. Rejects when the node cannot start, or its database
 * is found to be damaged.
 */
export async function runServer(
  config: NodeConfig,
  onListening: (addresses: ListenAddresses, server: Server) => void,
  headStart: HeadStart = {},
): Promise<number> {
  const server = await createServer(config, {}, headStart);
  const told = firstSignal(server);
  reportFaults(server);
  watchMemory(server);
  const watchdog = feedWatchdog(server.log);
  onListening(await server.start(), server);
  let isEnding = false;
  void server.ready().then(() => isEnding || tell(server.log, 'READY=1'));
  const end = await Promise.race([told.then(() => 0), restartOf(server), server.damaged]);
  isEnding = true;
  if (typeof end !== 'number') server.log.error('the node ends', { error: end.message, remedy: end.remedy });
  tell(server.log, 'STOPPING=1');
  await server.stop();
  watchdog.stop();
  // A part that was left behind may hold the process; one that ends by itself is not waited for.
  setTimeout(() => process.exit(typeof end === 'number' ? end : undefined), LEFT_BEHIND_MS).unref();
  if (typeof end !== 'number') throw end;
  return end;
}

/** Requests of megabytes leave freed memory behind in all arenas of malloc, which grow until each has met the largest of them. */
function watchMemory({ log }: Server): void {
  let smallest = process.memoryUsage.rss();
  const look = async (): Promise<void> => {
    smallest = Math.min(smallest, process.memoryUsage.rss());
    if (process.memoryUsage.rss() - smallest < GROWN_BYTES) return;
    await releaseFreedHeap();
    smallest = process.memoryUsage.rss();
  };
  setInterval(() => void look().catch((error) => log.warn('freed memory stays', { error })), MEMORY_CHECK_MS).unref();
}

async function restartOf({ restarting, log }: Server): Promise<number> {
  log.warn('the node ends to be started again', { reason: await restarting, exit_code: RESTART });
  return RESTART;
}

/** A promise that nobody awaited hurts one request; an exception that nobody caught may have left anything half done. */
function reportFaults({ log }: Server): void {
  process.on('unhandledRejection', (error) => log.error('a failure was not handled', { error }));
  process.on('uncaughtException', (error) => {
    log.error('the process ends after an exception that nobody caught', { error });
    process.exit(1);
  });
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
