/** Approvals on both databases, whatever is changed, reordered, replayed, over, revoked or begun again: each lets one call run at most. */
import fc from 'fast-check';
import type { Test } from 'tap';
import type { Principal } from '../../../platform/http/principal.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { callerOf, openEdge } from '../test-support/edge-bed.ts';

const admin = callerOf('usr_admin', 'admin');
const callers = [callerOf('usr_ann', 'viewer'), callerOf('usr_bob', 'viewer')] as const;
const HOUR_MS = 60 * 60 * 1000;
const LIFETIME_MS = 24 * HOUR_MS;

const who = fc.constantFrom(0, 1);
const tool = fc.constantFrom('test.read', 'test.write', 'test.destroy');
const text = fc.constantFrom('a', 'b');
/** The number of an approval, from the newest one back. */
const which = fc.nat(2);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('call' as const), who, tool, text }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('call, approved' as const), who, tool, text }) },
  // The same approval with any call, and many times at once.
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('replay' as const), who, tool, text, which, times: fc.constantFrom(1, 1, 3) }),
  },
  // The very call that the approval is of.
  { weight: 8, arbitrary: fc.record({ act: fc.constant('serve' as const), which, times: fc.constantFrom(1, 1, 3) }) },
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('approve' as const), which, changed: fc.constantFrom(undefined, undefined, 'c') }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('approve as another' as const), who, which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('deny' as const), which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('pass' as const), hours: fc.constantFrom(1, 1, 13, 25) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('revoke' as const) }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('restore' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('become another tool' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** Asked, approved, made by three requests at once, and once more. */
const WHOLE: Step[] = [
  { act: 'call', who: 0, tool: 'test.write', text: 'a' },
  { act: 'approve', which: 0, changed: undefined },
  { act: 'serve', which: 0, times: 3 },
  { act: 'serve', which: 0, times: 1 },
];

/** What an approval may let run, as the test remembers it. */
interface Asked {
  readonly id: string;
  readonly owner: Principal;
  readonly tool: string;
  readonly text: string;
  readonly description: string;
  readonly expiresAt: number;
  state: 'pending' | 'approved' | 'denied' | 'used';
  /** The text that runs. */
  runs: string;
}

function testApprovals(t: Test, newDatabase: NewDatabase): void {
  const realNow = Date.now;
  let offsetMs = 0;
  t.before(() => {
    Date.now = () => realNow() + offsetMs;
  });
  t.teardown(() => {
    Date.now = realNow;
  });

  t.test('each approval lets one call run at most, the one that was approved', async (t) => {
    const databaseUrl = await newUrl(t, newDatabase);
    let description = 'Does nothing.';
    let nServed = 0;
    let nRuns = 0;
    const open = () => openEdge(t, { databaseUrl, description, settings: { 'tools.calls_at_once': 100 } });
    let bed = await open();
    const setRule = (decision: string) => bed.setPolicy(admin, { rules: [{ tools: ['test.*'], decision }] });

    const run = async (steps: readonly Step[]): Promise<void> => {
      const all: Asked[] = [];
      // A call that waits from another run is no call of this one.
      nRuns += 1;
      const mark = nRuns;
      let isRevoked = false;
      await setRule('ask');
      const send = async (owner: Principal, name: string, given: string, asked: Asked | undefined): Promise<void> => {
        const nBefore = bed.calls.length;
        const body = { arguments: { text: given }, ...(asked !== undefined && { approval_id: asked.id }) };
        const { status, body: answer } = await bed.execute(owner, name, body);
        if (answer.approval_id !== undefined && !all.some(({ id }) => id === answer.approval_id)) {
          const expiresAt = Date.now() + LIFETIME_MS;
          all.push({
            id: answer.approval_id,
            owner,
            tool: name,
            text: given,
            description,
            expiresAt,
            state: 'pending',
            runs: given,
          });
        }
        if (status !== 200) return;
        const ran = bed.calls.slice(nBefore).some(({ call }) => (call.arguments as { text: string }).text === asked?.runs);
        const isRight =
          asked?.state === 'approved' &&
          asked.owner.subject === owner.subject &&
          `${asked.tool} ${asked.text} ${asked.description}` === `${name} ${given} ${description}` &&
          asked.expiresAt > Date.now() &&
          !isRevoked &&
          ran;
        if (!isRight) throw new Error(`${name} ${given} ran for ${owner.subject} with ${JSON.stringify(asked)}`);
        asked.state = 'used';
        nServed += 1;
      };
      const sendMany = async (times: number, owner: Principal, name: string, given: string, asked: Asked): Promise<void> => {
        const before = bed.calls.length;
        await Promise.all(Array.from({ length: times }, () => send(owner, name, given, asked)));
        if (bed.calls.length - before > 1) throw new Error(`${asked.id} let ${bed.calls.length - before} calls run`);
      };
      const decide = async (as: Principal, asked: Asked, decision: 'approve' | 'deny', changed?: string): Promise<void> => {
        const body = { decision, ...(changed !== undefined && { arguments: { text: changed } }) };
        const { status } = await bed.decide(as, asked.id, body);
        const isOpen = asked.state === 'pending' && asked.expiresAt > Date.now();
        const mayDecide = asked.tool === 'test.destroy' ? as === admin : as.subject === asked.owner.subject;
        if ((status === 200) !== (isOpen && mayDecide))
          throw new Error(`${decision} of ${JSON.stringify(asked)} by ${as.subject}: ${status}`);
        if (status !== 200) return;
        asked.state = decision === 'approve' ? 'approved' : 'denied';
        asked.runs = changed ?? asked.runs;
      };
      const decider = (asked: Asked): Principal => (asked.tool === 'test.destroy' ? admin : asked.owner);
      for (const each of steps) {
        const asked = 'which' in each ? all.at(-1 - each.which) : undefined;
        const owner = 'who' in each ? callers[each.who === 0 ? 0 : 1] : callers[0];
        if (each.act === 'call' || each.act === 'call, approved') await send(owner, each.tool, `${each.text} ${mark}`, undefined);
        const newest = all.at(-1);
        if (each.act === 'call, approved' && newest?.state === 'pending') await decide(decider(newest), newest, 'approve');
        if (each.act === 'pass') offsetMs += each.hours * HOUR_MS;
        if (each.act === 'revoke' || each.act === 'restore') {
          isRevoked = each.act === 'revoke';
          await setRule(isRevoked ? 'deny' : 'ask');
        }
        if (each.act === 'become another tool')
          description = description === 'Does nothing.' ? 'Does something.' : 'Does nothing.';
        if (each.act === 'restart' || each.act === 'become another tool') {
          await bed.stop();
          bed = await open();
        }
        if (asked === undefined) continue;
        if (each.act === 'replay') await sendMany(each.times, owner, each.tool, `${each.text} ${mark}`, asked);
        if (each.act === 'serve') await sendMany(each.times, asked.owner, asked.tool, asked.text, asked);
        if (each.act === 'approve') await decide(decider(asked), asked, 'approve', each.changed);
        if (each.act === 'approve as another') await decide(owner, asked, 'approve');
        if (each.act === 'deny') await decide(decider(asked), asked, 'deny');
      }
    };
    const numRuns = process.env['SVC_TEST_LONG'] === '1' ? 60 : 8;
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }), run), {
      numRuns,
      endOnFailure: true,
      examples: [[WHOLE]],
    });
    t.ok(nServed > 0, `${nServed} calls ran`);
  });
}

onEachDatabase(testApprovals, { timeoutMs: 300_000 });
