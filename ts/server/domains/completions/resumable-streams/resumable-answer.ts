/** An answer whose stream goes on when its client is gone, and can be resumed. */
import { randomUUID } from 'node:crypto';
import type { EventsReply } from '../../../platform/http/route.ts';
import { Frames } from '../answer/frames.ts';
import type { ConversationCall, OpenAnswer, RunOptions } from '../answer/pending-answer.ts';
import { completionFailure, httpErrorOf } from '../declared-errors.ts';
import { type CompletionError, completionError } from '../errors.ts';
import type { ResumableStream } from './resumable-stream.ts';
import type { StreamRegistry } from './stream-registry.ts';

/** Undefined: there is no memory for it. Throws `stream_exists`. */
export function openResumable(streams: StreamRegistry, answer: OpenAnswer, call: ConversationCall): ResumableStream | undefined {
  const { asker, conversation, model, wire } = answer;
  if (conversation === undefined) return undefined;
  const { id = randomUUID(), parentId, prefix } = call.answer;
  return streams.open(
    { id, owner: conversation.owner, conversationId: call.id, parentId, prefix, model: model.card.id },
    {
      errorFrame: (error) => errorFrame(wire, error),
      recheck: async () => await asker.recheck?.(),
      whenStored: async () => await answer.recording?.whenStored(),
    },
  );
}

/** Until the stream opens, the answer ends with its client; then it goes on. */
export async function answerResumably(
  streams: StreamRegistry,
  stream: ResumableStream,
  answer: OpenAnswer,
  headers: Record<string, string>,
  run: (options: RunOptions) => Promise<EventsReply>,
): Promise<EventsReply> {
  const { signal } = answer.asker.options;
  const leave = () => streams.fail(stream, completionError('client_closed', 'The client went away.'));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    (await run({ signal: stream.signal, onLeave: () => answer.recording?.storePart(stream.cutBy) })).start(stream);
  } catch (error) {
    // Who cancelled it before it began is told in the stream, as later on.
    if (stream.state !== 'cancelled') {
      streams.fail(stream, completionFailure(error));
      throw error;
    }
  } finally {
    signal.removeEventListener('abort', leave);
  }
  return { kind: 'events', headers: { ...headers, 'x-svc-stream': streams.nameOf(stream) }, start: stream.follow(0) };
}

function errorFrame(wire: OpenAnswer['wire'], error: CompletionError): string {
  const frames = new Frames();
  wire.encoder().error(frames, httpErrorOf(error));
  return Buffer.from(frames.take()).toString();
}
