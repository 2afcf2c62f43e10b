/** Bytes that wait in the queue of a message port, outside of V8's memory, for whoever reads them piece by piece. */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** The most that one turn of the event loop copies. */
const PIECE_BYTES = 1024 * 1024;

/** Plain data, but for the port, which has to be among what moves with a message. Each message at the port is a Uint8Array. */
export interface QueuedBytes {
  sizeBytes: number;
  port: MessagePort;
}

export function queueBytes(bytes: Uint8Array): QueuedBytes {
  const { port1, port2 } = new MessageChannel();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    // A copy also of a Buffer, whose own slice() is none.
    const piece = new Uint8Array(bytes.subarray(at, at + PIECE_BYTES));
    port1.postMessage(piece, [piece.buffer]);
  }
  return { sizeBytes: bytes.length, port: port2 };
}

/** All of them at once, for whoever knows that they are few. They can be read once. */
export function takeQueuedBytes({ port }: QueuedBytes): Buffer {
  const pieces: Uint8Array[] = [];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) pieces.push(next.message as Uint8Array);
  port.close();
  return Buffer.concat(pieces);
}
