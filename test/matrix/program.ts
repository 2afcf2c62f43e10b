/** The whole program with all its modules and routes, in this process; only the engine behind the models is scripted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sayHello } from '../../ts/server/domains/completions/test-support/response-node.ts';
import { defineInference } from '../../ts/server/domains/inference/index.ts';
import { Inspector } from '../../ts/server/domains/inference/local/inspection/inspector.ts';
import { ScriptedBinding } from '../../ts/server/domains/inference/test-support/scripted-engine.ts';
import { createServer } from '../../ts/server/main.ts';
import { modules } from '../../ts/server/modules.ts';
import { loadNodeConfig } from '../../ts/server/settings.ts';
import { Client } from './client.ts';

export interface Program {
  readonly client: Client;
  /** Of requests to the public listener, which the setting public_listen opens; else the same as `client`. */
  readonly publicClient: Client;
  readonly databaseUrl: string;
  /** The route table, as the program documents it. */
  readonly openapi: unknown;
  /** Says hello, unless a test has it say something else. */
  readonly binding: ScriptedBinding;
  /** Of the internal listener. */
  readonly port: number;
  stop(): Promise<void>;
}

export async function openProgram(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Program> {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const path = join(folder, 'm.gguf');
  writeFileSync(path, 'x');
  const config = loadNodeConfig({
    root: folder,
    environment: {
      SVC_DATA_DIR: dataDir,
      SVC_LISTEN: '127.0.0.1:0',
      SVC_MODELS_DIR: folder,
      SVC_DEFAULT_MODEL: 'm',
      SVC_DATA_EMBEDDING_MODEL: 'e',
      // The engine does what a test asks, and nothing else.
      SVC_INFERENCE_PROBE_MODELS: 'false',
      // Nothing listens there: deliveries are tried, and none leaves the machine.
      SVC_WEBHOOKS_ALLOWED_HOSTS: 'http://127.0.0.1:9',
      SVC_SYSLOG_ALLOWED_HOSTS: '127.0.0.1:9',
      ...environment,
    },
  });
  const binding = new ScriptedBinding();
  binding.engine.script = sayHello;
  const server = await createServer(config, {
    modules: modules.map((each) => (each.name === 'inference' ? scriptedInference(binding, path) : each)),
    sink: { write: () => {}, flush: () => {} },
  });
  const { internal, public: outside } = await server.start();
  await server.ready();
  const client = new Client(internal.port);
  const publicClient = outside === undefined ? client : new Client(outside.port);
  const stop = async () => {
    client.close();
    publicClient.close();
    await server.stop();
  };
  const databaseUrl = environment['SVC_DATABASE_URL'] ?? `sqlite:${join(dataDir, 'svc.db')}`;
  return { client, publicClient, binding, port: internal.port, databaseUrl, openapi: server.openapi, stop };
}

/** A second program that joined the first one's cluster and answers nothing of its own accord. The first one has a `cluster.listen`. */
export async function openMember(folder: string, { client }: Program, root: Readonly<Record<string, string>>): Promise<Program> {
  const environment = { SVC_CLUSTER_LISTEN: '127.0.0.1:0' };
  const { token } = await client.json('POST', '/api/v1/cluster/join-tokens', root, {});
  const single = await openProgram(folder, environment);
  await single.client.json('POST', '/api/v1/cluster/join', {}, { token });
  await single.stop();
  const member = await openProgram(folder, environment);
  while ((await member.client.send({ method: 'GET', path: '/v1/models', headers: root })).status !== 200) await wait(20);
  return member;
}

function scriptedInference(binding: ScriptedBinding, path: string) {
  const common = { path, family: 'llama', architecture: 'llama', sizeBytes: 1, nCtxTrain: 512, createdAt: 5 } as const;
  const models = [{ id: 'm', kind: 'chat', ...common } as const, { id: 'e', kind: 'embedding', ...common } as const];
  const usable = { usable: true, hasChatTemplate: true, supportsTools: true, supportsThinking: false } as const;
  return defineInference({
    binding,
    source: { list: async () => models, find: async (id: string) => models.find((each) => each.id === id) },
    inspector: new Inspector(undefined, async () => usable, 0),
  });
}
