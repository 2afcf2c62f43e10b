/** Whatever a backend may throw, every route that reaches one declares it: the router answers nothing else. */
import t from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import { noEvents, noJobs, noStorage, scriptedContext, silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { NO_LIMITS } from '../../platform/module/use-rules.ts';
import type { InferenceBackend, ModelCard, ModelControl } from './backend.ts';
import { BackgroundResponses } from './compat/openai-responses/background/background-responses.ts';
import { ResponseAccess } from './compat/openai-responses/response-access.ts';
import { ConversationSlot } from './conversations/conversation-port.ts';
import { completionErrors, type InferenceErrorCode, inferenceError, modelErrors } from './errors.ts';
import { ResponseKeeper } from './kept-responses/response-keeper.ts';
import { ResponseStore } from './kept-responses/response-store.ts';
import { KnowledgeSlot } from './knowledge/knowledge-port.ts';
import { ModelLibrary } from './library/index.ts';
import { createPulls } from './pulls/create-pulls.ts';
import { NO_STREAMS } from './resumable-streams/stream-limits.ts';
import { StreamRegistry } from './resumable-streams/stream-registry.ts';
import { inferenceRoutes } from './routes.ts';
import { InferenceService } from './service.ts';
import { unenforced } from './test-support/unenforced.ts';
import { unmetered } from './test-support/unmetered.ts';
import { InferenceMetrics } from './usage/metrics.ts';

const card: ModelCard = {
  id: 'm',
  kind: 'chat',
  architecture: 'llama',
  family: 'llama',
  capabilities: { chat: true, tools: true, vision: true, audio: true, thinking: true, embeddings: true, rerank: true },
  nCtxTrain: 512,
  sizeBytes: 1,
  createdAt: 0,
  ownedBy: 'local',
  state: 'loaded',
};

/** A node whose backend fails with `code` whatever it is asked; `reached` is set when it was asked. */
function failingNode(code: InferenceErrorCode) {
  const node = { reached: false };
  const fail = () => {
    node.reached = true;
    return Promise.reject(inferenceError(code, 'It failed.'));
  };
  const backend: InferenceBackend = {
    unavailableReason: () => undefined,
    models: () => Promise.resolve([card]),
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
  const keeper = new ResponseKeeper({ store: new ResponseStore(noStorage), keepDays: 0 });
  const service = new InferenceService({ backends: [backend], defaultModel: () => 'm', metrics, metering: unmetered });
  const context = scriptedContext({ spec: {} });
  const background = new BackgroundResponses({ service, keeper, knowledge: new KnowledgeSlot(), ...context });
  const source = { list: async () => [], find: async () => undefined };
  const library = new ModelLibrary({ modelsDir: '/nowhere' });
  const settings = { models_dir: '/nowhere', 'models.mirror': '', 'models.allowed_hosts': '' };
  const pulls = createPulls(settings, {}, { jobs: noJobs, events: noEvents }, () => {});
  return {
    node,
    routes: inferenceRoutes(
      {
        service,
        knowledge: new KnowledgeSlot(),
        conversations: new ConversationSlot(),
        streams: new StreamRegistry(NO_STREAMS, silentLog),
        security: unenforced,
        keeper,
        background,
        access: new ResponseAccess({ keeper, knowledge: new KnowledgeSlot(), uses: NO_LIMITS }),
        control,
        source,
        library,
        pulls,
        jobs: noJobs,
        onLoadError: () => {},
      },
      'test',
    ),
  };
}

/** A body that any route takes: each reads its own members. */
const body = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hello' }],
  input: 'Hello',
  query: 'Hello',
  documents: ['Hello'],
  content: 'Hello',
  tokens: [1],
  pinned: true,
};

async function refusalOf(route: Route): Promise<unknown> {
  const context: RequestContext = {
    params: { id: 'm' },
    query: {},
    body: route.reading?.read(body, 0) ?? body,
    caller: ANONYMOUS,
    requestId: 'r',
    path: route.path,
    headers: new Map(),
    listener: 'internal',
    remoteAddress: '',
    addHeader: () => {},
    isEncrypted: false,
    signal: new AbortController().signal,
    recheck: async () => {},
  };
  return Promise.resolve(route.handle(context as never)).catch((error: unknown) => error);
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const runsNoModel = [
  'GET /v1/responses/{id}',
  'POST /v1/responses/{id}/cancel',
  'DELETE /v1/responses/{id}',
  'GET /v1/responses/{id}/input_items',
  'GET /v1/models',
  'GET /api/v1/models',
  'GET /api/v1/inference/models/{id}',
  'POST /api/v1/inference/models/{id}/unload',
  'PUT /api/v1/inference/models/{id}/pin',
  'DELETE /api/v1/inference/models/{id}',
  'GET /api/v1/data/models/{id}',
  'GET /api/v1/models/catalogue',
  'POST /api/v1/models/pull',
  'GET /api/v1/models/pulls',
  'DELETE /api/v1/models/pulls/{id}',
];

for (const [index, { method, path, tag }] of failingNode('internal').routes.entries()) {
  t.test(`${method} ${path} declares whatever its model may fail with`, async (t) => {
    for (const { code } of tag === 'Chat' ? completionErrors : modelErrors) {
      const { node, routes } = failingNode(code as InferenceErrorCode);
      const route = routes[index];
      if (!route) return t.fail('the routes differ from node to node');
      const refusal = await refusalOf(route);
      t.equal(node.reached, !runsNoModel.includes(nameOf(route)), 'it runs a model, or is listed as one that does not');
      const declared = (route.errors ?? []).map((spec) => spec.code);
      if (refusal instanceof DomainError) t.ok(declared.includes(refusal.code), refusal.code);
      else t.notOk(node.reached, `${code} is thrown on`);
    }
  });
}
