/**
 * Every route x role x kind and state of credential x whose things are named (one's own, a foreign tenant's, nobody's). Each answer must be a
 * documented one and hold no byte of the foreign tenant, and a foreign id must be answered exactly as an unknown one.
 */
import { join } from 'node:path';
import { type Belongings, type Ids, makeBelongings, unknownLike } from './belongings.ts';
import type { Answer, Client } from './client.ts';
import { difference } from './comparison.ts';
import {
  type Account,
  type Headers,
  KINDS,
  type Kind,
  openAccounts,
  password,
  ROLES,
  type Role,
  STATES,
  type State,
  signIn,
} from './credentials.ts';
import { type Document, documentationFault } from './documented.ts';
import { openMember, openProgram, type Program } from './program.ts';
import { contentOf } from './requests.ts';
import { LAST, type Row, rowsOf } from './rows.ts';
import { stateFault } from './state-fault.ts';

interface MatrixOptions {
  /** For the program's data. */
  readonly folder: string;
  /** Which of the callers are tried; all by default. */
  readonly includes?: (role: Role, kind: Kind) => boolean;
  readonly states?: readonly State[];
  /** Each caller tries every so-manieth route, and the next caller the ones beside them; 1: all. */
  readonly stride?: number;
  /** Asks at the public listener; what it asks with is made at the internal one. */
  readonly isPublic?: boolean;
  /** Asks a member of the cluster, which sends on all but what concerns itself; what it asks with is made at its controller. */
  readonly isMember?: boolean;
  /** By default SQLite in the folder. */
  readonly databaseUrl?: string | undefined;
}

export interface MatrixReport {
  readonly nRoutes: number;
  readonly nPassed: number;
  readonly faults: readonly string[];
}

/** A superadmin administers all tenants there. */
const OF_ALL_TENANTS = /^\/api\/v1\/(identity|security|metering|system|tenants)\//;
/** Probes look at no credential. */
const UNGUARDED = ['/livez', '/readyz', '/openapi.json', '/docs'];

const OWN_TENANT = 'amber';
const FOREIGN_TENANT = 'birch';

export async function runMatrix({
  folder,
  includes = () => true,
  states = STATES,
  stride = 1,
  isPublic = false,
  isMember = false,
  databaseUrl,
}: MatrixOptions): Promise<MatrixReport> {
  const program = await openProgram(folder, {
    ...(isPublic && { SVC_PUBLIC_LISTEN: '127.0.0.1:0' }),
    ...(isMember && { SVC_CLUSTER_LISTEN: '127.0.0.1:0' }),
    ...(databaseUrl !== undefined && { SVC_DATABASE_URL: databaseUrl }),
  });
  const { client, publicClient } = program;
  if (isPublic && publicClient === client) throw new Error('the program has no public listener');
  let member: Program | undefined;
  try {
    const { token } = await client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
    const root = { authorization: `Bearer ${token}` };
    for (const id of [OWN_TENANT, FOREIGN_TENANT]) await client.json('POST', '/api/v1/identity/tenants', root, { id, name: id });
    const accounts = await openAccounts(program, root, OWN_TENANT);
    const [steward, stranger] = [await openAdmin(client, root, OWN_TENANT), await openAdmin(client, root, FOREIGN_TENANT)];
    if (isMember) member = await openMember(join(folder, 'member'), program, root);
    const rows = rowsOf(program.openapi as Document);
    const walk = new Walk(client, member?.client ?? publicClient, rows, accounts, steward, stranger);
    await walk.anonymous();
    let nCallers = 0;
    for (const role of ROLES) {
      const kinds = KINDS.filter((kind) => includes(role, kind));
      for (const kind of kinds) {
        const mine = rows.filter((_, i) => i % stride === nCallers % stride).map(({ name }) => name);
        await walk.caller(role, kind, states, (name) => !LAST.includes(name) && mine.includes(name));
        nCallers += 1;
      }
      for (const kind of kinds) await walk.again(role, kind, states, (name) => LAST.includes(name));
    }
    return { nRoutes: rows.length, nPassed: walk.nPassed, faults: walk.faults };
  } finally {
    await member?.stop();
    await program.stop();
  }
}

/** Signed in twice, so that there is a session beside the one that is used. */
async function openAdmin(client: Client, root: Headers, tenant: string): Promise<Headers> {
  const username = `${tenant}-steward`;
  await client.json('POST', '/api/v1/identity/users', root, { username, tenant, role: 'admin', password });
  await signIn(client, username);
  return { authorization: `Bearer ${(await signIn(client, username)).token}` };
}

class Walk {
  readonly faults: string[] = [];
  nPassed = 0;
  readonly #client: Client;
  readonly #asker: Client;
  readonly #rows: readonly Row[];
  readonly #accounts: readonly Account[];
  /** Administers the callers' tenant, and is none of them. */
  readonly #steward: Headers;
  readonly #stranger: Headers;
  /** Routes that answer 401 to a request without a credential. */
  readonly #guarded = new Set<string>();
  /** What no answer may hold. */
  #own: Belongings | undefined;
  #strange: Belongings | undefined;
  readonly #needles = new Set<string>([`canary-of-${FOREIGN_TENANT}`]);

  constructor(
    client: Client,
    asker: Client,
    rows: readonly Row[],
    accounts: readonly Account[],
    steward: Headers,
    stranger: Headers,
  ) {
    this.#client = client;
    this.#asker = asker;
    this.#rows = rows;
    this.#accounts = accounts;
    this.#steward = steward;
    this.#stranger = stranger;
  }

  async anonymous(): Promise<void> {
    const { ids } = await this.#foreign();
    for (const row of this.#rows) {
      const answer = await this.#ask(row, {}, ids);
      if (answer === undefined) continue;
      if (answer.status === 401) this.#guarded.add(row.name);
      this.#judge(row, 'nobody, foreign', [this.#contentFault(row, answer, false)]);
    }
  }

  /** Makes what the caller and the stranger have, and walks. */
  async caller(role: Role, kind: Kind, states: readonly State[], includes: (name: string) => boolean): Promise<void> {
    const account = this.#accounts.find((each) => each.role === role);
    if (account === undefined) throw new Error(`no account has the role ${role}`);
    this.#own = await makeBelongings(this.#client, OWN_TENANT, this.#steward, account.headers.bearer.good);
    this.#strange = await this.#foreign();
    await this.again(role, kind, states, includes);
  }

  async again(role: Role, kind: Kind, states: readonly State[], includes: (name: string) => boolean): Promise<void> {
    const [account, own, foreign] = [this.#accounts.find((each) => each.role === role), this.#own, this.#strange];
    if (account === undefined || own === undefined || foreign === undefined) throw new Error(`nothing was made for ${role}`);
    const unknown = unknownLike(foreign.ids);
    for (const row of this.#rows.filter(({ name }) => includes(name)))
      for (const state of states) {
        const headers = account.headers[kind][state];
        const say = (whose: string) => `${role}, ${state} ${kind}, ${whose}`;
        const reachesAll = role === 'superadmin' && OF_ALL_TENANTS.test(row.template);
        const answers: Answer[] = [];
        for (const [whose, ids] of [
          ['unknown', unknown],
          ['foreign', foreign.ids],
          ['own', own.ids],
        ] as const) {
          if (whose !== 'own' && !this.#namesIds(row, foreign.ids, unknown)) continue;
          const answer = await this.#ask(row, headers, ids);
          if (answer === undefined) break;
          answers.push(answer);
          const fault = this.#contentFault(row, answer, reachesAll);
          this.#judge(row, say(whose), [fault, this.#stateFault(row, kind, state, answer)]);
        }
        const [ofUnknown, ofForeign] = answers;
        if (answers.length === 3 && ofUnknown && ofForeign && !reachesAll)
          this.#judge(row, say('foreign as unknown'), [difference(ofUnknown, unknown, ofForeign, foreign.ids)]);
      }
  }

  /** Two of everything: what is named in requests, and what never is, whose very ids may nowhere be seen. */
  async #foreign(): Promise<Belongings> {
    const make = () => makeBelongings(this.#client, FOREIGN_TENANT, this.#stranger, this.#stranger);
    const [named, hidden] = [await make(), await make()];
    const { tenant: _, session: __, job: ___, model: ____, spareModel: _____, ...ids } = hidden.ids;
    for (const needle of [...Object.values(ids), ...hidden.secrets, ...named.secrets]) this.#needles.add(needle);
    return named;
  }

  #namesIds(row: Row, one: Ids, other: Ids): boolean {
    return JSON.stringify(this.#content(row, one)) !== JSON.stringify(this.#content(row, other));
  }

  #content({ method, template, operation }: Row, ids: Ids) {
    return contentOf(method, template, operation.requestBody !== undefined, ids);
  }

  async #ask(row: Row, headers: Headers, ids: Ids): Promise<Answer | undefined> {
    const content = this.#content(row, ids);
    if (content === undefined) {
      this.#judge(row, 'the matrix', ['has no row in requests.ts, though it takes ids or a body']);
      return undefined;
    }
    return this.#asker.send({ method: row.method, ...content, headers: { ...headers, ...content.headers } });
  }

  #contentFault({ operation }: Row, answer: Answer, reachesAll: boolean): string | undefined {
    const fault = documentationFault(operation, answer);
    if (fault !== undefined || reachesAll) return fault;
    const text = answer.text + JSON.stringify(answer.headers);
    const leaked = [...this.#needles].find((needle) => text.includes(needle));
    return leaked === undefined ? undefined : `shows ${leaked} of the foreign tenant: ${answer.text.slice(0, 300)}`;
  }

  #stateFault({ name, template }: Row, kind: Kind, state: State, answer: Answer): string | undefined {
    if (LAST.includes(name) || UNGUARDED.includes(template)) return undefined;
    const isSignIn = template.startsWith('/api/v1/auth/');
    return stateFault({ kind, state, isSignIn, needsCredential: this.#guarded.has(name) }, answer);
  }

  #judge({ name }: Row, who: string, found: readonly (string | undefined)[]): void {
    const fault = found.find((each) => each !== undefined);
    if (fault === undefined) this.nPassed += 1;
    else this.faults.push(`${name} (${who}) ${fault}`);
  }
}
