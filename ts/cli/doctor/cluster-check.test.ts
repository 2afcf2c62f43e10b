/** `svc doctor` says of a cluster all that is wrong, with remedies. */
import t from 'tap';
import { VERSION } from '../../server/product.ts';
import { judgeCluster } from './cluster-check.ts';

type Facts = Parameters<typeof judgeCluster>[0];

const DAY_MS = 24 * 3_600_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS + 60_000);
const node = (more: Partial<Facts['nodes'][number]> = {}) => ({
  name: 'a',
  version: VERSION,
  wire: 2,
  isForeign: false,
  silentMs: undefined,
  certificateEnd: inDays(29),
  ...more,
});
const facts = (more: Partial<Facts> = {}): Facts => ({
  certificateEnd: inDays(29),
  nodes: [node(), node({ name: 'b' })],
  toUpdate: [],
  clockOffsetMs: 900,
  copies: undefined,
  ...more,
});
const copies = (isSynchronous: boolean, nStandbys: number, nSynchronous: number | undefined) => ({
  copies: { isSynchronous, nStandbys, nSynchronous },
});

t.test('a cluster in which all is well', async (t) => {
  const well = { state: 'ok', finding: `2 nodes of version ${VERSION}` };
  for (const more of [
    {},
    { certificateEnd: undefined, clockOffsetMs: undefined },
    copies(false, 0, 0),
    copies(true, 1, 1),
    copies(true, 1, undefined),
  ])
    t.strictSame(judgeCluster(facts(more), false), well);
  t.strictSame(judgeCluster(facts(copies(true, 2, 1)), true), well);
});

t.test('each thing that is wrong has a remedy', async (t) => {
  const cases: readonly [Partial<Facts>, state: string, finding: RegExp, remedy: RegExp, hasServers?: boolean][] = [
    [{ certificateEnd: inDays(-3) }, 'broken', /of this node ended 3 days ago/, /start the node/],
    [{ certificateEnd: inDays(4) }, 'warning', /of this node ends in 4 days/, /start the node/],
    [{ nodes: [node(), node({ name: 'b', certificateEnd: inDays(2) })] }, 'warning', /of other nodes .*: b$/, /their logs/],
    [{ nodes: [node({ name: 'c', silentMs: 61_000 })] }, 'warning', /told nothing of late: c for 61 s/, /svc node rm/],
    [{ clockOffsetMs: 70_000 }, 'warning', /70 s behind that of the cluster/, /set-ntp/],
    [{ clockOffsetMs: -70_000 }, 'warning', /70 s ahead of that of the cluster/, /set-ntp/],
    [
      { nodes: [node({ name: 'b', version: '4.9.1', wire: 1 })], toUpdate: ['b'] },
      'warning',
      /nodes run another: b 4\.9\.1 \(wire 1\)/,
      /update b next/,
    ],
    [
      { nodes: [node({ name: 'b', version: '9.0.0', wire: 4, isForeign: true })] },
      'broken',
      /no wire version of this program: b 9\.0\.0 \(wire 4\)/,
      /update this node next/,
    ],
    [copies(false, 1, 0), 'warning', /waits for none of them/, /synchronous_mode of Patroni/],
    [copies(false, 0, 0), 'warning', /waits for none of them/, /synchronous_standby_names/, true],
    [copies(true, 0, 0), 'warning', /writes wait until one does/, /start the standby/],
  ];
  for (const [more, state, finding, remedy, hasServers = false] of cases)
    t.match(judgeCluster(facts(more), hasServers), { state, finding, remedy });
});

t.test('of several things all are said, the worst first', async (t) => {
  const found = judgeCluster(facts({ clockOffsetMs: 70_000, certificateEnd: inDays(-1), ...copies(false, 1, 0) }), false);
  t.equal(found.state, 'broken');
  t.match(found.finding, /^the certificate of this node ended 1 days ago; the clock .*; the database has standbys/);
  t.equal(found.remedy?.split('; ').length, 3);
});
