/** Lines that come into a copy are read once, whatever happens to its files, and over restarts. */
import { appendFileSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { closeHour } from '../collection/closed-hour.ts';
import type { LogLine } from '../index/log-line.ts';
import { madeLine, writeLines, writeRaw } from '../test-support/made-copy.ts';
import { type Detected, Detector } from './detector.ts';

const NOW = Date.parse('2026-11-28T12:30:00Z');
const yaml = `title: Bad
logsource: { product: linux }
detection:
  s: { msg|contains: bad }
  condition: s`;
const counted = `title: Bad
name: bad
logsource: { product: linux }
detection:
  s: { msg|contains: bad }
  condition: s
---
title: Many
correlation: { type: event_count, rules: [bad], group-by: [host], timespan: 10m, condition: { gte: 4 } }`;

async function open(t: Test, rule = yaml) {
  const folder = newFolder(t);
  const copies = [join(folder, 'a'), join(folder, 'b')] as const;
  for (const copy of copies) mkdirSync(copy);
  const file = join(folder, 'state', 'detection.json');
  mkdirSync(join(folder, 'state'));
  const start = async () => {
    const detector = new Detector(file);
    await detector.useRules([{ id: 'bad', yaml: rule }]);
    return detector;
  };
  return { copies, start, detector: await start() };
}

async function all(detector: Detector, path: string, number = 0, nowMs = NOW): Promise<Detected> {
  const sum = await detector.advance({ path, number }, nowMs, 10_000);
  while (!sum.isDone) {
    const more = await detector.advance({ path, number }, nowMs, 10_000);
    sum.alerts.push(...more.alerts);
    sum.nLines += more.nLines;
    sum.isDone = more.isDone;
  }
  return sum;
}

const bad = (more: Partial<LogLine> = {}) => madeLine({ msg: 'bad', ...more });

t.test('lines are read as they come, once', async (t) => {
  const { copies, detector } = await open(t);
  const [copy] = copies;
  const lines = [bad(), madeLine(), bad()];
  writeLines(copy, lines);
  writeLines(copy, [bad({ class: 'firewall_allowed' })]);
  writeRaw(copy, 'other/2026-11-28T12', '{"uuid":"half');
  const found = await all(detector, copy);
  t.strictSame(
    found.alerts.map(({ uuid }) => uuid),
    [lines[0]?.uuid, lines[2]?.uuid],
  );
  t.match(found.counts, [{ sender: '10.0.0.1', className: 'other', hour: '2026-11-28T12', lines: 3 }]);
  t.match(await all(detector, copy), { alerts: [], nLines: 0, isDone: true });
  appendFileSync(join(copy, 'other/2026-11-28T12.jsonl'), '\n');
  writeLines(copy, [bad()]);
  t.equal((await all(detector, copy)).alerts.length, 1);
});

t.test('hours of before the first start are not looked at', async (t) => {
  const { copies, detector } = await open(t);
  writeLines(copies[0], [bad({ rcvd: '2026-11-28T10:00:00.000000+00:00' })]);
  t.equal((await all(detector, copies[0])).nLines, 0);
});

t.test('an hour that is packed is not read again, unless it has lines that were not read', async (t) => {
  const { copies, detector } = await open(t);
  const lines = [bad(), bad()];
  for (const copy of copies) writeLines(copy, lines);
  t.equal((await all(detector, copies[0])).alerts.length, 2);
  await closeHour(copies, 'other/2026-11-28T12', []);
  t.equal((await all(detector, copies[0])).nLines, 0);
  t.equal((await all(detector, copies[1], 1)).nLines, 0, 'it is the same file in the other copy');

  const rcvd = '2026-11-28T13:00:00.000000+00:00';
  const [shared, other] = [bad({ rcvd }), bad({ rcvd })];
  writeLines(copies[0], [shared]);
  writeLines(copies[1], [shared, other]);
  t.equal((await all(detector, copies[0])).alerts.length, 1);
  await closeHour(copies, 'other/2026-11-28T13', []);
  const again = await all(detector, copies[0]);
  t.strictSame(
    again.alerts.map(({ uuid }) => uuid).sort(),
    [shared.uuid, other.uuid].sort(),
    'known ones are told by their uuids',
  );
});

t.test('hours that were packed while nothing ran are read', async (t) => {
  const { copies, start, detector } = await open(t);
  await all(detector, copies[0]);
  await detector.keep();
  const line = bad();
  for (const copy of copies) writeLines(copy, [line]);
  await closeHour(copies, 'other/2026-11-28T12', []);
  t.equal((await all(await start(), copies[0])).alerts.length, 1);
});

t.test('another copy is read from the begin of its open hours, and correlations alert no second time', async (t) => {
  const { copies, detector } = await open(t, counted);
  const lines = Array.from({ length: 4 }, (_, i) => bad({ rcvd: `2026-11-28T12:00:0${i}.000000+00:00` }));
  writeLines(copies[0], lines);
  writeLines(copies[1], lines.toReversed());
  t.equal((await all(detector, copies[0])).alerts.length, 1);
  const other = await all(detector, copies[1], 1);
  t.match({ lines: other.nLines, alerts: other.alerts }, { lines: 4, alerts: [] });
});

t.test('what was not kept is read again, windows and all', async (t) => {
  const { copies, start, detector } = await open(t, counted);
  const lines = Array.from({ length: 4 }, (_, i) => bad({ rcvd: `2026-11-28T12:00:0${i}.000000+00:00` }));
  writeLines(copies[0], lines.slice(0, 2));
  await all(detector, copies[0]);
  await detector.keep();
  writeLines(copies[0], lines.slice(2, 3));
  await all(detector, copies[0]);
  const again = await start();
  writeLines(copies[0], lines.slice(3));
  const found = await all(again, copies[0]);
  t.match({ lines: found.nLines, alerts: found.alerts }, { lines: 2, alerts: [{ uuid: lines[3]?.uuid }] });
  t.strictSame(
    found.alerts[0]?.uuids,
    lines.map(({ uuid }) => uuid),
  );
});

t.test('files are read side by side by when their lines were received', async (t) => {
  const { copies, detector } = await open(t, counted);
  const at = (second: number, more: Partial<LogLine> = {}) =>
    bad({
      rcvd: `2026-11-28T12:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.000000+00:00`,
      ...more,
    });
  const long = 'x'.repeat(2_000);
  // Each class has lines of most of the hour, and two that count together at its end and its begin.
  for (let i = 0; i < 3_000; i += 2) {
    if (i === 1_500)
      writeLines(copies[0], [
        at(i, { host: 'z' }),
        at(i, { host: 'z' }),
        at(i, { host: 'z', class: 'web' }),
        at(i, { host: 'z', class: 'web' }),
      ]);
    writeLines(copies[0], [at(i, { msg: long }), at(i + 1, { class: 'web', msg: long })]);
  }
  const { nLines, alerts } = await all(detector, copies[0]);
  t.match({ nLines, alerts }, { nLines: 3_004, alerts: [{ entity: 'z' }] });
});

t.test('a flood of alerts is joined, and counted', async (t) => {
  const { copies, detector } = await open(t);
  writeLines(
    copies[0],
    Array.from({ length: 500 }, () => bad()),
  );
  const { alerts } = await all(detector, copies[0]);
  t.equal(alerts.length, 50);
  t.equal(
    alerts.reduce((sum, { count }) => sum + count, 0),
    500,
  );
});

t.test('a damaged file stops no other, and is read when it was repaired', async (t) => {
  const { copies, detector } = await open(t);
  await all(detector, copies[0]);
  const later = bad({ rcvd: '2026-11-28T13:00:00.000000+00:00' });
  for (const copy of copies) writeLines(copy, [later]);
  await closeHour(copies, 'other/2026-11-28T13', []);
  const path = join(copies[0], 'other/2026-11-28T13.jsonl.zst');
  renameSync(path, `${path}.whole`);
  appendFileSync(path, 'damage');
  writeLines(copies[0], [bad({ class: 'web' })]);
  const found = await all(detector, copies[0]);
  t.equal(found.alerts.length, 1);
  t.match(found.faults, [/13\.jsonl\.zst/]);
  renameSync(`${path}.whole`, path);
  t.equal((await all(detector, copies[0])).alerts.length, 1);
});
