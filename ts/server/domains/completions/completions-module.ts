/** Wires the completions module. */

import type { ErrorBodyPrefix } from '../../platform/http/error-body.ts';
import type { Route } from '../../platform/http/route.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { edge } from '../edge/index.ts';
import { type InferenceService, inference, openaiErrorBody } from '../inference/index.ts';
import { logs } from '../logs/index.ts';
import { media } from '../media/index.ts';
import { memory } from '../memory/index.ts';
import { anthropicErrorBody } from './compat/anthropic/error-body.ts';
import { anthropicRoutes } from './compat/anthropic/routes.ts';
import { rerankRoute } from './compat/jina-rerank/route.ts';
import { tokenizeRoutes } from './compat/llama-tokenize/routes.ts';
import { chatRoute, inProcessChat } from './compat/openai-chat/route.ts';
import { embeddingRoutes } from './compat/openai-embeddings/route.ts';
import { modelListRoute, type SpeechModelList } from './compat/openai-models/route.ts';
import { BackgroundResponses } from './compat/openai-responses/background/background-responses.ts';
import { keptResponseRoutes } from './compat/openai-responses/kept-routes.ts';
import { ResponseAccess } from './compat/openai-responses/response-access.ts';
import { type ResponseRouteDeps, responsesRoute } from './compat/openai-responses/route.ts';
import { ChatStorage } from './conversations/chat-storage.ts';
import { ConversationStage } from './conversations/conversation-stage.ts';
import type { CompletionsApi } from './index.ts';
import { KnowledgeStage } from './knowledge/knowledge-stage.ts';
import { LogStage } from './logs/log-stage.ts';
import { MemoryStage } from './memory/memory-stage.ts';
import type { StreamLimits } from './resumable-streams/stream-limits.ts';
import { StreamRegistry } from './resumable-streams/stream-registry.ts';
import { streamRoutes } from './resumable-streams/stream-routes.ts';
import { RoutingStage } from './routing/routing-stage.ts';
import { CompletionService } from './service.ts';
import type { completionSettings } from './settings.ts';
import { ResponseKeeper } from './stored-responses/response-keeper.ts';
import { ResponseStore } from './stored-responses/response-store.ts';
import { ResponseSweep } from './stored-responses/response-sweep.ts';
import { ResponseBelongings, RetentionStore } from './stored-responses/retention-store.ts';
import { ToolStage } from './tools/tool-stage.ts';

type Context = ModuleContext<typeof completionSettings>;

export function createCompletions(context: Context): Module<CompletionsApi> {
  const { settings, storage, jobs, log, node, uses } = context;
  const { service } = context.use(inference);
  const chats = context.useOptional(conversations);
  const knowledge = context.useOptional(data);
  const memories = context.useOptional(memory);
  const streams = new StreamRegistry(streamLimits(settings), log);
  const storing = new ChatStorage(chats, log);
  context.use(data).connectConversations((caller, id, options) => storing.filesKey(caller, id, options));
  context.use(conversations).attach({
    files: {
      get isConnected() {
        return knowledge.isRunning;
      },
      erase: (keys) => knowledge.api.answers.eraseFiles(keys),
    },
    endStreams: (owner, id) => streams.erase(owner, id),
  });
  const keeper = new ResponseKeeper({
    store: new ResponseStore(storage),
    keepDays: settings['inference.responses_keep_days'],
  });
  const completions = new CompletionService({
    inference: service,
    streams,
    // What is chosen is chosen first. A conversation says whether it has files to be looked up; documents say less to a model that has tools.
    stages: [
      new RoutingStage({ memory: memories, knowledge, inference: service }),
      new ConversationStage(storing),
      new ToolStage(context.useOptional(edge)),
      new MemoryStage(memories, service),
      new LogStage(context.useOptional(logs), service),
      new KnowledgeStage(knowledge, service),
    ],
  });
  const access = new ResponseAccess({ keeper, knowledge, uses });
  const background = new BackgroundResponses({ completions, keeper, knowledge, storage, jobs, log });
  const retention = new RetentionStore(storage);
  const sweep = new ResponseSweep(retention, log);
  const streamBytes = context.metrics.gauge('svc_inference_stream_bytes', 'Events of resumable answers that are kept.').with();
  context.metrics.onCollect(() => streamBytes.set(streams.sizeBytes));
  const speech = context.useOptional(media);
  const speechModels: SpeechModelList = async (caller) => (speech.isRunning ? await speech.api.models(caller) : []);
  const deps = { service, speechModels, completions, knowledge, keeper, access, background };
  return {
    api: {
      chat: inProcessChat(completions, `svc-${node.version}`),
      nameStreams: (nodeId) => {
        streams.nodeId = nodeId;
      },
    },
    errorBodies: completionErrorBodies,
    belongings: new ResponseBelongings(retention),
    corsHeaders: {
      accepted: ['x-svc-edge-tools', 'last-event-id'],
      exposed: [
        'x-svc-edge-tools',
        'x-svc-model-substituted',
        'x-svc-schema-ignored',
        'x-svc-tools-ignored',
        'x-svc-truncated',
        'x-svc-stream',
      ],
    },
    guardedPaths: ['/v1/completions'],
    routes: [...completionRoutes(deps, `svc-${node.version}`), ...chats.guard(streamRoutes(streams))],
    start: async () => {
      background.queue.start();
      sweep.start();
    },
    stop: async () => {
      await streams.stop();
      await Promise.all([sweep.stop(), background.queue.stop()]);
    },
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}

function streamLimits(settings: Context['settings']): StreamLimits {
  return {
    detachedMs: settings['inference.stream_detached_seconds'] * 1000,
    keepMs: settings['inference.stream_keep_seconds'] * 1000,
    streamBytes: settings['inference.stream_bytes'],
    tenantBytes: settings['inference.stream_tenant_bytes'],
    totalBytes: settings['inference.stream_total_bytes'],
  };
}

/** Clients of a foreign API read refusals in its shape, also for paths that no route serves. */
const completionErrorBodies: readonly ErrorBodyPrefix[] = [
  { prefix: '/v1/', errorBody: openaiErrorBody },
  {
    prefix: '/v1/completions',
    errorBody: openaiErrorBody,
    instead: 'Send the text as a message to POST /v1/chat/completions; clients have a setting for models that chat.',
  },
  {
    prefix: '/v1/models/',
    errorBody: openaiErrorBody,
    instead: 'GET /v1/models lists all of them, and GET /api/v1/inference/models/{id} tells of one.',
  },
  { prefix: '/v1/messages', errorBody: anthropicErrorBody },
];

/** All routes of the module but those of streams. */
interface CompletionRouteDeps extends ResponseRouteDeps {
  readonly service: InferenceService;
  readonly speechModels: SpeechModelList;
}

export function completionRoutes(deps: CompletionRouteDeps, fingerprint: string): Route[] {
  const { service, completions, speechModels } = deps;
  return [
    modelListRoute(service, speechModels),
    chatRoute(completions, fingerprint),
    responsesRoute(deps),
    ...keptResponseRoutes(deps),
    ...anthropicRoutes(completions, service),
    ...embeddingRoutes(service),
    rerankRoute(service),
    ...tokenizeRoutes(service),
  ];
}
