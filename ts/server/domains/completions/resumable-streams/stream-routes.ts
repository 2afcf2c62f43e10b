/** Answers that are being made, and those that have just been: list them, follow one, end it. */

import Type, { type Static } from 'typebox';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { ownerOf } from '../../conversations/index.ts';
import { streamErrors } from '../declared-errors.ts';
import { invalid } from '../errors.ts';
import { eventsGone, type ResumableStream } from './resumable-stream.ts';
import type { StreamRegistry } from './stream-registry.ts';

const STREAMS = '/api/v1/edge/conversations/streams';
const Id = Type.String({ minLength: 1, maxLength: 200 });
const Params = Type.Object({ id: Id });

const StreamShape = named(
  'AnswerStream',
  Type.Object({
    id: Type.String({ description: 'Also the id of the message that the answer becomes.' }),
    stream: Type.String({ description: 'The name by which any node of the cluster finds it, as X-Svc-Stream has it.' }),
    conversation_id: Type.String(),
    parent_id: Type.Union([Type.String(), Type.Null()], {
      description: 'The message that the answer follows; null: its question is stored with it.',
    }),
    prefix: Type.String({ description: 'What the stored answer begins with, and the events do not have.' }),
    model: Type.String(),
    state: Type.Enum(['running', 'completed', 'cancelled', 'failed']),
    last_event_id: Type.Integer({ description: 'Of the newest event.' }),
    created_at: Type.String({ format: 'date-time' }),
  }),
);

const StreamList = named('AnswerStreamList', Type.Object({ data: Type.Array(StreamShape) }));

const FollowQuery = Type.Object({
  last_event_id: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'For clients that cannot send the header Last-Event-ID, which wins. Without either, all events.',
    }),
  ),
});

const { get, del } = routes({ tag: 'Conversations', auth: 'viewer', scope: 'account:manage' });

export function streamRoutes(streams: StreamRegistry): Route[] {
  return [listRoute(streams), followRoute(streams), cancelRoute(streams)];
}

function listRoute(streams: StreamRegistry): Route {
  return get(STREAMS, {
    summary: 'Answers that are being made for you, or have just been',
    description:
      'Those of chats that were asked for with `resumable`, oldest first, of every node that answers, since its last start. Ask for them before the ' +
      'messages of the conversation: an answer that is in neither was not kept.',
    query: Type.Object({ id: Type.Optional(Id) }, { description: 'Of one conversation.' }),
    answer: StreamList,
    handle: ({ caller, query }) => ({ data: streams.list(ownerOf(caller), query.id).map((stream) => toShape(streams, stream)) }),
  });
}

function followRoute(streams: StreamRegistry): Route {
  return get(`${STREAMS}/{id}`, {
    summary: 'Go on with the stream of an answer behind the event that arrived last',
    description:
      'The events behind Last-Event-ID, byte for byte as they were, then those that come, until `[DONE]` or an event with `error`. Any number of ' +
      'clients may follow one answer. 204: it has ended, and there is no event behind that one. A stream can be followed for ' +
      '`inference.stream_keep_seconds` after its end; the answer itself is in the conversation then. It is 404 after a restart of the node as well.',
    params: Params,
    query: FollowQuery,
    responses: { 200: Type.String({ description: 'Server-sent events of the chat.' }), 204: Type.Null() },
    stream: Type.Object({}, { description: 'An event of POST /v1/chat/completions.' }),
    errors: streamErrors,
    handle: ({ caller, params, query, headers }) => {
      const stream = streams.get(ownerOf(caller), params.id);
      const after = readEventId(headers.get('last-event-id')) ?? query.last_event_id ?? 0;
      if (after > stream.last)
        throw invalid('last_event_id', `The stream has no event ${after} yet; its newest one is ${stream.last}.`);
      if (after < stream.floor) throw eventsGone();
      const isOver = stream.state !== 'running' && after === stream.last;
      if (isOver) return { kind: 'bytes', status: 204, headers: {}, body: '' };
      return { kind: 'events', headers: {}, start: stream.follow(after) };
    },
  });
}

function cancelRoute(streams: StreamRegistry): Route {
  return del(`${STREAMS}/{id}`, {
    summary: 'End an answer that is being made',
    description:
      'Everyone who follows it hears so. When the answer comes, the part that was generated is in the conversation, with ' +
      '`metadata: {"incomplete": "cancelled"}`. An answer that has ended stays as it is.',
    params: Params,
    answer: StreamShape,
    errors: streamErrors,
    handle: async ({ caller, params }) => toShape(streams, await streams.cancel(ownerOf(caller), params.id)),
  });
}

function toShape(streams: StreamRegistry, stream: ResumableStream): Static<typeof StreamShape> {
  const { about, state, last, startedAt } = stream;
  const { id, conversationId, parentId, prefix, model } = about;
  return {
    id,
    stream: streams.nameOf(stream),
    conversation_id: conversationId,
    parent_id: parentId ?? null,
    prefix,
    model,
    state,
    last_event_id: last,
    created_at: new Date(startedAt).toISOString(),
  };
}

/** An empty header is that of a client that has no event yet. */
function readEventId(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid('last_event_id', 'Last-Event-ID must be the `id` of an event of this stream, a whole number.');
}
