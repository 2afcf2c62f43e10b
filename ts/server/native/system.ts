/** The typed binding to native/system: what Node cannot ask the operating system for itself. */
import { loadAddon } from './load.ts';

interface RawAcceptor {
  address(): Acceptor['address'];
  close(): void;
}

interface SystemAddon {
  notify(state: string): boolean;
  releaseFreedHeap(): Promise<void>;
  Acceptor: new (descriptor: number, onAccept: (connection: number) => void) => RawAcceptor;
}

const addon = (): SystemAddon => loadAddon('system') as SystemAddon;

/** Tells the service manager about this process, in the words of sd_notify(3). False: none asked. Throws NativeError `notify_failed`. */
export function notifyServiceManager(state: string): boolean {
  return process.env['NOTIFY_SOCKET'] !== undefined && addon().notify(state);
}

/** Returns memory that native code freed to the system. malloc keeps nearly all that lies below a block in use, in an arena for each of several threads. */
export function releaseFreedHeap(): Promise<void> {
  return addon().releaseFreedHeap();
}

export interface Acceptor {
  /** Where the socket listens. */
  address: { host: string; port: number };
  /** No more connections are taken; the socket stays open and queues them. */
  stop(): void;
}

/**
 * Hands over the connections of a listening socket that this process inherited, as non-blocking descriptors that are then the
 * callback's to close. Throws NativeError `invalid_argument` for a descriptor that is no listening socket.
 */
export function acceptConnections(descriptor: number, onAccept: (connection: number) => void): Acceptor {
  const { Acceptor } = addon();
  const acceptor = new Acceptor(descriptor, onAccept);
  return { address: acceptor.address(), stop: () => acceptor.close() };
}
