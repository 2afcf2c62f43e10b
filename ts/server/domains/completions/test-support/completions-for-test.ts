/** The completions module over the inference module with a scripted engine; a test switches knowledge bases on, and there are no conversations. */
import type { Module } from '../../../platform/module/module.ts';
import { scriptedContext, scriptedNode } from '../../../platform/module/test-support/scripted-context.ts';
import { SwitchedModule } from '../../../platform/module/test-support/switched-module.ts';
import { conversations } from '../../conversations/index.ts';
import { data } from '../../data/index.ts';
import { edge } from '../../edge/index.ts';
import { type InferenceApi, inference } from '../../inference/index.ts';
import { type InferenceForTestOptions, inferenceForTest } from '../../inference/test-support/inference-for-test.ts';
import { type LogsApi, logs } from '../../logs/index.ts';
import { type MemoryApi, memory } from '../../memory/index.ts';
import { createCompletions } from '../completions-module.ts';
import type { KnowledgeModule } from '../knowledge/knowledge-stage.ts';
import { completionSettings } from '../settings.ts';
import type { ToolModule } from '../tools/tool-stage.ts';

interface CompletionsForTest extends Pick<Module<InferenceApi>, 'routes' | 'ready' | 'health' | 'stop'> {
  readonly service: InferenceApi['service'];
  readonly knowledge: SwitchedModule<KnowledgeModule['api']>;
  readonly tools: SwitchedModule<ToolModule['api']>;
  readonly memory: SwitchedModule<MemoryApi>;
  readonly logs: SwitchedModule<LogsApi>;
}

/** Both are started, and the default model is loaded or has failed. */
export async function completionsForTest(options: InferenceForTestOptions): Promise<CompletionsForTest> {
  const { overrides, settings = {}, dataDir, ...services } = options;
  const isOwn = (key: string) => Object.hasOwn(completionSettings, key);
  const [own, others] = [true, false].map((side) =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => isOwn(key) === side)),
  );
  const lower = await inferenceForTest({ ...options, settings: others ?? {} });
  const knowledge = new SwitchedModule<KnowledgeModule['api']>('knowledge_unavailable');
  const tools = new SwitchedModule<ToolModule['api']>('tools_unavailable');
  const memories = new SwitchedModule<MemoryApi>('memory_unavailable');
  const collected = new SwitchedModule<LogsApi>('logs_unavailable');
  const switched = new Map<string, unknown>([
    [data.name, knowledge],
    [edge.name, tools],
    [memory.name, memories],
    [logs.name, collected],
  ]);
  const apis = new Map<string, unknown>([
    [inference.name, lower.api],
    [data.name, { connectConversations: () => {} }],
    [conversations.name, { attach: () => {} }],
  ]);
  const upper = createCompletions({
    ...scriptedContext({
      spec: completionSettings,
      settings: own ?? {},
      node: { ...scriptedNode, version: '1', dataDir },
      ...services,
    }),
    use: ({ name }) => apis.get(name) as never,
    useOptional: ({ name }) => (switched.get(name) ?? new SwitchedModule('conversations_unavailable')) as never,
  });
  await upper.start();
  return {
    service: lower.api.service,
    knowledge,
    tools,
    memory: memories,
    logs: collected,
    routes: [...upper.routes, ...lower.routes],
    ready: () => lower.ready(),
    health: () => lower.health(),
    stop: async () => {
      await upper.stop();
      await lower.stop();
    },
  };
}
