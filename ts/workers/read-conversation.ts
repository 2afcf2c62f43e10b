/** A task of the worker pool: reads one conversation of an export file, and lists the terms of its messages. */
import { readConversation } from '../server/domains/conversations/transfer/import-formats.ts';
import { type PackedConversation, packConversation } from '../server/domains/conversations/transfer/packed-conversation.ts';
import { Transferred } from '../server/platform/pool/transferred.ts';

export type ReadResult =
  | { readonly kind: 'read'; readonly conversation: PackedConversation }
  | { readonly kind: 'no_json' | 'unknown_format' };

export function run({ bytes, now }: { bytes: Uint8Array; now: number }): Transferred<ReadResult> {
  const value = parsed(bytes);
  if (value === undefined) return new Transferred<ReadResult>({ kind: 'no_json' }, []);
  const read = readConversation(value, now);
  if (read === undefined) return new Transferred<ReadResult>({ kind: 'unknown_format' }, []);
  const conversation = packConversation(read);
  return new Transferred<ReadResult>(
    { kind: 'read', conversation },
    conversation.steps.map(({ buffer }) => buffer),
  );
}

/** Undefined is no value of JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch {
    return undefined;
  }
}
