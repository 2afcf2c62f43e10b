/** /v1/vector_stores: knowledge bases by OpenAI's names. */
import Type, { type Static } from 'typebox';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { ignoredMember } from '../../../platform/schema/member-effect.ts';
import { named } from '../../../platform/schema/named.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { knowledgeErrors } from '../errors.ts';
import type { VectorStores } from '../vector-stores/vector-stores.ts';
import { ChunkingStrategy, requireAutoChunking } from './chunking-strategy.ts';
import { DEFAULT_LIMIT, listPage, listShape, pageMembers } from './list-page.ts';
import { storeReadErrors, storeWriteErrors } from './store-errors.ts';
import { ExpiresAfter, Metadata, StoreShape, toStoreShape } from './store-shape.ts';

export const storePath = '/v1/vector_stores';
export const StoreParams = Type.Object({ vector_store_id: Type.String({ maxLength: 128 }) });

/** As many as OpenAI takes at a time. */
const MAX_FILES = 500;

const orNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const FileIds = Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_FILES, uniqueItems: true });

const CreateStore = named(
  'CreateVectorStore',
  Type.Object({
    name: orNull(Type.String({ maxLength: 256 })),
    description: ignoredMember('A name is enough to tell stores apart, and it is kept nowhere.'),
    file_ids: Type.Optional(FileIds),
    metadata: orNull(Metadata),
    expires_after: orNull(ExpiresAfter),
    chunking_strategy: Type.Optional(ChunkingStrategy),
  }),
);

const ChangeStore = named(
  'ChangeVectorStore',
  Type.Object({
    name: orNull(Type.String({ minLength: 1, maxLength: 256 })),
    metadata: orNull(Metadata),
    expires_after: orNull(ExpiresAfter),
  }),
);

const { get, post, del } = routes({
  tag: 'Vector stores',
  auth: 'developer',
  scope: 'knowledge:write',
  maxBody: 1024 * 1024,
  errors: knowledgeErrors,
  errorBody: openaiErrorBody,
});

export function storeRoutes(stores: VectorStores): Route[] {
  return [createRoute(stores), listRoute(stores), getRoute(stores), changeRoute(stores), deleteRoute(stores)];
}

function createRoute(stores: VectorStores): Route {
  return post(storePath, {
    summary: 'Make a vector store',
    description:
      'It is a knowledge base, whose `namespace` is made of `name`. Files are indexed in the background. With `expires_after` it is deleted, with all that it ' +
      'has, when nobody searched it or added to it for so long; the stored files stay.',
    body: CreateStore,
    bodyOptional: true,
    answer: StoreShape,
    errors: storeWriteErrors,
    handle: async ({ caller, body = {} }) => {
      requireAutoChunking(body.chunking_strategy);
      const { name, metadata, expires_after: expiry, file_ids: ids = [] } = body as Static<typeof CreateStore>;
      const wanted = { title: name ?? undefined, metadata: metadata ?? undefined, expiresDays: expiry?.days };
      const files = ids.map((fileId) => ({ fileId, attributes: {}, param: 'file_ids' }));
      return toStoreShape(await stores.create(caller, wanted, files));
    },
  });
}

function listRoute(stores: VectorStores): Route {
  return get(storePath, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'List vector stores',
    description: 'All knowledge bases that the caller may use, however they were made.',
    query: Type.Object(pageMembers),
    answer: listShape(StoreShape),
    errors: storeReadErrors,
    handle: async ({ caller, query: { limit = DEFAULT_LIMIT, order = 'desc', after, before } }) => {
      const found = await stores.list(caller, { limit: limit + 1, order, after, before });
      return listPage(found.map(toStoreShape), limit);
    },
  });
}

function getRoute(stores: VectorStores): Route {
  return get(`${storePath}/{vector_store_id}`, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Get a vector store',
    params: StoreParams,
    answer: StoreShape,
    errors: storeReadErrors,
    handle: async ({ caller, params }) => toStoreShape(await stores.show(caller, params.vector_store_id)),
  });
}

function changeRoute(stores: VectorStores): Route {
  return post(`${storePath}/{vector_store_id}`, {
    summary: 'Change the name, metadata or expiry of a vector store',
    description: 'The namespace stays as it is.',
    params: StoreParams,
    body: ChangeStore,
    answer: StoreShape,
    errors: storeReadErrors,
    handle: async ({ caller, params, body: { name, metadata, expires_after: expiry } }) => {
      const change = {
        title: name ?? undefined,
        metadata: metadata === null ? {} : metadata,
        expiresDays: expiry === null ? null : expiry?.days,
      };
      return toStoreShape(await stores.change(caller, params.vector_store_id, change));
    },
  });
}

function deleteRoute(stores: VectorStores): Route {
  return del(`${storePath}/{vector_store_id}`, {
    summary: 'Delete a vector store with its passages; the stored files stay',
    params: StoreParams,
    answer: Type.Object({ id: Type.String(), object: Type.Literal('vector_store.deleted'), deleted: Type.Literal(true) }),
    errors: storeReadErrors,
    handle: async ({ caller, params: { vector_store_id: id } }) => {
      await stores.remove(caller, id);
      return { id, object: 'vector_store.deleted' as const, deleted: true as const };
    },
  });
}
