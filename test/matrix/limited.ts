/**
 * Each kind of limit x every route that takes an id: a caller who is limited to the knowledge bases or models A is answered for what is of B, though
 * its own account made it, exactly as for what nobody has. Which routes these are follows from which requests change with such ids.
 */
import { type Ids, makeBelongings, OF_BASES, OF_MODELS, unknownLike } from './belongings.ts';
import type { Answer, Client } from './client.ts';
import { difference } from './comparison.ts';
import { type Headers, password, signIn } from './credentials.ts';
import { type Document, documentationFault } from './documented.ts';
import type { MatrixReport } from './matrix.ts';
import { openProgram } from './program.ts';
import { contentOf } from './requests.ts';
import { type Row, rowsOf } from './rows.ts';

interface Limit {
  readonly namespaces?: readonly string[];
  readonly models?: readonly string[];
}

interface Setting {
  readonly client: Client;
  readonly root: Headers;
  readonly tenant: string;
  /** Administers the tenant, and is never limited. */
  readonly steward: Headers;
  /** A session of the account that makes what is of A and B, before anything limits it. */
  readonly person: Headers;
  readonly userId: string;
}

const SCOPES = ['chat:use', 'embeddings:use', 'models:read', 'models:manage', 'knowledge:read', 'knowledge:write', 'admin'];
const asBearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** Ways to limit a caller: each makes the credential that is limited. */
const KINDS: Readonly<Record<string, (setting: Setting, limit: Limit) => Promise<Headers>>> = {
  capability: async ({ client, person }, limit) => {
    const body = { scopes: SCOPES, expires_in_seconds: 3_600, ...limit };
    return asBearer((await client.json('POST', '/api/v1/identity/capabilities', person, body)).token);
  },
  'derived capability': async ({ client, person }, limit) => {
    const life = { expires_in_seconds: 3_600 };
    const { token } = await client.json('POST', '/api/v1/identity/capabilities', person, { scopes: SCOPES, ...life });
    const derived = await client.json('POST', '/api/v1/identity/capabilities/derive', person, { token, ...life, ...limit });
    return asBearer(derived.token);
  },
  group: async (setting, limit) => {
    await grant(setting, limit);
    return setting.person;
  },
  'key of a group’s account': async (setting, limit) => {
    const { api_key: key } = await setting.client.json('POST', '/api/v1/identity/keys', setting.person, { name: 'limited' });
    await grant(setting, limit);
    return { 'x-api-key': key };
  },
};

/** Administrators are in no group's limits. */
const roleFor = (kind: string): string => (kind.includes('group') ? 'developer' : 'admin');

async function grant({ client, steward, root, tenant, userId }: Setting, limit: Limit): Promise<void> {
  const group = await client.json('POST', '/api/v1/identity/groups', steward, { name: `limited ${tenant}`, grants: limit });
  await client.json('POST', `/api/v1/identity/groups/${group.id}/members`, steward, { users: [userId] });
  const access = limit.models === undefined ? { namespace_access: 'granted' } : { model_access: 'granted' };
  await client.json('PATCH', `/api/v1/identity/tenants/${tenant}`, root, access);
}

async function openSetting(client: Client, root: Headers, tenant: string, role: string): Promise<Setting> {
  await client.json('POST', '/api/v1/identity/tenants', root, { id: tenant, name: tenant });
  const open = async (username: string, role: string) => {
    const { id } = await client.json('POST', '/api/v1/identity/users', root, { username, tenant, role, password });
    return { id, headers: asBearer((await signIn(client, username)).token) };
  };
  const [steward, person] = [await open(`steward-${tenant}`, 'admin'), await open(`person-${tenant}`, role)];
  return { client, root, tenant, steward: steward.headers, person: person.headers, userId: person.id };
}

export async function runLimited(folder: string): Promise<MatrixReport> {
  const program = await openProgram(folder);
  const { client } = program;
  try {
    const { token } = await client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
    const rows = rowsOf(program.openapi as Document);
    const walk = new LimitedWalk(client, rows);
    let nTenants = 0;
    for (const kind of Object.keys(KINDS))
      for (const limited of ['bases', 'models'] as const) {
        nTenants += 1;
        await walk.kind(kind, limited, await openSetting(client, asBearer(token), `tenant-${nTenants}`, roleFor(kind)));
      }
    return { nRoutes: walk.names.size, nPassed: walk.nPassed, faults: walk.faults };
  } finally {
    await program.stop();
  }
}

class LimitedWalk {
  readonly faults: string[] = [];
  nPassed = 0;
  /** Of the routes that were walked. */
  readonly names = new Set<string>();
  readonly #client: Client;
  readonly #rows: readonly Row[];

  constructor(client: Client, rows: readonly Row[]) {
    this.#client = client;
    this.#rows = rows;
  }

  async kind(kind: string, limited: 'bases' | 'models', setting: Setting): Promise<void> {
    const { client, tenant, steward, person } = setting;
    const make = () => makeBelongings(client, tenant, steward, person, person);
    const [mine, theirs] = [await make(), await make()];
    const isOfBases = limited === 'bases';
    const a = isOfBases ? mine.ids : { ...mine.ids, model: 'm', spareModel: 'm' };
    const b = isOfBases ? theirs.ids : { ...mine.ids, model: 'e', spareModel: 'e' };
    const nobodys = unknownLike(b, isOfBases ? OF_BASES : OF_MODELS);
    const rows = this.#rows.filter((row) => JSON.stringify(contentFor(row, b)) !== JSON.stringify(contentFor(row, nobodys)));
    const reads = rows.filter(({ method }) => method === 'GET');
    const [ofA, ofB] = [await this.#statuses(reads, person, a), await this.#statuses(reads, steward, b)];
    const caller = await KINDS[kind]?.(setting, isOfBases ? { namespaces: mine.bases } : { models: ['m'] });
    if (caller === undefined) throw new Error(`no kind ${kind}`);
    const who = (whose: string) => `${kind} for ${limited} A, ${whose}`;
    this.#same(reads, who('A'), ofA, await this.#statuses(reads, caller, a));
    for (const row of rows) {
      const [unknown, answer] = [await this.#ask(row, caller, nobodys), await this.#ask(row, caller, b)];
      const fault = isModelRefusal(answer) ? undefined : difference(unknown, nobodys, answer, b);
      this.#judge(row, who('B'), documentationFault(row.operation, answer) ?? fault);
    }
    this.#same(reads, who('B after all of it'), ofB, await this.#statuses(reads, steward, b));
  }

  async #statuses(rows: readonly Row[], headers: Headers, ids: Ids): Promise<Map<Row, number>> {
    const statuses = new Map<Row, number>();
    for (const row of rows) statuses.set(row, (await this.#ask(row, headers, ids)).status);
    return statuses;
  }

  #same(rows: readonly Row[], who: string, before: ReadonlyMap<Row, number>, after: ReadonlyMap<Row, number>): void {
    for (const row of rows) {
      const [one, other] = [before.get(row), after.get(row)];
      this.#judge(row, who, one === other ? undefined : `answers ${other}, and ${one} before`);
    }
  }

  async #ask(row: Row, headers: Headers, ids: Ids): Promise<Answer> {
    const content = contentFor(row, ids);
    if (content === undefined) throw new Error(`${row.name} has no row in requests.ts`);
    this.names.add(row.name);
    return await this.#client.send({ method: row.method, ...content, headers: { ...headers, ...content.headers } });
  }

  #judge({ name }: Row, who: string, fault: string | undefined): void {
    if (fault === undefined) this.nPassed += 1;
    else this.faults.push(`${name} (${who}) ${fault}`);
  }
}

function contentFor({ method, template, operation }: Row, ids: Ids) {
  return contentOf(method, template, operation.requestBody !== undefined, ids);
}

/** Whoever names a model that its credential is not for is told so, since no other one may answer in its place. */
function isModelRefusal({ status, text }: Answer): boolean {
  return status === 403 && text.includes('"model_not_allowed"');
}
