/** Routes of responses that are kept: read, delete, and what went into them. */
import Type from 'typebox';
import { scopeOf } from '../../../../platform/http/principal.ts';
import { json, type Route, type RouteSpec, route } from '../../../../platform/http/route.ts';
import { keptResponseErrors } from '../../errors.ts';
import { openaiErrorBody } from '../openai/error-body.ts';
import type { ResponsesDeps } from './creation.ts';
import { inputItemPage } from './input-item-page.ts';
import { keptResponseObject } from './response-object.ts';
import { ResponseShape } from './response-shape.ts';

const path = '/v1/responses/{id}';
const params = Type.Object({ id: Type.String({ description: 'Id of a response of the caller’s tenant.' }) });
/** What OpenAI adds only on request, every answer here has as it was made. */
const include = Type.Optional(
  Type.Array(Type.String(), { description: 'Accepted: a kept response has all that it was made with.' }),
);
const includes = { include, 'include[]': include };

const common = {
  auth: 'viewer',
  maxBody: 0,
  tag: 'Chat',
  params,
  errors: keptResponseErrors,
  errorBody: openaiErrorBody,
} satisfies Partial<RouteSpec<typeof params, never, never>>;

export function keptResponseRoutes(deps: ResponsesDeps): Route[] {
  return [getRoute(deps), deleteRoute(deps), inputItemsRoute(deps)];
}

function getRoute({ keeper }: ResponsesDeps): Route {
  return route({
    ...common,
    method: 'GET',
    path,
    summary: 'Get a response',
    query: Type.Object(includes),
    responses: { 200: ResponseShape },
    handle: async ({ params, caller }) => json(200, keptResponseObject(await keeper.get(scopeOf(caller), params.id))),
  });
}

function deleteRoute({ keeper }: ResponsesDeps): Route {
  return route({
    ...common,
    method: 'DELETE',
    path,
    summary: 'Delete a response',
    description: 'Erases it. Responses that continue it cannot be continued any more.',
    responses: {
      200: Type.Object({ id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) }),
    },
    handle: async ({ params, caller }) => {
      await keeper.delete(scopeOf(caller), params.id);
      return json(200, { id: params.id, object: 'response', deleted: true });
    },
  });
}

function inputItemsRoute({ keeper }: ResponsesDeps): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${path}/input_items`,
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
    handle: async ({ params, query, caller }) =>
      json(200, inputItemPage(await keeper.inputItems(scopeOf(caller), params.id), query)),
  });
}
