/** Routes of responses that are kept: read and follow, cancel, delete, and what went into them. */
import Type from 'typebox';
import { scopeOf } from '../../../../platform/http/principal.ts';
import { json, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { ignoredMember } from '../../../../platform/schema/member-effect.ts';
import { openaiErrorBody } from '../../../inference/index.ts';
import { storedResponseErrors } from '../../declared-errors.ts';
import { invalid } from '../../errors.ts';
import type { KeptItem } from '../../stored-responses/kept-response.ts';
import { Includable, requireIncluded } from './includables.ts';
import { keptResponseObject, ResponseEvent, ResponseShape } from './response-object.ts';
import type { ResponseRouteDeps } from './route.ts';

const path = '/v1/responses/{id}';
const params = Type.Object({ id: Type.String({ description: 'Id of a response of the caller’s tenant.' }) });
/** OpenAI adds these only on request; every answer here has what it was made with. */
const include = Type.Optional(
  Type.Array(Includable, {
    maxItems: 64,
    description: 'A kept response has what it was made with, asked for or not. What it was not made with is refused.',
  }),
);
const includes = { include, 'include[]': include };

function includedOf(query: { include?: string[]; 'include[]'?: string[] }): string[] {
  return [...(query.include ?? []), ...(query['include[]'] ?? [])];
}

const { get, post, del } = routes({ tag: 'Chat', auth: 'viewer', scope: 'chat:use', errorBody: openaiErrorBody });

export function keptResponseRoutes(deps: ResponseRouteDeps): Route[] {
  return [getRoute(deps), cancelRoute(deps), deleteRoute(deps), inputItemsRoute(deps)];
}

function getRoute({ background, access }: ResponseRouteDeps): Route {
  return get(path, {
    params,
    errors: storedResponseErrors,
    summary: 'Get a response, or its events',
    description:
      'With `stream=true`, the events of a response that was created with `background`: those behind `starting_after`, then those that ' +
      'come, until the response has ended. The stream of a cancelled response ends without an event of its own. A response that is ' +
      'begun anew, since its node was killed or its model was busy, goes on with another `response.in_progress` under much greater numbers, and the output ' +
      'before that counts no more.',
    query: Type.Object({
      stream: Type.Optional(Type.Boolean({ description: 'Server-sent events instead of one body.' })),
      starting_after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'sequence_number of the last event that arrived; with `stream=true`.',
        }),
      ),
      include_obfuscation: ignoredMember('Events carry no obfuscation here.'),
      ...includes,
    }),
    responses: { 200: ResponseShape },
    stream: ResponseEvent,
    handle: async ({ params, query, caller }) => {
      const scope = scopeOf(caller);
      await access.require(caller, params.id);
      if (!query.stream && query.starting_after !== undefined)
        throw invalid('starting_after', 'starting_after goes with stream=true, which sends the events behind it.');
      const kept = await background.get(scope, params.id);
      requireIncluded([kept.head], includedOf(query));
      if (!query.stream) return json(200, keptResponseObject(kept));
      const start = await background.follow(scope, params.id, query.starting_after ?? -1);
      return { kind: 'events', headers: {}, start };
    },
  });
}

function cancelRoute({ background, access }: ResponseRouteDeps): Route {
  return post(`${path}/cancel`, {
    params,
    errors: storedResponseErrors,
    summary: 'Cancel a background response',
    description: 'Answers with the response; one that has ended stays as it is.',
    responses: { 200: ResponseShape },
    handle: async ({ params, caller }) => {
      await access.require(caller, params.id);
      return json(200, keptResponseObject(await background.cancel(scopeOf(caller), params.id)));
    },
  });
}

function deleteRoute({ background, access }: ResponseRouteDeps): Route {
  return del(path, {
    params,
    errors: storedResponseErrors,
    summary: 'Delete a response',
    description:
      'Erases it with its events, and cancels it before that. Responses that continue it cannot be continued any more.',
    answer: Type.Object({ id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) }),
    handle: async ({ params, caller }) => {
      await access.require(caller, params.id);
      await background.delete(scopeOf(caller), params.id);
      return { id: params.id, object: 'response' as const, deleted: true as const };
    },
  });
}

function inputItemsRoute({ keeper, access }: ResponseRouteDeps): Route {
  return get(`${path}/input_items`, {
    params,
    errors: storedResponseErrors,
    summary: 'List the input items of a response',
    description: 'Also those of the responses that it continues, with their output. Instructions are no items.',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 20.' })),
      order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Default desc: the newest first.' })),
      after: Type.Optional(Type.String({ description: 'Id of the last item of the page before.' })),
      ...includes,
    }),
    responses: {
      200: Type.Object({
        object: Type.Literal('list'),
        data: Type.Array(Type.Object({ id: Type.String(), type: Type.String() })),
        first_id: Type.Union([Type.String(), Type.Null()]),
        last_id: Type.Union([Type.String(), Type.Null()]),
        has_more: Type.Boolean(),
      }),
    },
    handle: async ({ params, query, caller }) => {
      await access.require(caller, params.id);
      const scope = scopeOf(caller);
      const items = await keeper.inputItems(scope, params.id);
      const include = includedOf(query);
      if (include.length > 0) requireIncluded(await keeper.earlierHeads(scope, params.id), include);
      return json(200, inputItemPage(items, query));
    },
  });
}

const defaultLimit = 20;
/** A page ends before the item with which it would be longer, as JSON text; it has one if there is any. */
const maxPageLength = 8 * 1024 * 1024;

interface PageQuery {
  limit?: number;
  order?: 'asc' | 'desc';
  after?: string;
}

/** Returns one page in the shape of OpenAI's lists. `items` are oldest first. Throws when `after` is none of them. */
function inputItemPage(items: readonly KeptItem[], { limit = defaultLimit, order = 'desc', after }: PageQuery) {
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : indexBehind(ordered, after);
  const data = fitting(ordered.slice(start, start + limit));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < ordered.length,
  };
}

function fitting(items: readonly KeptItem[]): KeptItem[] {
  let length = 0;
  const overflow = items.findIndex((item) => {
    length += JSON.stringify(item).length;
    return length > maxPageLength;
  });
  return items.slice(0, overflow < 0 ? items.length : Math.max(1, overflow));
}

/** Clients may give several items one id; the last of them is taken, so that a client that pages on comes to an end. */
function indexBehind(items: readonly KeptItem[], id: string): number {
  const index = items.findLastIndex((item) => item.id === id);
  if (index < 0) throw invalid('after', 'after must be the id of an input item of this response.');
  return index + 1;
}
