/**
 * Approvals with the accounts and keys of a node, on both databases: whatever is revoked, renewed, disabled or enabled in whatever order, a credential
 * that is over asks, decides and runs nothing, neither by itself nor by an approval that it asked for before.
 */
import fc from 'fast-check';
import type { Test } from 'tap';
import Type from 'typebox';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { defineTool, type Tool, type ToolCall } from '../../../platform/tools/tool.ts';
import { openIdentity } from '../../identity/test-support/identity-bed.ts';
import { worldOf } from '../../identity/test-support/world.ts';
import { security } from '../../security/index.ts';
import { edge } from '../index.ts';
import { modulesBeside } from '../test-support/edge-bed.ts';

type Calls = { tool: string; call: ToolCall }[];

const SCOPES = ['tools:use', 'knowledge:read', 'iot:write', 'account:manage'];
const person = fc.constantFrom(0, 1);
/** The session, and two keys. */
const slot = fc.constantFrom(0, 1, 2);
const key = fc.constantFrom(1, 2);
/** The number of an approval, from the newest one back. */
const which = fc.nat(2);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('call' as const, 'write' as const), person, slot }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('approve' as const, 'serve' as const), person, slot, which }) },
  // By whoever may: else most orders come to nothing.
  {
    weight: 12,
    arbitrary: fc.record({ act: fc.constantFrom('approve rightly' as const, 'serve rightly' as const), slot, which }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constantFrom('revoke' as const, 'renew' as const, 'renew' as const), person, key }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('disable' as const, 'enable' as const, 'enable' as const), person }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** The key that asked for a write is revoked before another person approves it; the call of a key serves another one of the same person. */
const WHOLE: Step[] = [
  { act: 'write', person: 0, slot: 1 },
  { act: 'revoke', person: 0, key: 1 },
  { act: 'approve rightly', slot: 0, which: 0 },
  { act: 'write', person: 0, slot: 0 },
  { act: 'approve rightly', slot: 0, which: 0 },
  { act: 'call', person: 1, slot: 1 },
  { act: 'approve rightly', slot: 2, which: 0 },
  { act: 'revoke', person: 1, key: 1 },
  { act: 'serve', person: 1, slot: 1, which: 0 },
  { act: 'serve rightly', slot: 2, which: 0 },
];

interface Credential {
  readonly id: string;
  readonly token: string;
  isRevoked: boolean;
}

interface Person {
  readonly id: string;
  /** The session first. */
  readonly credentials: Credential[];
  isDisabled: boolean;
}

interface Asked {
  readonly id: string;
  readonly kind: 'call' | 'write';
  readonly owner: Person;
  readonly by: Credential;
  readonly text: string;
  state: 'pending' | 'approved' | 'over';
}

/** The one that POST /api/v1/iot/write calls: another person decides about each write, which is made as soon as it is approved. */
function writeTool(calls: Calls): Tool {
  return defineTool({
    name: 'iot.write',
    description: 'Writes.',
    input: Type.Object({ device_id: Type.String(), variable: Type.String(), value: Type.Number() }),
    effect: 'external',
    scope: 'iot:write',
    maxSeconds: 5,
    isUntrusted: false,
    asks: async () => ({ rule: 'second_person', subject: 'a' }),
    run: async (call) => {
      calls.push({ tool: 'iot.write', call });
      return { ...call.arguments, unit: null, ts: '2026-01-01T00:00:00.000Z', read_back: call.arguments.value, verified: true };
    },
  });
}

function testRevokedCredentials(t: Test, newDatabase: NewDatabase): void {
  t.test('a credential that is over asks, decides and runs nothing', async (t) => {
    const calls: Calls = [];
    const recorded = { calls, kept: [], metered: [], slow: Promise.resolve('') };
    const above = [security, edge, ...modulesBeside(recorded, {}, [writeTool(calls)])];
    const bed = await openIdentity(t, { databaseUrl: await newUrl(t, newDatabase), above });
    const { root, make } = await worldOf(bed);
    const rules = [{ tools: ['test.*'], decision: 'ask' }];
    const policy = { rules, timeout_seconds: 120, taint_exempt: [] };
    t.equal((await bed.ask('PUT', '/api/v1/tools/policies', { as: root, body: policy })).status, 200);
    const newKey = async (session: string): Promise<Credential> => {
      const { body } = await bed.ask('POST', '/api/v1/identity/keys', { as: session, body: { name: 'one', scopes: SCOPES } });
      return { id: body.id, token: body.api_key, isRevoked: false };
    };
    const people: Person[] = [];
    for (const name of ['ann', 'bob']) {
      const { id, session } = await make(name, 'developer');
      const credentials = [{ id: '', token: session, isRevoked: false }, await newKey(session), await newKey(session)];
      people.push({ id, credentials, isDisabled: false });
    }
    const isAlive = ({ isDisabled }: Person, { isRevoked }: Credential): boolean => !isDisabled && !isRevoked;
    let nTexts = 0;
    let nServed = 0;
    let nStopped = 0;

    const enable = async (who: Person, isEnabled: boolean): Promise<void> => {
      await bed.ask('PATCH', `/api/v1/identity/users/${who.id}`, { as: root, body: { disabled: !isEnabled } });
      who.isDisabled = !isEnabled;
      if (isEnabled) return;
      // To disable an account ends its sessions.
      const [session] = who.credentials;
      if (session !== undefined) session.isRevoked = true;
    };
    const revoke = async (who: Person, at: number): Promise<void> => {
      const credential = who.credentials[at];
      if (credential === undefined || credential.isRevoked) return;
      const { status } = await bed.ask('DELETE', `/api/v1/identity/keys/${credential.id}`, { as: root });
      if (status !== 204) throw new Error(`a key was not revoked: ${status}`);
      credential.isRevoked = true;
    };
    const renew = async (who: Person, name: string, at: number): Promise<void> => {
      if (who.isDisabled) return;
      const password = 'correct horse battery';
      const login = await bed.ask('POST', '/api/v1/auth/login', { body: { username: name, password } });
      who.credentials[0] = { id: '', token: login.body.token, isRevoked: false };
      await revoke(who, at);
      who.credentials[at] = await newKey(login.body.token);
    };

    const run = async (steps: readonly Step[]): Promise<void> => {
      const all: Asked[] = [];
      for (const [i, who] of people.entries()) {
        await enable(who, true);
        await renew(who, ['ann', 'bob'][i] ?? '', 1);
        await renew(who, ['ann', 'bob'][i] ?? '', 2);
      }
      const ask = async (owner: Person, by: Credential, kind: Asked['kind']): Promise<void> => {
        nTexts += 1;
        const [text, body] =
          kind === 'call'
            ? [`t${nTexts}`, { tool: 'test.write', arguments: { text: `t${nTexts}` } }]
            : [`${nTexts}`, { device_id: 'dev_1', variable: 'speed', value: nTexts }];
        const path = kind === 'call' ? '/api/v1/tools/execute' : '/api/v1/iot/write';
        const { status, body: answer } = await bed.ask('POST', path, { as: by.token, body });
        const expected = !isAlive(owner, by) ? 401 : kind === 'call' ? 409 : 202;
        if (status !== expected) throw new Error(`${kind}: ${status} in place of ${expected}`);
        if (status !== 401) all.push({ id: answer.approval_id, kind, owner, by, text, state: 'pending' });
      };
      const approve = async (who: Person, by: Credential, asked: Asked): Promise<void> => {
        const before = calls.length;
        const path = `/api/v1/security/approvals/${asked.id}`;
        const { status, body } = await bed.ask('POST', path, { as: by.token, body: { decision: 'approve' } });
        const isOwner = who === asked.owner;
        const isRight = asked.kind === 'call' ? isOwner : !isOwner;
        const isOpen = asked.state === 'pending';
        const expected = !isAlive(who, by) ? 401 : !isRight ? (isOwner ? 403 : 404) : isOpen ? 200 : 409;
        if (status !== expected) throw new Error(`approval of ${asked.kind}: ${status} in place of ${expected}`);
        if (status !== 200) return;
        // What was asked for by a session goes on without it, as long as its account may.
        const mayStill = asked.by.id === '' ? !asked.owner.isDisabled : isAlive(asked.owner, asked.by);
        const runs = asked.kind === 'write' && mayStill;
        if (calls.length - before !== (runs ? 1 : 0))
          throw new Error(`a write ran ${calls.length - before} times: ${JSON.stringify(body)}`);
        if (asked.kind === 'write' && !runs) nStopped += 1;
        if (runs) nServed += 1;
        asked.state = asked.kind === 'write' ? 'over' : 'approved';
      };
      const serve = async (who: Person, by: Credential, asked: Asked): Promise<void> => {
        if (asked.kind === 'write') return;
        const before = calls.length;
        const body = { tool: 'test.write', arguments: { text: asked.text }, approval_id: asked.id };
        const answers = await Promise.all([1, 2].map(() => bed.ask('POST', '/api/v1/tools/execute', { as: by.token, body })));
        const runs = isAlive(who, by) && who === asked.owner && asked.state === 'approved';
        const nRan = calls.length - before;
        if (nRan !== (runs ? 1 : 0) || answers.filter(({ status }) => status === 200).length !== nRan)
          throw new Error(`${asked.text} ran ${nRan} times: ${answers.map(({ status }) => status).join()}`);
        if (!isAlive(who, by) && answers.some(({ status }) => status !== 401))
          throw new Error('a credential that is over was heard');
        if (!runs) return;
        nServed += 1;
        asked.state = 'over';
      };
      for (const each of steps) {
        const asked = 'which' in each ? all.at(-1 - each.which) : undefined;
        const rightly =
          asked && (each.act === 'approve rightly' && asked.kind === 'write' ? other(people, asked.owner) : asked.owner);
        const who = 'person' in each ? people[each.person] : rightly;
        if (who === undefined) continue;
        if (each.act === 'disable' || each.act === 'enable') await enable(who, each.act === 'enable');
        if (each.act === 'revoke') await revoke(who, each.key);
        if (each.act === 'renew') await renew(who, who === people[0] ? 'ann' : 'bob', each.key);
        const by = 'slot' in each ? who.credentials[each.slot] : undefined;
        if (by === undefined) continue;
        if (each.act === 'call' || each.act === 'write') await ask(who, by, each.act);
        if (asked === undefined) continue;
        if (each.act === 'approve' || each.act === 'approve rightly') await approve(who, by, asked);
        if (each.act === 'serve' || each.act === 'serve rightly') await serve(who, by, asked);
      }
    };
    const numRuns = process.env['SVC_TEST_LONG'] === '1' ? 40 : 4;
    const sequences = fc.array(step, { minLength: 15, maxLength: 40, size: 'max' });
    await fc.assert(fc.asyncProperty(sequences, run), { numRuns, endOnFailure: true, examples: [[WHOLE]] });
    t.ok(nServed > 0, `${nServed} calls ran`);
    t.ok(nStopped > 0, `${nStopped} writes were approved when whoever asked could do nothing any more`);
  });
}

function other(people: readonly Person[], than: Person): Person | undefined {
  return people.find((each) => each !== than);
}

onEachDatabase(testRevokedCredentials, { timeoutMs: 300_000 });
