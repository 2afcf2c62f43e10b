/** The service and the routes of the module over a backend that fails with one code whatever it is asked. */
import type { Route } from '../../../platform/http/route.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { noEvents, noJobs, silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import type { InferenceBackend, ModelCard, ModelControl } from '../backend.ts';
import { type InferenceErrorCode, inferenceError } from '../errors.ts';
import { inferenceRoutes } from '../inference-module.ts';
import { ModelLibrary } from '../library/index.ts';
import { ModelProbe } from '../probe/model-probe.ts';
import { ProbeJobs } from '../probe/probe-jobs.ts';
import { ProbeResults } from '../probe/probe-results.ts';
import { createPulls } from '../pulls/create-pulls.ts';
import { InferenceService } from '../service.ts';
import { InferenceMetrics } from '../usage/metrics.ts';
import { unenforced } from './unenforced.ts';
import { unmetered } from './unmetered.ts';

const card: ModelCard = {
  id: 'm',
  kind: 'chat',
  architecture: 'llama',
  family: 'llama',
  capabilities: {
    chat: true,
    completion: false,
    tools: true,
    vision: true,
    audio: true,
    thinking: true,
    embeddings: true,
    rerank: true,
  },
  nCtxTrain: 512,
  sizeBytes: 1,
  createdAt: 0,
  ownedBy: 'local',
  state: 'loaded',
};

export interface FailingInference {
  /** `reached` is set when the backend was asked. */
  node: { reached: boolean };
  service: InferenceService;
  routes: Route[];
}

export function failingInference(code: InferenceErrorCode): FailingInference {
  const node = { reached: false };
  const fail = () => {
    node.reached = true;
    return Promise.reject(inferenceError(code, 'It failed.'));
  };
  const backend: InferenceBackend = {
    unavailableReason: () => undefined,
    models: () => Promise.resolve([card, { ...card, backend: 'provider' }]),
    complete: fail,
    embed: fail,
    rank: fail,
    countTokens: fail,
    tokenize: fail,
    detokenize: fail,
  };
  const control: ModelControl = {
    detail: () => Promise.resolve({ card, nJobs: 0, pinned: false }),
    load: fail,
    unload: () => Promise.resolve(),
    setPinned: () => {},
    countJobs: () => 0,
    rescan: () => {},
  };
  const metrics = new InferenceMetrics(new MetricsRegistry());
  const service = new InferenceService({ defaultModel: { id: 'm' }, metrics, metering: unmetered });
  service.addBackend(backend);
  const source = { list: async () => [], find: async () => undefined };
  const library = new ModelLibrary({ modelsDir: '/nowhere' });
  const settings = { models_dir: '/nowhere', 'models.mirror': '', 'models.allowed_hosts': '' };
  const pulls = createPulls(settings, {}, { jobs: noJobs, events: noEvents }, () => {});
  const probe = new ModelProbe({ backend, isBusy: () => false });
  const results = new ProbeResults('/nowhere');
  const probes = new ProbeJobs({ jobs: noJobs, source, probe, results, isAutomatic: false, log: silentLog });
  const deps = {
    nodeName: 'here',
    service,
    control,
    source,
    library,
    pulls,
    probes,
    jobs: noJobs,
    security: unenforced,
    onLoadError: () => {},
  };
  return { node, service, routes: inferenceRoutes(deps) };
}
