/** The Responses API over a scripted engine, a database and jobs of its own; called without sockets, as the router does. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { declaredError } from '../../../platform/http/declared-error.ts';
import { ANONYMOUS, type Principal } from '../../../platform/http/principal.ts';
import type { BytesReply, Reply, RequestContext, Route } from '../../../platform/http/route.ts';
import { Jobs, jobsMigrations } from '../../../platform/jobs/index.ts';
import { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import type { SwitchedModule } from '../../../platform/module/test-support/switched-module.ts';
import { createStorage, type Storage } from '../../../platform/storage/index.ts';
import type { CompletionSink } from '../../inference/index.ts';
import { ScriptedBinding, scriptedUsage } from '../../inference/test-support/scripted-engine.ts';
import { scriptedInspector, sourceOf, storedModel } from '../../inference/test-support/stored-models.ts';
import type { LogsApi } from '../../logs/index.ts';
import type { MemoryApi } from '../../memory/index.ts';
import { ScriptedStream } from '../answer/test-support/scripted-stream.ts';
import type { KnowledgeModule } from '../knowledge/knowledge-stage.ts';
import { responseMigrations } from '../stored-responses/migrations.ts';
import { completionsForTest } from './completions-for-test.ts';

export type Members = Record<string, unknown>;

interface CallOptions {
  params?: Members;
  query?: Members;
  headers?: Readonly<Record<string, string>>;
  tenant?: string;
  caller?: Partial<Principal>;
  signal?: AbortSignal;
}

export interface ResponseNode {
  binding: ScriptedBinding;
  storage: Storage;
  jobs: Jobs;
  knowledge: SwitchedModule<KnowledgeModule['api']>;
  memory: SwitchedModule<MemoryApi>;
  logs: SwitchedModule<LogsApi>;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  /** Calls a route that answers with JSON. */
  json(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Members>;
  /** Calls a route that answers with events. */
  follow(method: string, path: string, body?: unknown, options?: CallOptions): Promise<ScriptedStream>;
  /** Ends what runs, as a stop of the process does, and leaves the database. */
  stop(): Promise<void>;
}

export function sayHello(sink: CompletionSink): void {
  sink.onStart(7, 2);
  sink.onContent(0, Buffer.from('Hello'));
  sink.onFinish(0, 'stop', '');
  sink.onDone(scriptedUsage);
}

/** `url` names a database that another node of the test has used; a new one by default. */
export async function startResponseNode(
  t: Test,
  { settings = {}, url }: { settings?: Members; url?: string } = {},
): Promise<ResponseNode> {
  const folder = newFolder(t);
  await writeFile(join(folder, 'm.gguf'), 'x');
  const modules = [jobsMigrations, { module: 'inference', migrations: responseMigrations }];
  const storage = createStorage({ url: url ?? `sqlite:${join(folder, 'svc.db')}`, modules });
  await storage.open();
  const jobs = new Jobs({ storage, log: silentLog, metrics: new MetricsRegistry(), nodeId: () => 'node', pollMs: 10 });
  await jobs.start();
  const binding = new ScriptedBinding();
  binding.engine.script = sayHello;
  const module = await completionsForTest({
    overrides: {
      source: sourceOf([storedModel(folder, 'm')]),
      binding,
      inspector: scriptedInspector(),
    },
    settings: { default_model: 'm', ...settings },
    dataDir: folder,
    storage,
    jobs,
  });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await module.stop();
    // A test may have closed the database to see what follows.
    await jobs.stop(100).catch(() => undefined);
    await storage.close();
  };
  t.teardown(stop);
  const call: ResponseNode['call'] = (method, path, body, options) => callRoute(module.routes, method, path, body, options);
  return {
    binding,
    storage,
    jobs,
    knowledge: module.knowledge,
    memory: module.memory,
    logs: module.logs,
    call,
    json: async (...args) => JSON.parse(String(((await call(...args)) as BytesReply).body)) as Members,
    follow: async (...args) => {
      const reply = await call(...args);
      if (reply.kind !== 'events') throw new Error('the answer is no stream');
      const stream = new ScriptedStream();
      reply.start(stream);
      return stream;
    },
    stop,
  };
}

/** Answers as the router does: a refusal has the status that its route declares. */
export async function callRoute(
  routes: readonly Route[],
  method: string,
  path: string,
  body: unknown,
  {
    params = {},
    query = {},
    headers = {},
    tenant = 'default',
    caller = {},
    signal = new AbortController().signal,
  }: CallOptions = {},
): Promise<Reply> {
  const found = routes.find((each) => each.method === method && each.path === path);
  if (!found) throw new Error(`no route ${path}`);
  const context: RequestContext = {
    params,
    query,
    body,
    caller: { ...ANONYMOUS, tenant, ...caller },
    requestId: 'r',
    path,
    headers: new Map(Object.entries(headers)),
    listener: 'internal',
    remoteAddress: '',
    addHeader: () => {},
    isEncrypted: false,
    signal,
    recheck: async () => {},
  };
  try {
    const read: unknown = body === undefined ? body : (found.reading?.read(body, 0) ?? body);
    return await found.handle({ ...context, body: read } as never);
  } catch (error) {
    throw error instanceof DomainError ? (declaredError(error, found.errors) ?? error) : error;
  }
}
