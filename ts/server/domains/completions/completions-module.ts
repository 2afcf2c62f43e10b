/** Wires the completions module. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { conversations } from '../conversations/index.ts';
import { data } from '../data/index.ts';
import { inference } from '../inference/index.ts';
import { BackgroundResponses } from './compat/openai-responses/background/background-responses.ts';
import { ResponseAccess } from './compat/openai-responses/response-access.ts';
import { ChatStorage } from './conversations/chat-storage.ts';
import { ConversationStage } from './conversations/conversation-stage.ts';
import { KnowledgeStage } from './knowledge/knowledge-stage.ts';
import type { StreamLimits } from './resumable-streams/stream-limits.ts';
import { StreamRegistry } from './resumable-streams/stream-registry.ts';
import { streamRoutes } from './resumable-streams/stream-routes.ts';
import { completionErrorBodies, completionRoutes } from './routes.ts';
import { CompletionService } from './service.ts';
import type { completionSettings } from './settings.ts';
import { ResponseBelongings } from './stored-responses/response-belongings.ts';
import { ResponseKeeper } from './stored-responses/response-keeper.ts';
import { ResponseStore } from './stored-responses/response-store.ts';
import { ResponseSweep } from './stored-responses/response-sweep.ts';
import { RetentionStore } from './stored-responses/retention-store.ts';

type Context = ModuleContext<typeof completionSettings>;

export function createCompletions(context: Context): Module<undefined> {
  const { settings, storage, jobs, log, node, uses } = context;
  const { service } = context.use(inference);
  const chats = context.useOptional(conversations);
  const knowledge = context.useOptional(data);
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
    // A conversation says whether it has files to be looked up.
    stages: [new ConversationStage(storing), new KnowledgeStage(knowledge, service)],
  });
  const access = new ResponseAccess({ keeper, knowledge, uses });
  const background = new BackgroundResponses({ completions, keeper, knowledge, storage, jobs, log });
  const retention = new RetentionStore(storage);
  const sweep = new ResponseSweep(retention, log);
  const streamBytes = context.metrics.gauge('svc_inference_stream_bytes', 'Events of resumable answers that are kept.').with();
  context.metrics.onCollect(() => streamBytes.set(streams.sizeBytes));
  const deps = { service, completions, knowledge, keeper, access, background };
  return {
    api: undefined,
    errorBodies: completionErrorBodies,
    belongings: new ResponseBelongings(retention),
    corsHeaders: {
      accepted: ['x-svc-edge-tools', 'last-event-id'],
      exposed: ['x-svc-edge-tools', 'x-svc-model-substituted', 'x-svc-stream'],
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
