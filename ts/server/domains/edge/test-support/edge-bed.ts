/** The edge module over a module whose tools do nothing but tell what they were called with. */
import { join } from 'node:path';
import type { Test } from 'tap';
import Type from 'typebox';
import { SealingKey } from '../../../platform/crypto/sealing-key.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { JobsOptions } from '../../../platform/jobs/index.ts';
import { type AnyModuleDefinition, defineModule } from '../../../platform/module/module.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { StorageError } from '../../../platform/storage/index.ts';
import { defineTool, type Tool, type ToolCall, type ToolEffect } from '../../../platform/tools/tool.ts';
import { type ConversationsApi, conversations } from '../../conversations/index.ts';
import { data } from '../../data/index.ts';
import { type FilesApi, files } from '../../files/index.ts';
import { type AuditEntry, type IdentityApi, identity } from '../../identity/index.ts';
import { metering } from '../../metering/index.ts';
import { security } from '../../security/index.ts';
import { edge } from '../index.ts';

export function callerOf(name: string, role: Role, more: Partial<Principal> = {}): Principal {
  return { tenant: 'red', subject: name, kind: 'session', roles: [role], scopes: ['*'], keyId: undefined, ...more };
}

interface EdgeBedOptions {
  readonly databaseUrl?: string;
  readonly uses?: UseRules;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly dataDir?: string;
  /** These are opened beside it. */
  readonly modules?: readonly AnyModuleDefinition[];
  readonly identity?: Partial<IdentityApi>;
  readonly jobs?: Partial<JobsOptions>;
  /** These take the place of a module that has no files. */
  readonly files?: Partial<FilesApi>;
  /** The description of the tools, for a node whose program has other ones. */
  readonly description?: string;
  /** Is called within each call of a tool. */
  readonly onCall?: ((text: string) => Promise<void>) | undefined;
  /** Takes the place of metering that takes everything. */
  readonly begin?: () => Promise<never>;
}

const Input = Type.Object({ text: Type.Optional(Type.String()) }, { additionalProperties: false });

export async function openEdge(t: Test, options: EdgeBedOptions = {}) {
  /** The calls that the tools got, in order. */
  const calls: { tool: string; call: ToolCall }[] = [];
  const acts: AuditEntry[] = [];
  const kept: string[] = [];
  const metered: string[] = [];
  const slow = Promise.withResolvers<string>();
  const sealingFile = join(newFolder(t), 'sealing.key');
  let opened: Promise<SealingKey> | undefined;
  const sealingKey = (): Promise<SealingKey> => (opened ??= SealingKey.open(sealingFile));
  const modules = await openModules(t, {
    modules: [
      security,
      edge,
      ...modulesBeside({ calls, kept, metered, slow: slow.promise }, options),
      ...(options.modules ?? []),
      standIn(identity, {
        recordAct: async (entry) => void acts.push(entry),
        publicUrl: 'https://ai.example',
        sealingKey,
        ...options.identity,
      } as Partial<IdentityApi>),
    ],
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    ...(options.jobs !== undefined && { jobs: options.jobs }),
    ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
    ...(options.uses !== undefined && { services: { uses: options.uses } }),
    settings: options.settings ?? {},
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, as: Principal, body?: object) =>
    modules.send(method, path, { headers: { 'x-as': JSON.stringify(as) }, body });
  const execute = (as: Principal, tool: string, body: object = {}) => ask('POST', '/api/v1/tools/execute', as, { tool, ...body });
  const decide = (as: Principal, id: string, body: object) => ask('POST', `/api/v1/security/approvals/${id}`, as, body);
  const setPolicy = (as: Principal, policy: object) =>
    ask('PUT', '/api/v1/tools/policies', as, { rules: [], timeout_seconds: 120, taint_exempt: [], ...policy });
  const { executor } = modules.module(edge).api;
  return { ...modules, executor, calls, acts, kept, metered, finishSlow: slow.resolve, ask, execute, decide, setPolicy };
}

interface Recorded {
  /** The calls that the tools got, in order. */
  readonly calls: { tool: string; call: ToolCall }[];
  readonly kept: string[];
  readonly metered: string[];
  readonly slow: Promise<string>;
}

/** The tools of the bed, and stand-ins for the modules that edge works with, but for identity and security. */
export function modulesBeside(
  { calls, kept, metered, slow }: Recorded,
  options: Pick<EdgeBedOptions, 'description' | 'onCall' | 'files' | 'begin'> = {},
  more: readonly Tool[] = [],
): AnyModuleDefinition[] {
  return [
    testTools(calls, slow, options, more),
    standIn(files, options.files ?? {}),
    standIn(data, { documents: testDocuments } as never),
    standIn(metering, {
      begin: async (_caller, { model }) => {
        await options.begin?.();
        return { end: async () => void metered.push(model) } as never;
      },
    }),
    standIn(conversations, {
      artifacts: {
        create: async (_owner: unknown, { content }: { content: string }) => {
          kept.push(content);
          return { artifact: { id: `art_${kept.length}` }, isNew: true };
        },
      },
      prompts: { list: async () => [{ id: 'p1', title: 'Greeting', content: 'Say hello' }] },
    } as unknown as Partial<ConversationsApi>),
  ];
}

/** Two documents in each of two knowledge bases. */
const testDocuments = {
  list: async () => ({
    documents: ['handbook', 'legal'].flatMap((namespace) =>
      ['doc_1', 'doc_2'].map((id) => ({ namespace, document: { id, source: `${id}.txt`, title: undefined } })),
    ),
    next: undefined,
  }),
  read: async (_caller: unknown, namespace: string, id: string) =>
    namespace === 'secret' ? undefined : `Text of ${namespace}/${id}`,
};

function testTools(
  calls: { tool: string; call: ToolCall }[],
  slow: Promise<string>,
  { description = 'Does nothing.', onCall }: Pick<EdgeBedOptions, 'description' | 'onCall'>,
  more: readonly Tool[],
): AnyModuleDefinition {
  const tool = (name: string, effect: ToolEffect, run: (text: string) => Promise<unknown> = async (text) => ({ did: text })) =>
    defineTool({
      name,
      description,
      input: Input,
      effect,
      scope: 'knowledge:read',
      maxSeconds: 5,
      isUntrusted: false,
      run: async (call) => {
        calls.push({ tool: name, call });
        await onCall?.(call.arguments.text ?? '');
        return await run(call.arguments.text ?? '');
      },
    });
  return defineModule({
    name: 'iot',
    settings: {},
    create: () => ({
      api: undefined,
      routes: [],
      tools: [
        tool('test.read', 'read'),
        tool('test.write', 'write'),
        tool('test.destroy', 'destructive'),
        tool('test.slow', 'read', () => slow),
        tool('test.large', 'read', async () => ({ text: 'é'.repeat(40_000) })),
        tool('test.refuse', 'read', async () => Promise.reject(new DomainError('namespace_not_found', 'There is no such base.'))),
        tool('test.break', 'read', async () => Promise.reject(new Error('the secret reason'))),
        tool('test.offline', 'read', async () => Promise.reject(new StorageError('storage_unavailable', 'no secret.db'))),
        ...more,
      ],
      start: async () => {},
      stop: async () => {},
      health: () => ({ state: {}, reasons: [] }),
      ready: () => undefined,
    }),
  });
}
