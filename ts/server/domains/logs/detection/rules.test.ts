/** Rules as Sigma YAML: what is applied finds what it says and nothing else, and what cannot be applied says why. */
import fc from 'fast-check';
import t from 'tap';
import type { LogLine } from '../index/log-line.ts';
import { madeLine } from '../test-support/made-copy.ts';
import { CorrelationWindows } from './correlation-windows.ts';
import { fieldsOf } from './line-fields.ts';
import { OWN_RULES } from './own-rules.ts';
import { type Alert, RuleSet } from './rule-set.ts';
import { type CorrelationRule, readRule } from './sigma-rule.ts';
import { InvalidRule } from './sigma-value.ts';
import { RULE_LINES } from './test-support/rule-lines.ts';

const BEGIN_MS = Date.parse('2026-11-28T12:00:00Z');

/** Lines a second apart, or where they say so. */
function alertsOf(rules: RuleSet, lines: readonly Partial<LogLine>[], everyMs = 1_000, beginMs = BEGIN_MS): Alert[] {
  const alerts: Alert[] = [];
  for (const [i, line] of lines.entries())
    rules.evaluate({ line: madeLine(line), atMs: beginMs + i * everyMs, source: 'ts' }, alerts);
  return alerts;
}

const single = (detection: string, head = '', source = 'product: linux') => `title: A rule
${head}
logsource: { ${source} }
detection:
${detection
  .split('\n')
  .map((line) => `  ${line}`)
  .join('\n')}`;

function finds(yaml: string, line: Partial<LogLine>): boolean {
  const rules = new RuleSet([{ id: 'r', yaml }]);
  if (rules.faults.size > 0) throw new Error(rules.faults.get('r'));
  return alertsOf(rules, [line]).length > 0;
}

t.test('there are twenty rules of our own, and each is tested', (t) => {
  t.equal(OWN_RULES.length, 20);
  t.strictSame(Object.keys(RULE_LINES).sort(), OWN_RULES.map(({ id }) => id).sort());
  t.strictSame([...new RuleSet(OWN_RULES).faults], []);
  t.end();
});

for (const [id, { must, mustNot }] of Object.entries(RULE_LINES))
  t.test(`the rule ${id} finds its lines and no others`, (t) => {
    for (const lines of must) {
      const found = alertsOf(new RuleSet(OWN_RULES), lines).filter(({ rule }) => rule === id);
      t.equal(found.length, 1, JSON.stringify(lines[0]));
      t.ok(found[0]?.entity !== '' && (found[0]?.uuids.length ?? 0) > 0);
    }
    for (const lines of mustNot)
      t.strictSame(
        alertsOf(new RuleSet(OWN_RULES), lines).filter(({ rule }) => rule === id),
        [],
        JSON.stringify(lines[0]),
      );
    t.end();
  });

t.test('values: modifiers, wildcards, lists, numbers, null', (t) => {
  const msg = 'user=Ann Count=17 path=/a/b.txt ip=10.1.2.3 star=a*b';
  for (const [detection, isFound] of [
    ['s: { user: ann }\ncondition: s', true],
    ['s: { user|cased: ann }\ncondition: s', false],
    ['s: { user: [bob, "A?n"] }\ncondition: s', true],
    ['s: { user: "A?" }\ncondition: s', false],
    ['s: { path: "*.TXT" }\ncondition: s', true],
    ["s: { star: 'a\\*b' }\ncondition: s", true],
    ["s: { user: 'a\\*n' }\ncondition: s", false],
    ['s: { path|contains: b. }\ncondition: s', true],
    ['s: { path|startswith: /a }\ncondition: s', true],
    ['s: { path|endswith: /a }\ncondition: s', false],
    ['s: { path|contains|all: [a, txt] }\ncondition: s', true],
    ['s: { path|contains|all: [a, absent] }\ncondition: s', false],
    ["s: { path|re: '^/[a-z]/b[.]' }\ncondition: s", true],
    ["s: { path|re: '^/B' }\ncondition: s", false],
    ['s: { ip|cidr: 10.0.0.0/8 }\ncondition: s', true],
    ['s: { ip|cidr: [192.168.0.0/16, fd00::/8] }\ncondition: s', false],
    ['s: { absent|exists: false, user|exists: true }\ncondition: s', true],
    ['s: { absent: null }\ncondition: s', true],
    ['s: { user: null }\ncondition: s', false],
    ['s: { Count|gt: 16, Count|lt: 18 }\ncondition: s', true],
    ['s: { Count|gte: 18 }\ncondition: s', false],
    ['s: { user|gt: 1 }\ncondition: s', false],
    ['s: { Count: 17 }\ncondition: s', true],
    ['s: [{ user: bob }, { Count: 17 }]\ncondition: s', true],
    ['s: [absent, "count=17"]\ncondition: s', true],
    ["s: { '|all': [user, count] }\ncondition: s", true],
    ["s: { '|all': [user, absent] }\ncondition: s", false],
    ['a: { user: ann }\nb: { user: bob }\ncondition: a and not b', true],
    ['a: { user: ann }\nb: { user: bob }\ncondition: not (a or b)', false],
    ['a: { user: ann }\nb: { user: bob }\ncondition: 1 of them', true],
    ['a: { user: ann }\nb: { user: bob }\ncondition: all of them', false],
    ['sel_a: { user: ann }\nsel_b: { Count: 17 }\nother: { user: bob }\ncondition: all of sel_*', true],
    ['a: { user: bob }\nb: { user: ann }\nc: { user: ann }\ncondition: a and b or c', true],
    ['a: { user: bob }\nb: { user: ann }\ncondition: a and (b or b)', false],
  ] as const)
    t.equal(finds(single(detection), { msg }), isFound, detection);
  t.end();
});

t.test('what cannot be applied is listed with the reason, and none of it is applied', (t) => {
  const selection = 's: { user: ann }\n';
  for (const [yaml, reason] of [
    [single('s: { user|base64: ann }\ncondition: s'), /the modifier base64/],
    [single('s: { user|fieldref: other }\ncondition: s'), /the modifier fieldref/],
    [single('s: { user|contains|re: ann }\ncondition: s'), /contains and re together/],
    [single("s: { user|re: '(?=a)b' }\ncondition: s"), /linear time/],
    [single("s: { user|re: '(a)\\1' }\ncondition: s"), /linear time/],
    [single("s: { user|re: '(?i)ann' }\ncondition: s"), /flags within a pattern/],
    [single(`${selection}condition: s | count() > 5`), /an aggregation within a condition/],
    [single(`${selection}condition: 2 of s*`), /2 of selections/],
    [single(`${selection}condition: [s, s]`), /several conditions/],
    [single(`${selection}timeframe: 5m\ncondition: s`), /`timeframe`/],
    [single(`${selection}condition: s`, '', 'product: windows, service: security'), /the product windows/],
    [single(`${selection}condition: s`, '', 'category: process_creation, product: linux'), /the category process_creation/],
    [single(`${selection}condition: s`, '', 'product: linux, service: auditd'), /the service auditd/],
    [`title: C\ncorrelation: { type: event_count, rules: [a], timespan: 5m, condition: { lt: 5 } }`, /`lt` in the condition/],
    [`title: C\ncorrelation: { type: value_avg, rules: [a], timespan: 5m, condition: { gte: 5 } }`, /the type value_avg/],
    [`title: C\ncorrelation: { type: event_count, rules: [a], timespan: 30d, condition: { gte: 5 } }`, /above 7d/],
    [`title: C\ncorrelation: { type: event_count, rules: [a], timespan: 1m, condition: { gte: 5000 } }`, /a count above/],
    [`title: C\ncorrelation: { type: temporal, rules: [a, b], timespan: 1m, aliases: {} }`, /`aliases`/],
  ] as const) {
    t.match(readRule(yaml), { unsupported: reason, file: undefined }, yaml);
    const rules = new RuleSet([{ id: 'r', yaml }]);
    t.match(rules.faults.get('r'), reason);
    t.strictSame(alertsOf(rules, [{ msg: 'user=ann' }]), []);
  }
  const alone = `title: C\ncorrelation: { type: event_count, rules: [absent], timespan: 1m, condition: { gte: 1 } }`;
  t.match(new RuleSet([{ id: 'r', yaml: alone }]).faults.get('r'), /the rule absent, which is not installed/);
  const circle = (name: string, other: string) =>
    `title: C\nname: ${name}\ncorrelation: { type: event_count, rules: [${other}], timespan: 1m, condition: { gte: 1 } }`;
  const both = new RuleSet([
    { id: 'x', yaml: circle('x', 'y') },
    { id: 'y', yaml: circle('y', 'x') },
  ]);
  t.match(both.faults.get('x'), /in a circle/);
  const half = new RuleSet([
    { id: 'base', yaml: single('s: { user|wide: ann }\ncondition: s', 'name: base') },
    { id: 'on-it', yaml: circle('c', 'base') },
  ]);
  t.strictSame([...half.faults.keys()], ['base', 'on-it']);
  t.end();
});

t.test('what is no rule is refused with a sentence', (t) => {
  for (const [yaml, reason] of [
    ['', /it is empty/],
    ['a: [', /it is no YAML/],
    ['a: 1\na: 2', /it is no YAML/],
    ['- 1', /a rule has no members/],
    ['a: &a [1]\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]', /it is no YAML/],
    [single('s: { user: a }\ncondition: s').replace('title: A rule', ''), /`title` is missing/],
    [single('s: { user: a }'), /`detection.condition` is missing/],
    [single('s: { user: a }\ncondition: t'), /names t, which is no selection/],
    [single('s: { user: a }\ncondition: s and'), /ends too early/],
    [single('s: { user: a }\ncondition: (s'), /not closed/],
    [single('s: { user: a }\ncondition: s s'), /goes on with s/],
    [single('s: { user: a }\ncondition: 1 of t*'), /no selection is called t\*/],
    [single('s: {}\ncondition: s'), /a selection is empty/],
    [single('s: { user|cidr: nothing }\ncondition: s'), /is no network/],
    [single("s: { user|re: '(' }\ncondition: s"), /a pattern is none/],
    [single('s: { user|lt: many }\ncondition: s'), /takes a number/],
    [single('s: { user: a }\ncondition: s', 'level: terrible'), /`level` is one of/],
    ['title: C\ncorrelation: { type: event_count, rules: [a], timespan: soon, condition: { gte: 5 } }', /`timespan`/],
    ['title: C\ncorrelation: { type: value_count, rules: [a], timespan: 5m, condition: { gte: 5 } }', /names no field/],
    ['title: C\ncorrelation: { type: temporal, rules: [a], timespan: 5m }', /two at least/],
    [`title: ${'x'.repeat(70_000)}`, /at most 65536 bytes/],
  ] as const) {
    let fault: unknown;
    try {
      readRule(yaml);
    } catch (error) {
      fault = error;
    }
    t.ok(fault instanceof InvalidRule, yaml.slice(0, 100));
    t.match((fault as Error).message, reason);
  }
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.json(), fc.constant(single('s: [a]\ncondition: s'))),
      fc.string(),
      fc.nat(200),
      (a, b, at) => {
        try {
          readRule(a.slice(0, at) + b + a.slice(at));
        } catch (error) {
          return error instanceof InvalidRule;
        }
        return true;
      },
    ),
  );
  t.end();
});

t.test('a pattern of a stranger takes no longer for a hostile line', (t) => {
  const rules = new RuleSet([{ id: 'r', yaml: single("s: { msg|re: '^(a+)+$' }\ncondition: s") }]);
  const startedAt = performance.now();
  alertsOf(rules, [{ msg: `${'a'.repeat(20_000)}!` }]);
  t.ok(performance.now() - startedAt < 2_000);
  t.end();
});

const counted = (more: string) => `${single('s: { msg|contains: bad }\ncondition: s', 'name: bad')}
---
${single('s: { msg|contains: good }\ncondition: s', 'name: good')}
---
title: C
author: Ann
correlation: { ${more} }`;
const bad = (user: string, n = 1) => Array.from({ length: n }, () => ({ msg: `bad user=${user}` }));
const good = (user: string) => [{ msg: `good user=${user}` }];

t.test('event_count: so many in the time, by group, and again from nothing', (t) => {
  const yaml = counted('type: event_count, rules: [bad], group-by: [user], timespan: 10s, condition: { gte: 3 }');
  const rules = new RuleSet([{ id: 'r', yaml }]);
  t.match(alertsOf(rules, [...bad('ann', 3), ...bad('bob', 2)]), [{ rule: 'r', entity: 'ann', author: 'Ann', count: 1 }]);
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml }]), bad('ann', 6)).length, 2);
  t.strictSame(alertsOf(new RuleSet([{ id: 'r', yaml }]), bad('ann', 6), 6_000), [], 'they are too far apart');
  t.strictSame(alertsOf(new RuleSet([{ id: 'r', yaml }]), [{ msg: 'bad' }, { msg: 'bad' }, { msg: 'bad' }]), [], 'no group');
  const both = new RuleSet([{ id: 'r', yaml: yaml.replace('timespan', 'generate: true, timespan') }]);
  t.equal(alertsOf(both, bad('ann', 3)).length, 4, 'the rules that it counts alert too where it says so');
  t.end();
});

t.test('value_count, temporal and temporal_ordered', (t) => {
  const values = counted('type: value_count, rules: [bad], timespan: 1m, condition: { field: user, gt: 2 }');
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml: values }]), [...bad('a', 5), ...bad('b'), ...bad('c')]).length, 1);
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml: values }]), [...bad('a', 5), ...bad('b', 5)]).length, 0);
  const inTime = counted('type: temporal, rules: [bad, good], group-by: [user], timespan: 1m');
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml: inTime }]), [...good('a'), ...bad('a')]).length, 1);
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml: inTime }]), [...good('a'), ...bad('b')]).length, 0);
  const ordered = counted('type: temporal_ordered, rules: [bad, good], group-by: [user], timespan: 1m');
  t.equal(alertsOf(new RuleSet([{ id: 'r', yaml: ordered }]), [...good('a'), ...bad('a')]).length, 0);
  const [alert] = alertsOf(new RuleSet([{ id: 'r', yaml: ordered }]), [...good('a'), ...bad('a'), ...good('b'), ...good('a')]);
  t.equal(alert?.uuids.length, 2, 'both lines are named');
  t.end();
});

t.test('windows are bounded, count what they forget, and go on over a restart without alerting twice', (t) => {
  const yaml = counted('type: event_count, rules: [bad], group-by: [user], timespan: 1m, condition: { gte: 3 }');
  const first = new RuleSet([{ id: 'r', yaml }]);
  const lines = bad('ann', 3).map((line) => madeLine(line));
  const alerts: Alert[] = [];
  const evaluate = (rules: RuleSet, i: number) =>
    rules.evaluate({ line: lines[i] as LogLine, atMs: BEGIN_MS + i * 1_000, source: 'ts' }, alerts);
  evaluate(first, 0);
  evaluate(first, 1);
  const again = new RuleSet([{ id: 'r', yaml }], JSON.parse(JSON.stringify(first.saved)));
  evaluate(again, 1);
  t.equal(alerts.length, 0, 'a line that is read twice counts once');
  evaluate(again, 2);
  t.equal(alerts.length, 1);
  for (const i of [0, 1, 2]) evaluate(again, i);
  t.equal(alerts.length, 1, 'what alerted does not alert again where it is read again');
  const changed = new RuleSet([{ id: 'r', yaml: yaml.replace('gte: 3', 'gte: 2') }], first.saved);
  evaluate(changed, 2);
  t.equal(alerts.length, 1, 'a rule that was changed begins anew');

  const rule = { kind: 'correlation', type: 'event_count', rules: ['a'], groupBy: ['b'], timespanMs: 60_000, least: 5 };
  const windows = new CorrelationWindows({ ...rule, names: [], field: undefined, generates: false } as CorrelationRule);
  for (let i = 0; i < 10_500; i++) windows.add(`group ${i}`, { atMs: BEGIN_MS, uuid: `u${i}`, rule: 0, value: '' });
  t.equal(windows.saved.length, 10_000);
  t.equal(windows.nForgotten, 500);
  windows.add('late', { atMs: BEGIN_MS + 100_000, uuid: 'x', rule: 0, value: '' });
  windows.add('late', { atMs: BEGIN_MS, uuid: 'y', rule: 0, value: '' });
  t.equal(windows.nForgotten, 501, 'one that came too late; the group that went for it could not count any more');
  t.end();
});

t.test('no parser takes long for a hostile line', (t) => {
  const pieces = [
    'IN= OUT= ',
    'SRC=a DST=b ',
    'PROTO=TCP SPT=1 DPT=2 ',
    '[UFW BLOCK] ',
    '[error] ',
    ', client: a, server: b',
    ' from 1.1.1.1 port 22',
    'a=',
    'a="',
    ' ',
    '{"a":',
    ' ; USER=a ; COMMAND=b',
    'password changed for a ',
    'session opened for user a ',
  ];
  for (const app of ['kernel', 'sshd', 'sudo', 'su', 'passwd', 'cron', 'nginx', 'app'])
    for (const begin of [
      '',
      'Failed password for ',
      'a : TTY=b ; PWD=',
      '[UFW BLOCK] IN= OUT= SRC=a ',
      '2026/11/28 12:00:00 [error] ',
    ])
      for (const piece of pieces) {
        const line = madeLine({ app, msg: begin + piece.repeat(8_192 / piece.length) });
        const startedAt = performance.now();
        fieldsOf(line);
        const ms = performance.now() - startedAt;
        if (ms > 200) t.fail(`${app} ${begin}${piece} took ${ms} ms`);
      }
  t.match(
    Object.fromEntries(
      fieldsOf(madeLine({ app: 'kernel', msg: '[UFW AUDIT] IN=eth0 OUT= SRC=10.0.0.1 DST=10.0.0.2 LEN=1 PROTO=ICMP TYPE=8' }))
        .fields,
    ),
    {
      action: 'audit',
      in_interface: 'eth0',
      proto: 'ICMP',
    },
  );
  t.end();
});

t.test('fields: a name that looks like an address changes nothing, and JSON has its members', (t) => {
  const of = (app: string, msg: string) => Object.fromEntries(fieldsOf(madeLine({ app, msg })).fields);
  t.match(of('sshd', 'Failed password for invalid user x from 1.1.1.1 port 1 from 9.9.9.9 port 22 ssh2'), {
    src_ip: '9.9.9.9',
    user: 'x from 1.1.1.1 port 1',
    action: 'failed',
  });
  t.match(of('app', '{"a":{"b":1,"c":[true]},"host":"forged"}'), { 'a.b': '1', 'a.c.0': 'true', host: 'h1' });
  t.match(of('app', `x user="a b" msg=forged k='v' n=1,m=2`), { user: 'a b', k: 'v', n: '1', m: '2', msg: /^x user/ });
  t.match(of('nginx', '10.0.0.1 - ann [28/Nov/2026:12:00:00 +0000] "GET /a?b=c HTTP/1.1" 404 12 "-" "curl/8"'), {
    'c-ip': '10.0.0.1',
    'cs-uri-stem': '/a',
    'cs-uri-query': 'b=c',
    'sc-status': '404',
    user_agent: 'curl/8',
  });
  fc.assert(
    fc.property(fc.constantFrom('sshd', 'sudo', 'kernel', 'nginx', 'app'), fc.string({ unit: 'binary' }), (app, msg) => {
      const { fields } = fieldsOf(madeLine({ app, msg }));
      return fields.get('msg') === msg && fields.size <= 120;
    }),
  );
  t.end();
});
