/** Several files that are put into a vector store together. */
import Type from 'typebox';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { newTimeOrderedId } from '../../../platform/time-ordered-id.ts';
import { openaiErrorBody } from '../../inference/index.ts';
import { knowledgeError, knowledgeErrors } from '../errors.ts';
import type { FileToPut, VectorStores } from '../vector-stores/vector-stores.ts';
import { ChunkingStrategy, requireAutoChunking } from './chunking-strategy.ts';
import { DEFAULT_LIMIT, listPage, listShape, pageMembers } from './list-page.ts';
import { storeReadErrors, storeWriteErrors } from './store-errors.ts';
import { Status } from './store-file-routes.ts';
import { StoreParams, storePath } from './store-routes.ts';
import { AttributesShape, BatchShape, StoreFileShape, toBatchShape, toStoreFileShape } from './store-shape.ts';

/** As OpenAI bounds it. */
const MAX_FILES = 2_000;
const path = `${storePath}/{vector_store_id}/file_batches`;
const BatchParams = Type.Object({ ...StoreParams.properties, batch_id: Type.String({ maxLength: 64 }) });
const errors = [...storeReadErrors, 'file_batch_not_found', 'file_not_found'] as const;
const Attributes = Type.Optional(Type.Union([AttributesShape, Type.Null()]));
const FileId = Type.String({ maxLength: 64 });
const Strategy = Type.Optional(ChunkingStrategy);

const { get, post } = routes({
  tag: 'Vector stores',
  auth: 'developer',
  scope: 'knowledge:write',
  errors: knowledgeErrors,
  errorBody: openaiErrorBody,
});

export function batchRoutes(stores: VectorStores): Route[] {
  return [createRoute(stores), getRoute(stores), filesRoute(stores), cancelRoute(stores)];
}

function createRoute(stores: VectorStores): Route {
  return post(path, {
    maxBody: 16 * 1024 * 1024,
    summary: 'Put several stored files into a vector store',
    description:
      'Either `file_ids` or `files`; `attributes` are those of files without attributes of their own. An unknown file refuses the whole batch, before anything of it is indexed.',
    params: StoreParams,
    body: Type.Object({
      file_ids: Type.Optional(Type.Array(FileId, { maxItems: MAX_FILES })),
      files: Type.Optional(
        Type.Array(Type.Object({ file_id: FileId, attributes: Attributes, chunking_strategy: Strategy }), {
          maxItems: MAX_FILES,
        }),
      ),
      attributes: Attributes,
      chunking_strategy: Strategy,
    }),
    answer: BatchShape,
    errors: storeWriteErrors,
    handle: async ({ caller, params, body }) => {
      const { file_ids: ids, files, attributes, chunking_strategy: strategy } = body;
      requireAutoChunking(strategy);
      for (const [i, file] of (files ?? []).entries())
        requireAutoChunking(file.chunking_strategy, `files[${i}].chunking_strategy`);
      if ((ids === undefined) === (files === undefined))
        throw knowledgeError('invalid_request', 'Send either file_ids or files.', { param: 'file_ids' });
      const all = [
        ...(ids ?? []).map((fileId) => ({ fileId, attributes: attributes ?? {}, param: 'file_ids' })),
        ...(files ?? []).map((file, i) => ({
          fileId: file.file_id,
          attributes: file.attributes ?? attributes ?? {},
          param: `files[${i}].file_id`,
        })),
      ];
      if (all.length === 0)
        throw knowledgeError('invalid_request', 'The batch has no file.', { param: ids === undefined ? 'files' : 'file_ids' });
      const base = await stores.get(caller, params.vector_store_id);
      const id = `vsfb_${newTimeOrderedId().replaceAll('-', '')}`;
      await stores.put(caller, base, distinct(all), id);
      const counts = await stores.batch(caller, base, id);
      if (counts === undefined) throw batchNotFound(id);
      return toBatchShape(base.id, id, counts);
    },
  });
}

function getRoute(stores: VectorStores): Route {
  return get(`${path}/{batch_id}`, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'Get a batch of files',
    params: BatchParams,
    answer: BatchShape,
    errors,
    handle: ({ caller, params: { vector_store_id: storeId, batch_id: id } }) => shown(stores, caller, storeId, id),
  });
}

function filesRoute(stores: VectorStores): Route {
  return get(`${path}/{batch_id}/files`, {
    auth: 'viewer',
    scope: 'knowledge:read',
    summary: 'List the files of a batch',
    params: BatchParams,
    query: Type.Object({ ...pageMembers, filter: Status }),
    answer: listShape(StoreFileShape),
    errors,
    handle: async ({ caller, params, query: { limit = DEFAULT_LIMIT, order = 'desc', after, before, filter } }) => {
      const { vector_store_id: storeId, batch_id: batchId } = params;
      await shown(stores, caller, storeId, batchId);
      const base = await stores.get(caller, storeId);
      const page = { limit: limit + 1, order, after, before, batchId, status: filter };
      const files = await stores.files(caller, base, page);
      const list = files.map((file) => toStoreFileShape(base.id, file));
      return listPage(list, limit);
    },
  });
}

function cancelRoute(stores: VectorStores): Route {
  return post(`${path}/{batch_id}/cancel`, {
    maxBody: 1_024,
    bodyOptional: true,
    summary: 'Cancel a batch: its files that wait are not indexed',
    params: BatchParams,
    answer: BatchShape,
    errors,
    handle: async ({ caller, params: { vector_store_id: storeId, batch_id: id } }) => {
      await shown(stores, caller, storeId, id);
      await stores.cancelBatch(caller, await stores.get(caller, storeId), id);
      return await shown(stores, caller, storeId, id);
    },
  });
}

async function shown(stores: VectorStores, caller: Parameters<VectorStores['get']>[0], storeId: string, id: string) {
  const base = await stores.get(caller, storeId);
  const counts = await stores.batch(caller, base, id);
  if (counts === undefined) throw batchNotFound(id);
  return toBatchShape(base.id, id, counts);
}

/** A file that is named twice is one. */
function distinct(files: readonly FileToPut[]): FileToPut[] {
  return [...new Map(files.map((file) => [file.fileId, file])).values()];
}

function batchNotFound(id: string): Error {
  return knowledgeError('file_batch_not_found', `No file batch found with id '${id.slice(0, 80).toWellFormed()}'.`, {
    param: 'batch_id',
  });
}
