/** The native model routes: the surface of all models, one model's state, loading and unloading, and its file. */
import Type from 'typebox';
import type { Principal } from '../../../platform/http/principal.ts';
import { json, type Reply, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { type SecurityApi, toolCallErrors } from '../../security/index.ts';
import type { ModelControl, ModelDetail } from '../backend.ts';
import { inferenceError, inferenceErrors, modelErrors } from '../errors.ts';
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
const missing = ['model_not_found', 'internal'] as const;

export interface ModelRouteDeps {
  /** This node is called so beside others. */
  nodeName: string;
  service: InferenceService;
  /** Asked before what concerns the models of every tenant. */
  security: Pick<SecurityApi, 'requireToolCall'>;
  control: ModelControl;
  source: ModelSource;
  library: ModelRemover;
  /** Reports the failure of a load that nobody waits for. */
  onLoadError: (id: string, error: unknown) => void;
}

const { get, post, put, del } = routes({
  tag: 'Models',
  auth: 'admin',
  scope: 'models:manage',
  maxBody: smallBody,
  errors: inferenceErrors,
});

export function modelRoutes(deps: ModelRouteDeps): Route[] {
  const { service, nodeName, control, source, library, security } = deps;
  return [
    get('/api/v1/models', {
      auth: 'viewer',
      scope: 'models:read',
      summary: 'Every model of the cluster',
      answer: Type.Object({ models: Type.Array(ListedModel), count: Type.Integer() }),
      errors: ['internal'],
      handle: async ({ caller }) => {
        const cards = await service.modelsOfNodes(caller, nodeName);
        return { models: cards.map(listedModel), count: cards.length };
      },
    }),
    get('/api/v1/inference/models/{id}', {
      auth: 'viewer',
      scope: 'models:read',
      summary: 'One model of this node: abilities, state, engine limits and statistics',
      params: ModelParams,
      answer: InferenceModel,
      errors: missing,
      handle: async ({ params, caller }) => {
        await requireAllowed(service, params.id, caller);
        return inferenceModel(await getDetail(control, params.id));
      },
    }),
    post('/api/v1/inference/models/{id}/load', {
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
    post('/api/v1/inference/models/{id}/unload', {
      summary: 'Free the memory of a model',
      description: 'New requests are refused with model_unloading while running ones finish; then the memory is freed.',
      params: ModelParams,
      body: UnloadRequest,
      bodyOptional: true,
      answer: InferenceModel,
      errors: [...missing, ...toolCallErrors],
      handle: async ({ caller, params, body }) => {
        security.requireToolCall(caller, 'models.unload');
        await requireAllowed(service, params.id, caller);
        return unload(control, params.id, body?.force ?? false);
      },
    }),
    put('/api/v1/inference/models/{id}/pin', {
      summary: 'Pin a model: keep it in memory once it is loaded',
      params: ModelParams,
      body: PinRequest,
      answer: InferenceModel,
      errors: [...missing, ...toolCallErrors],
      handle: async ({ caller, params, body }) => {
        security.requireToolCall(caller, 'models.pin');
        await requireAllowed(service, params.id, caller);
        await getDetail(control, params.id);
        control.setPinned(params.id, body.pinned);
        return inferenceModel(await getDetail(control, params.id));
      },
    }),
    del('/api/v1/inference/models/{id}', {
      summary: 'Delete a model: out of memory, then off the disk',
      description: 'A model that requests use is refused unless `force` is given. Models outside models_dir are never changed.',
      params: ModelParams,
      query: RemovalQuery,
      answer: RemovedModel,
      errors: ['model_not_found', 'model_read_only', 'model_in_use', 'internal', ...toolCallErrors],
      handle: async ({ caller, params, query }) => {
        security.requireToolCall(caller, 'models.delete');
        await requireAllowed(service, params.id, caller);
        const { name, sizeBytes } = await removeModel(control, library, params.id, { force: query.force ?? false });
        return { id: name, deleted: true as const, size_bytes: sizeBytes };
      },
    }),
    get('/api/v1/data/models/{id}', {
      auth: 'viewer',
      scope: 'models:read',
      summary: 'The file of a model: size, hash, license',
      params: ModelParams,
      answer: StoredModelDetail,
      errors: missing,
      handle: async ({ params, caller }) => {
        await requireAllowed(service, params.id, caller);
        const stored = await source.find(params.id);
        if (!stored) throw unknownModel(params.id);
        return storedModelDetail(stored);
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

async function unload(control: ModelControl, id: string, force: boolean) {
  await getDetail(control, id);
  await control.unload(id, { force });
  return inferenceModel(await getDetail(control, id));
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
