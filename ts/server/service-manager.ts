/**
 * The service manager that runs this process, systemd for example: which sockets it passed on (sd_listen_fds(3)), and what it is told
 * (sd_notify(3)). Without one, nothing of this happens.
 */
import { acceptConnections, notifyServiceManager } from './native/system.ts';
import type { InheritedSocket } from './platform/http/listen/inherited-socket.ts';
import type { ListenerName } from './platform/http/listen/listener-name.ts';
import type { Log } from './platform/log/log.ts';

const FIRST_DESCRIPTOR = 3;
const names: readonly string[] = ['internal', 'public'] satisfies ListenerName[];

/** Sockets named `internal` and `public` in their units; one without such a name is the internal listener. */
export function inheritedSockets(env: NodeJS.ProcessEnv = process.env): Partial<Record<ListenerName, InheritedSocket>> {
  if (env['LISTEN_PID'] !== String(process.pid)) return {};
  const count = Number(env['LISTEN_FDS']);
  if (!Number.isInteger(count) || count < 1 || count > names.length) return {};
  const given = (env['LISTEN_FDNAMES'] ?? '').split(':');
  const found: Partial<Record<ListenerName, InheritedSocket>> = {};
  for (let i = 0; i < count; i += 1) {
    const descriptor = FIRST_DESCRIPTOR + i;
    const name = names.includes(given[i] ?? '') ? (given[i] as ListenerName) : 'internal';
    found[name] = { accept: (onAccept) => acceptConnections(descriptor, onAccept) };
  }
  // What this process starts inherits nothing.
  for (const variable of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[variable];
  return found;
}

interface Watchdog {
  stop(): void;
}

/** Says now and then that the event loop turns, as often as the unit's WatchdogSec asks for. */
export function feedWatchdog(log: Log, env: NodeJS.ProcessEnv = process.env): Watchdog {
  const limitMs = Number(env['WATCHDOG_USEC']) / 1000;
  if (!(limitMs > 0) || (env['WATCHDOG_PID'] !== undefined && env['WATCHDOG_PID'] !== String(process.pid)))
    return { stop: () => undefined };
  const timer = setInterval(() => tell(log, 'WATCHDOG=1'), limitMs / 3).unref();
  return { stop: () => clearInterval(timer) };
}

/** A service manager that cannot be told is no reason to stop serving. */
export function tell(log: Log, state: string): void {
  try {
    notifyServiceManager(state);
  } catch (error) {
    log.warn('the service manager could not be told', { state, error });
  }
}
