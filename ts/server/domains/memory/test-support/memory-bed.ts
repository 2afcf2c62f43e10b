/** The memory module over a real database and real retrieval, with callers who say who they are and a model that counts words. */
import type { Test } from 'tap';
import type { Principal, Role } from '../../../platform/http/principal.ts';
import type { ModuleContext } from '../../../platform/module/module-context.ts';
import { openModules, standIn, statedCallers } from '../../../platform/module/test-support/open-modules.ts';
import type { SeriesRegistry } from '../../../platform/series/series-registry.ts';
import { type AuditEntry, type IdentityApi, identity } from '../../identity/index.ts';
import { retrieval } from '../../retrieval/index.ts';
import { scriptedService, type WordModel, wordModel } from '../../retrieval/test-support/word-model.ts';
import { security } from '../../security/index.ts';
import type { Extractions } from '../extraction/extractions.ts';
import { defineMemory } from '../index.ts';

export function callerOf(name: string, role: Role = 'viewer', more: Partial<Principal> = {}): Principal {
  return { tenant: 'red', subject: name, kind: 'session', roles: [role], scopes: ['*'], keyId: undefined, ...more };
}

export const ann = callerOf('ann');
export const admin = callerOf('root', 'admin');

/** A delegation is the caller here; that of an account that is gone leads to nobody. */
export const gone = new Set<string>();
const delegations = {
  of: (caller: Principal) => caller,
  principalOf: async (kept: Principal) => (gone.has(kept.subject ?? '') ? undefined : kept),
} as unknown as IdentityApi['delegations'];

interface BedOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly model?: WordModel;
  readonly now?: () => number;
  readonly series?: SeriesRegistry;
}

export async function openMemory(
  t: Test,
  { databaseUrl, dataDir, settings, model = wordModel(), now = Date.now, series }: BedOptions = {},
) {
  let extractions: Extractions | undefined;
  const memory = defineMemory({ now, onMade: (made) => (extractions = made) });
  const acts: AuditEntry[] = [];
  const overModel = {
    ...retrieval,
    create: async (context: ModuleContext<typeof retrieval.settings>) => {
      const module = await retrieval.create(context);
      module.api.connect(scriptedService(model));
      return module;
    },
  };
  const modules = await openModules(t, {
    modules: [
      security,
      overModel,
      memory,
      standIn(identity, { recordAct: async (entry) => void acts.push(entry), delegations } as Partial<IdentityApi>),
    ],
    databaseUrl,
    dataDir,
    // A busy machine is no fault of a search.
    settings: { 'data.embedding_model': 'words', 'data.embedding_url': '', 'memory.recall_ms': 60_000, ...settings },
    jobs: {},
    ...(series && { services: { series } }),
    http: () => ({ authenticator: statedCallers }),
  });
  const ask = (method: string, path: string, body?: object, as: Principal = ann) =>
    modules.send(method, `/api/v1/memory/${path}`, { headers: { 'x-as': JSON.stringify(as) }, body });
  const add = async (text: string, more: object = {}, as: Principal = ann) => {
    const answer = await ask('POST', 'memories', { text, ...more }, as);
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    return answer.body;
  };
  const textsOf = async (path: string, body?: object, as: Principal = ann): Promise<string[]> =>
    (await ask(body === undefined ? 'GET' : 'POST', path, body, as)).body.data.map(({ text }: { text: string }) => text);
  const { api } = modules.module(memory);
  const recall = (question: string, as: Principal = ann, bounds = {}) =>
    api.recall(as, question, bounds, new AbortController().signal);
  if (extractions === undefined) throw new Error('the module was not made');
  return { ...modules, api, extractions, now, acts, model, ask, add, textsOf, recall };
}
