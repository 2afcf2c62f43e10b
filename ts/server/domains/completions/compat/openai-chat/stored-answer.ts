/** A chat's stream whose answer is stored in a conversation: it ends with its client, or goes on and can be resumed. */

import { randomUUID } from 'node:crypto';
import type { Reply, RequestContext } from '../../../../platform/http/route.ts';
import {
  type CallOptions,
  type CompletionRequest,
  type InferenceService,
  openaiErrorBody,
  type ResolvedModel,
} from '../../../inference/index.ts';
import type { StreamEncoder } from '../../answer/stream-encoder.ts';
import { StreamSession } from '../../answer/stream-session.ts';
import type { OpenConversation } from '../../conversations/open-conversation.ts';
import type { RecordingEncoder } from '../../conversations/recording-encoder.ts';
import { type CompletionError, completionError } from '../../errors.ts';
import { completionFailure, httpErrorOf } from '../../failure.ts';
import type { ResumableStream, StreamAbout, StreamParts } from '../../resumable-streams/resumable-stream.ts';
import type { StreamRegistry } from '../../resumable-streams/stream-registry.ts';
import { streamAnswer } from '../call.ts';
import type { ConversationCall } from './request.ts';

export interface StoredAnswer {
  readonly service: InferenceService;
  readonly model: ResolvedModel;
  readonly request: CompletionRequest;
  readonly recording: RecordingEncoder;
  /** Where the answer goes: to the recording, by way of what checks it. */
  readonly encoder: StreamEncoder;
  readonly options: CallOptions;
  readonly headers: Record<string, string>;
}

/** The answer ends with its client; what was generated until then is stored. */
export function streamStored({ service, model, request, recording, encoder, options, headers }: StoredAnswer): Promise<Reply> {
  return streamAnswer(service, model, request, encoder, options, headers, {
    beforeDone: (usage) => recording.store(usage),
    onLeave: () => recording.storePart('client_closed'),
  });
}

/** Until the stream opens, the answer ends with its client; then it goes on. Where nothing can be kept for readers to come, like streamStored(). */
export async function streamResumable(
  streams: StreamRegistry,
  answer: StoredAnswer,
  conversation: OpenConversation,
  call: ConversationCall,
  context: Pick<RequestContext, 'signal' | 'recheck'>,
): Promise<Reply> {
  const stream = streams.open(aboutOf(answer, conversation, call), partsOf(answer.recording, context));
  if (stream === undefined) return streamStored(answer);
  const leave = () => streams.fail(stream, completionError('client_closed', 'The client went away.'));
  if (context.signal.aborted) leave();
  context.signal.addEventListener('abort', leave, { once: true });
  try {
    await begin(answer, stream);
  } catch (error) {
    // Who cancelled it before it began is told in the stream, as later on.
    if (stream.state !== 'cancelled') {
      streams.fail(stream, completionFailure(error));
      throw error;
    }
  } finally {
    context.signal.removeEventListener('abort', leave);
  }
  return { kind: 'events', headers: { ...answer.headers, 'x-svc-stream': stream.about.id }, start: stream.follow(0) };
}

/** Resolves when the answer begins, or has waited for long; rejects with the error that came first. */
async function begin(
  { service, model, request, recording, encoder, options }: StoredAnswer,
  stream: ResumableStream,
): Promise<void> {
  const session = new StreamSession(encoder, {
    beforeDone: (usage) => recording.store(usage),
    onLeave: () => recording.storePart(stream.cutBy),
  });
  const { signal } = stream;
  session.bind(await service.complete(model, request, session, { ...options, signal }), {}, signal);
  (await session.reply).start(stream);
}

function aboutOf({ model }: StoredAnswer, { owner }: OpenConversation, { id, answer }: ConversationCall): StreamAbout {
  const { id: answerId = randomUUID(), parentId, prefix } = answer;
  return { id: answerId, owner, conversationId: id, parentId, prefix, model: model.card.id };
}

function partsOf(recording: RecordingEncoder, context: Pick<RequestContext, 'recheck'>): StreamParts {
  return { errorFrame, recheck: () => context.recheck(), whenStored: () => recording.whenStored() };
}

function errorFrame(error: CompletionError): string {
  return `data: ${JSON.stringify(openaiErrorBody.write(httpErrorOf(error), ''))}\n\n`;
}
