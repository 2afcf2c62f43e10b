/** The native model routes: the surface of all models, one model's state, loading and unloading, and its file. */
import Type from 'typebox';
import type { Principal } from '../../../platform/http/principal.ts';
import { json, type Reply, type Route, route } from '../../../platform/http/route.ts';
import { type SecurityApi, toolCallErrors } from '../../security/index.ts';
import type { ModelControl, ModelDetail } from '../backend.ts';
import { errorSpecs, inferenceError, modelErrors } from '../errors.ts';
import { inferenceFailure } from '../failure.ts';
import type { ModelSource } from '../models/model-source.ts';
import { type ModelRemover, removeModel } from '../pulls/model-removal.ts';
import type { InferenceService } from '../service.ts';
import { inferenceModel, listedModel, storedModelDetail } from './model-body.ts';
import {
  InferenceModel,
  ListedModel,
  LoadRequest,
  ModelParams,
  PinRequest,
  RemovalQuery,
  RemovedModel,
  StoredModelDetail,
  UnloadRequest,
} from './model-schemas.ts';

const smallBody = 64_000;
const tag = 'Models';
const missing = errorSpecs('model_not_found', 'internal');

export interface ModelRouteDeps {
  service: InferenceService;
  /** Asked before what concerns the models of every tenant. */
  security: Pick<SecurityApi, 'requireToolCall'>;
  control: ModelControl;
  source: ModelSource;
  library: ModelRemover;
  /** Reports the failure of a load that nobody waits for. */
  onLoadError: (id: string, error: unknown) => void;
}

export function modelRoutes(deps: ModelRouteDeps): Route[] {
  const { service, control, source, library, security } = deps;
  return [
    route({
      method: 'GET',
      path: '/api/v1/models',
      auth: 'viewer',
      scope: 'models:read',
      maxBody: 0,
      tag,
      summary: 'Every model of the cluster',
      responses: { 200: Type.Object({ models: Type.Array(ListedModel), count: Type.Integer() }) },
      errors: errorSpecs('internal'),
      handle: async ({ caller }) => {
        const cards = await service.models(caller);
        return json(200, { models: cards.map(listedModel), count: cards.length });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/inference/models/{id}',
      auth: 'viewer',
      scope: 'models:read',
      maxBody: 0,
      tag,
      summary: 'One model of this node: abilities, state, engine limits and statistics',
      params: ModelParams,
      responses: { 200: InferenceModel },
      errors: missing,
      handle: async ({ params, caller }) => {
        await requireAllowed(service, params.id, caller);
        return json(200, inferenceModel(await getDetail(control, params.id)));
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/inference/models/{id}/load',
      auth: 'admin',
      scope: 'models:manage',
      maxBody: smallBody,
      tag,
      summary: 'Load a model into memory',
      params: ModelParams,
      body: LoadRequest,
      bodyOptional: true,
      responses: { 200: InferenceModel, 202: InferenceModel },
      errors: [...modelErrors, ...toolCallErrors],
      handle: async ({ caller, params, body, signal }) => {
        security.requireToolCall(caller, 'models.load');
        await requireAllowed(service, params.id, caller);
        return load(deps, params.id, body?.wait ?? true, signal);
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/inference/models/{id}/unload',
      auth: 'admin',
      scope: 'models:manage',
      maxBody: smallBody,
      tag,
      summary: 'Free the memory of a model',
      description: 'New requests are refused with model_unloading while running ones finish; then the memory is freed.',
      params: ModelParams,
      body: UnloadRequest,
      bodyOptional: true,
      responses: { 200: InferenceModel },
      errors: [...missing, ...toolCallErrors],
      handle: async ({ caller, params, body }) => {
        security.requireToolCall(caller, 'models.unload');
        await requireAllowed(service, params.id, caller);
        return unload(control, params.id, body?.force ?? false);
      },
    }),
    route({
      method: 'PUT',
      path: '/api/v1/inference/models/{id}/pin',
      auth: 'admin',
      scope: 'models:manage',
      maxBody: smallBody,
      tag,
      summary: 'Pin a model: keep it in memory once it is loaded',
      params: ModelParams,
      body: PinRequest,
      responses: { 200: InferenceModel },
      errors: [...missing, ...toolCallErrors],
      handle: async ({ caller, params, body }) => {
        security.requireToolCall(caller, 'models.pin');
        await requireAllowed(service, params.id, caller);
        await getDetail(control, params.id);
        control.setPinned(params.id, body.pinned);
        return json(200, inferenceModel(await getDetail(control, params.id)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/inference/models/{id}',
      auth: 'admin',
      scope: 'models:manage',
      maxBody: 0,
      tag,
      summary: 'Delete a model: out of memory, then off the disk',
      description: 'A model that requests use is refused unless `force` is given. Models outside models_dir are never changed.',
      params: ModelParams,
      query: RemovalQuery,
      responses: { 200: RemovedModel },
      errors: [...errorSpecs('model_not_found', 'model_read_only', 'model_in_use', 'internal'), ...toolCallErrors],
      handle: async ({ caller, params, query }) => {
        security.requireToolCall(caller, 'models.delete');
        await requireAllowed(service, params.id, caller);
        const { name, sizeBytes } = await removeModel(control, library, params.id, { force: query.force ?? false });
        return json(200, { id: name, deleted: true, size_bytes: sizeBytes });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/data/models/{id}',
      auth: 'viewer',
      scope: 'models:read',
      maxBody: 0,
      tag,
      summary: 'The file of a model: size, hash, license',
      params: ModelParams,
      responses: { 200: StoredModelDetail },
      errors: missing,
      handle: async ({ params, caller }) => {
        await requireAllowed(service, params.id, caller);
        const stored = await source.find(params.id);
        if (!stored) throw unknownModel(params.id);
        return json(200, storedModelDetail(stored));
      },
    }),
  ];
}

async function load({ control, onLoadError }: ModelRouteDeps, id: string, wait: boolean, signal: AbortSignal): Promise<Reply> {
  await getDetail(control, id);
  // A load that nobody waits for must not end with the request that asked for it.
  const loading = control.load(id, wait ? signal : new AbortController().signal);
  if (wait) await loading.catch(throwFailure);
  else loading.catch((error: unknown) => onLoadError(id, error));
  const detail = await getDetail(control, id);
  if (detail.card.state === 'loaded') return json(200, inferenceModel(detail));
  // Its entry appears once the file is inspected.
  return json(202, inferenceModel({ ...detail, card: { ...detail.card, state: 'loading' } }));
}

function throwFailure(error: unknown): never {
  throw inferenceFailure(error);
}

async function unload(control: ModelControl, id: string, force: boolean): Promise<Reply> {
  await getDetail(control, id);
  await control.unload(id, { force });
  return json(200, inferenceModel(await getDetail(control, id)));
}

async function getDetail(control: ModelControl, id: string): Promise<ModelDetail> {
  const detail = await control.detail(id);
  if (!detail) throw unknownModel(id);
  return detail;
}

/** A model that the caller may not use looks like one that is not there. */
async function requireAllowed(service: InferenceService, id: string, caller: Principal): Promise<void> {
  const isAllowed = await service.allowedModels(caller);
  if (!isAllowed(id)) throw unknownModel(id);
}

function unknownModel(id: string): Error {
  return inferenceError('model_not_found', `There is no model ${id} on this node; GET /api/v1/models lists all.`, {
    param: 'id',
  });
}
