/** Whatever a backend may throw, every route that reaches one declares it: the router answers nothing else. */
import t from 'tap';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { ANONYMOUS } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { noStorage, scriptedContext, silentLog } from '../../platform/module/test-support/scripted-context.ts';
import { SwitchedModule } from '../../platform/module/test-support/switched-module.ts';
import { NO_LIMITS } from '../../platform/module/use-rules.ts';
import { completionErrors, type InferenceErrorCode, modelErrors } from '../inference/index.ts';
import { failingInference } from '../inference/test-support/failing-inference.ts';
import { BackgroundResponses } from './compat/openai-responses/background/background-responses.ts';
import { ResponseAccess } from './compat/openai-responses/response-access.ts';
import { completionRoutes } from './completions-module.ts';
import { NO_STREAMS } from './resumable-streams/stream-limits.ts';
import { StreamRegistry } from './resumable-streams/stream-registry.ts';
import { CompletionService } from './service.ts';
import { ResponseKeeper } from './stored-responses/response-keeper.ts';
import { ResponseStore } from './stored-responses/response-store.ts';

/** The routes over a model whose backend fails with `code` whatever it is asked. */
function failingNode(code: InferenceErrorCode) {
  const { node, service, routes } = failingInference(code);
  const keeper = new ResponseKeeper({ store: new ResponseStore(noStorage), keepDays: 0 });
  const off = new SwitchedModule<never>('module_unavailable');
  const context = scriptedContext({ spec: {} });
  const streams = new StreamRegistry(NO_STREAMS, silentLog);
  const completions = new CompletionService({ inference: service, streams, stages: [] });
  const background = new BackgroundResponses({ completions, keeper, knowledge: off, ...context });
  const access = new ResponseAccess({ keeper, knowledge: off, uses: NO_LIMITS });
  const upper = completionRoutes(
    { service, speechModels: async () => [], completions, keeper, knowledge: off, background, access },
    'test',
  );
  return { node, routes: [...upper, ...routes] };
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
  'POST /api/v1/models/probe',
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
