/** Files of a vector store. */
import Type from 'typebox';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { knowledgeErrors } from '../errors.ts';
import type { KnowledgeService } from '../service.ts';
import type { VectorStores } from '../vector-stores/vector-stores.ts';
import { ChunkingStrategy, requireAutoChunking } from './chunking-strategy.ts';
import { documentText } from './document-text.ts';
import { DEFAULT_LIMIT, listPage, listShape, pageMembers } from './list-page.ts';
import { storeReadErrors, storeWriteErrors } from './store-errors.ts';
import { StoreParams, storePath } from './store-routes.ts';
import { AttributesShape, StoreFileShape, toStoreFileShape } from './store-shape.ts';

const path = `${storePath}/{vector_store_id}/files`;
const FileParams = Type.Object({ ...StoreParams.properties, file_id: Type.String({ maxLength: 64 }) });
const readErrors = [...storeReadErrors, 'file_not_found'] as const;
const Attributes = Type.Optional(Type.Union([AttributesShape, Type.Null()]));

export const Status = Type.Optional(Type.Enum(['in_progress', 'completed', 'failed', 'cancelled']));

interface StoreFileDeps {
  readonly stores: VectorStores;
  readonly knowledge: KnowledgeService;
}

const { get, post, del } = routes({
  tag: 'Vector stores',
  auth: 'developer',
  scope: 'knowledge:write',
  maxBody: 1024 * 1024,
  errors: knowledgeErrors,
  errorBody: openaiErrorBody,
});

export function storeFileRoutes(deps: StoreFileDeps): Route[] {
  const { stores } = deps;
  return [attachRoute(stores), listRoute(stores), getRoute(stores), changeRoute(stores), contentRoute(deps), deleteRoute(stores)];
}

function attachRoute(stores: VectorStores): Route {
  return post(path, {
    summary: 'Put a stored file into a vector store',
    description:
      'It is indexed in the background; `status` tells when it can be found. A file that is there already stays as it is.',
    params: StoreParams,
    body: Type.Object({
      file_id: Type.String({ maxLength: 64 }),
      attributes: Attributes,
      chunking_strategy: Type.Optional(ChunkingStrategy),
    }),
    answer: StoreFileShape,
    errors: storeWriteErrors,
    handle: async ({ caller, params, body: { file_id: fileId, attributes, chunking_strategy: strategy } }) => {
      requireAutoChunking(strategy);
      const base = await stores.get(caller, params.vector_store_id);
      await stores.put(caller, base, [{ fileId, attributes: attributes ?? {}, param: 'file_id' }]);
      return toStoreFileShape(base.id, await stores.file(caller, base, fileId));
    },
  });
}

function listRoute(stores: VectorStores): Route {
  return get(path, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'List the files of a vector store',
    description: 'Also documents that were added to the knowledge base in other ways.',
    params: StoreParams,
    query: Type.Object({ ...pageMembers, filter: Status }),
    answer: listShape(StoreFileShape),
    errors: readErrors,
    handle: async ({ caller, params, query: { limit = DEFAULT_LIMIT, order = 'desc', after, before, filter } }) => {
      const base = await stores.get(caller, params.vector_store_id);
      const found = await stores.files(caller, base, { limit: limit + 1, order, after, before, status: filter });
      const shown = found.map((file) => toStoreFileShape(base.id, file));
      return listPage(shown, limit);
    },
  });
}

function getRoute(stores: VectorStores): Route {
  return get(`${path}/{file_id}`, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Get a file of a vector store',
    params: FileParams,
    answer: StoreFileShape,
    errors: readErrors,
    handle: async ({ caller, params }) => {
      const base = await stores.get(caller, params.vector_store_id);
      return toStoreFileShape(base.id, await stores.file(caller, base, params.file_id));
    },
  });
}

function changeRoute(stores: VectorStores): Route {
  return post(`${path}/{file_id}`, {
    summary: 'Change the attributes of a file, by which searches filter',
    params: FileParams,
    body: Type.Object({ attributes: Type.Union([AttributesShape, Type.Null()]) }),
    answer: StoreFileShape,
    errors: readErrors,
    handle: async ({ caller, params, body }) => {
      const base = await stores.get(caller, params.vector_store_id);
      const file = await stores.setAttributes(caller, base, params.file_id, body.attributes ?? {});
      return toStoreFileShape(base.id, file);
    },
  });
}

function contentRoute({ stores, knowledge }: StoreFileDeps): Route {
  return get(`${path}/{file_id}/content`, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Get the text that was read of a file',
    params: FileParams,
    answer: Type.Object({
      object: Type.Literal('vector_store.file_content.page'),
      data: Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() })),
      has_more: Type.Boolean(),
      next_page: Type.Union([Type.String(), Type.Null()]),
    }),
    errors: readErrors,
    handle: async ({ caller, params }) => {
      const base = await stores.get(caller, params.vector_store_id);
      const file = await stores.file(caller, base, params.file_id);
      const data: { type: 'text'; text: string }[] = [];
      for await (const piece of documentText(knowledge, caller, file))
        data.push({ type: 'text', text: Buffer.from(piece).toString() });
      return { object: 'vector_store.file_content.page' as const, data, has_more: false, next_page: null };
    },
  });
}

function deleteRoute(stores: VectorStores): Route {
  return del(`${path}/{file_id}`, {
    summary: 'Take a file out of a vector store; the stored file stays',
    params: FileParams,
    answer: Type.Object({ id: Type.String(), object: Type.Literal('vector_store.file.deleted'), deleted: Type.Literal(true) }),
    errors: readErrors,
    handle: async ({ caller, params }) => {
      const base = await stores.get(caller, params.vector_store_id);
      await stores.removeFile(caller, base, params.file_id);
      return { id: params.file_id, object: 'vector_store.file.deleted' as const, deleted: true as const };
    },
  });
}
