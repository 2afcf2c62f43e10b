/** A listening socket that another program opened for this one: it outlives the process, so that a restart refuses no connection. */
import type { ListenAddress } from './listening-app.ts';

export interface InheritedSocket {
  /** Says where it listens, and hands over connections until it is stopped. */
  accept(onAccept: (connection: number) => void): { address: ListenAddress; stop(): void };
}
