import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import Type from 'typebox';
import { loadConfig } from '../../platform/config/config.ts';
import { SavedSettings } from '../../platform/config/saved-settings.ts';
import { integerSchema, pathSchema, SECRET, setting, textSchema } from '../../platform/config/setting.ts';
import { openTestBed } from '../../platform/http/test-support/test-bed.ts';
import { Log, RecentLines } from '../../platform/log/log.ts';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { HealthReport } from '../../platform/module/module.ts';
import type { ModuleName } from '../../platform/module/module-names.ts';
import { scriptedContext, scriptedNode } from '../../platform/module/test-support/scripted-context.ts';
import type { Node, RoleState } from '../../platform/node/node.ts';
import { system } from './index.ts';

async function open(t: Test, changes: Partial<Node> = {}) {
  const metrics = new MetricsRegistry();
  metrics.gauge('shown', 'Shown.').with().set(3);
  const context = scriptedContext({ spec: {}, node: { ...scriptedNode, ...changes }, metrics });
  const { routes } = await system.create(context);
  const bed = await openTestBed(t, routes);
  return async (path: string, base = bed.url, init: RequestInit = {}) => {
    const response = await fetch(base + path, init);
    return { status: response.status, headers: response.headers, text: await response.text(), bed };
  };
}

t.test('a node that is well', async (t) => {
  const ask = await open(t);
  t.match(JSON.parse((await ask('/health')).text), {
    status: 'ok',
    version: '1.2.3',
    auth: 'off',
    uptime_seconds: Number,
    module_map: { size: 1, age_seconds: 0, stale: false },
    reasons: [],
  });
  t.strictSame((await ask('/livez')).text, '{"status":"alive"}');
  t.strictSame((await ask('/readyz')).text, '{"status":"ready"}');
  t.match(JSON.parse((await ask('/api/v1/system/version')).text), { version: '1.2.3' });
});

t.test('while the model loads and while the node drains, readyz is 503 with the reason and livez is 200', async (t) => {
  for (const [code, status] of [
    ['model_loading', 'loading'],
    ['draining', 'draining'],
  ] as const) {
    const ask = await open(t, { notReady: () => ({ code, detail: 'Why.' }) });
    const ready = await ask('/readyz');
    t.equal(ready.status, 503);
    t.strictSame(JSON.parse(ready.text), { error: code, detail: 'Why.', path: '/readyz' });
    t.equal(ready.headers.get('retry-after'), '1');
    t.equal((await ask('/livez')).status, 200);
    t.equal((JSON.parse((await ask('/health')).text) as { status: string }).status, status);
  }
});

t.test('modules add their state and their reasons', async (t) => {
  const report: HealthReport = {
    state: { models_loaded: 0 },
    reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }],
  };
  const ask = await open(t, { health: async () => new Map<ModuleName, HealthReport>([['inference', report]]) });
  const health = JSON.parse((await ask('/health')).text);
  t.match(health, {
    status: 'degraded',
    inference: { models_loaded: 0 },
    reasons: [{ code: 'cpu_lacks_avx2', detail: 'No AVX2.' }],
  });
});

t.test('incidents say what is wrong and what to do about it', async (t) => {
  let report: HealthReport = { state: {}, reasons: [{ code: 'revocations_late', detail: 'Late.' }] };
  const ask = await open(t, { health: async () => new Map<ModuleName, HealthReport>([['identity', report]]) });
  const incidents = async () => (JSON.parse((await ask('/api/v1/system/incidents')).text) as { incidents: object[] }).incidents;
  t.match(await incidents(), [{ code: 'revocations_late', detail: 'Late.', remedy: /PostgreSQL/, ended_at: null }]);
  t.match(JSON.parse((await ask('/health')).text), { reasons: [{ code: 'revocations_late', remedy: /PostgreSQL/ }] });
  report = { state: {}, reasons: [] };
  t.match(await incidents(), [{ code: 'revocations_late', ended_at: String }]);
  const found = { code: 'detection_incident', detail: 'Found.', since: Date.now() };
  report = { state: {}, reasons: [], incidents: [{ ...found, endedAt: found.since + 1 }, found] };
  t.match(await incidents(), [
    { code: 'detection_incident', remedy: /svc logs incidents/, ended_at: null },
    { code: 'detection_incident', ended_at: String },
    { code: 'revocations_late' },
  ]);
  t.match(JSON.parse((await ask('/health')).text), { status: 'ok', reasons: [] }, 'what rules find is no defect of the node');
});

t.test('a missing data role is a reason but no defect', async (t) => {
  const health = JSON.parse((await (await open(t, { modules: () => ['system'] }))('/health')).text);
  t.match(health, { status: 'ok', reasons: [{ code: 'no_data_role' }] });
});

t.test('metrics are text for Prometheus', async (t) => {
  const { headers, text } = await (await open(t))('/metrics');
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  t.match(text, /^shown 3$/m);
});

t.test('the public edge shows probes alone without a login', async (t) => {
  const ask = await open(t);
  const { bed } = await ask('/livez');
  for (const path of ['/health', '/metrics', '/api/v1/system/incidents', '/api/v1/system/version'])
    t.equal((await ask(path, bed.publicUrl)).status, 401, path);
  for (const path of ['/livez', '/readyz']) t.equal((await ask(path, bed.publicUrl)).status, 200, path);
});

t.test('roles are listed and switched', async (t) => {
  const states: RoleState[] = [{ role: 'inference', enabled: true, modules: ['inference'] }];
  const switched: unknown[] = [];
  const ask = await open(t, { roles: () => states, setRole: async (role, enabled) => void switched.push([role, enabled]) });
  t.strictSame(JSON.parse((await ask('/api/v1/system/roles')).text), { roles: states });
  const put = (role: string, body: unknown) =>
    ask(`/api/v1/system/roles/${role}`, undefined, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.equal((await put('inference', { enabled: false })).status, 200);
  t.strictSame(switched, [['inference', false]]);
  t.match(await put('kitchen', { enabled: true }), { status: 400, text: /one of/ });
  t.equal((await put('inference', { enabled: 1 })).status, 400);
});

const asJson = { 'content-type': 'application/json' };

/** Settings as a node has them, on a folder of its own; `toml` is its file. */
function settingsOf(t: Test, environment: Record<string, string> = {}, toml = '') {
  const folder = t.testdir({ 'svc.toml': toml });
  const live: [string, unknown][] = [];
  const spec = {
    data_dir: setting(pathSchema, '', 'Where.', { isPath: true }),
    'a.count': setting(integerSchema(1, 10), 2, 'How many.'),
    'a.level': setting(Type.Enum(['low', 'high']), 'low', 'How high.', { isLive: true }),
    'a.secret': setting(textSchema, '', 'What nobody sees.', { mask: (value) => (value === '' ? '' : SECRET) }),
    'a.fence': setting(textSchema, '', 'How far.', { isOfMachine: true }),
    parts: setting(Type.Object({}), {}, 'Of one part.', {
      sections: {
        count: setting(integerSchema(1, 10), 2, 'How many of it.', { inherits: 'a.count' }),
        guest: setting(textSchema, '', 'Who is in it.'),
      },
    }),
  };
  const config = loadConfig({ spec, root: folder, environment: { SVC_DATA_DIR: folder, ...environment } });
  const settings = new SavedSettings(config, folder, (key, value) => live.push([key, value]));
  const node: Partial<Node> = {
    settings: () => settings.list(),
    settingSection: (key, name) => settings.listSection(key, name),
    saveSetting: (key, text) => settings.save(key, text),
    forgetSetting: (key) => settings.forget(key),
  };
  const next = () => loadConfig({ spec, root: folder, environment: { SVC_DATA_DIR: folder, ...environment } });
  return { folder, live, node, next };
}

t.test('a setting is checked, saved and forgotten, and the next start uses what is saved', async (t) => {
  const { folder, live, node, next } = settingsOf(t);
  const ask = await open(t, node);
  const change = async (method: string, key: string, value?: string) => {
    const init = value === undefined ? { method } : { method, headers: asJson, body: JSON.stringify({ value }) };
    const { status, text } = await ask(`/api/v1/system/settings/${key}`, undefined, init);
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  };
  const row = { key: 'a.count', value: 2, default: 2, origin: 'default', accepts: 'an integer from 1 to 10', locked_by: null };
  t.match(await change('PUT', 'a.count', '7'), {
    status: 200,
    body: { ...row, saved: 7, is_saved: true, is_pending: true, needs_restart: true },
  });
  t.equal(next().values['a.count'], 7);
  t.match(next().origins, { 'a.count': /^saved .*settings\.json$/ });
  t.equal(statSync(join(folder, 'settings.json')).mode & 0o777, 0o600);
  const listed = JSON.parse((await ask('/api/v1/system/settings')).text) as { settings: { key: string }[] };
  t.match(
    listed.settings.find(({ key }) => key === 'a.count'),
    { is_pending: true },
  );
  t.match(await change('PUT', 'a.level', 'high'), {
    status: 200,
    body: { value: 'high', choices: ['low', 'high'], is_pending: false, needs_restart: false },
  });
  t.strictSame(live, [['a.level', 'high']]);
  t.match(await change('PUT', 'a.count', '11'), { status: 400, body: { error: 'invalid_setting', detail: /from 1 to 10/ } });
  t.match(await change('PUT', 'a.none', '1'), { status: 404, body: { error: 'setting_not_found' } });
  t.match(await change('PUT', 'toString', '1'), { status: 404 });
  t.match(await change('DELETE', 'a.count'), { status: 200, body: { is_saved: false, saved: null, is_pending: false } });
  t.match(await change('DELETE', 'a.level'), { status: 200, body: { value: 'low', origin: 'default' } });
  t.match(await change('DELETE', 'a.none'), { status: 404 });
  t.strictSame(JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')), {});
});

t.test('what belongs to the machine, is secret, or is set for this start cannot be saved', async (t) => {
  const { folder, node, next } = settingsOf(t, { SVC_A_COUNT: '3', SVC_A_SECRET: 'hush-hush' });
  const ask = await open(t, node);
  for (const [key, by] of [
    ['data_dir', 'machine'],
    ['a.secret', 'machine'],
    ['a.fence', 'machine'],
    ['a.count', 'environment'],
  ]) {
    const init = { method: 'PUT', headers: asJson, body: JSON.stringify({ value: '4' }) };
    const { status, text } = await ask(`/api/v1/system/settings/${key}`, undefined, init);
    t.equal(status, 409, `${key}`);
    t.match(JSON.parse(text), { error: 'setting_locked' });
    const { settings } = JSON.parse((await ask('/api/v1/system/settings')).text) as { settings: { key: string }[] };
    t.match(
      settings.find((each) => each.key === key),
      { locked_by: by },
    );
  }
  t.notMatch((await ask('/api/v1/system/settings')).text, /hush/);
  // Written by hand, or by a version that knew more: a node starts all the same, and says so.
  writeFileSync(join(folder, 'settings.json'), '{"a.fence": "wide", "a.gone": 1, "a.level": "highest", "a.count": 9}');
  const config = next();
  t.match(config.values, { 'a.fence': '', 'a.level': 'low', 'a.count': 3 });
  t.equal(config.warnings.length, 3);
  writeFileSync(join(folder, 'settings.json'), '{');
  t.match(next().warnings, [/settings\.json cannot be read/]);
});

t.test('members of a section are listed with where they come from, saved and forgotten', async (t) => {
  const toml = '[a]\ncount = 3\n[parts."big.one"]\ncount = 5\n';
  const { folder, node, next } = settingsOf(t, {}, toml);
  const ask = await open(t, node);
  const listed = async (name: string, asking = ask) => {
    const { status, text } = await asking(`/api/v1/system/settings/parts/${encodeURIComponent(name)}`);
    t.equal(status, 200);
    return (JSON.parse(text) as { settings: Record<string, unknown>[] }).settings;
  };
  const file = `file ${join(folder, 'svc.toml')}`;
  t.match(await listed('big.one'), [
    { key: 'parts.big.one.count', value: 5, origin: file, inherited_from: null, environment: '', is_saved: false },
    { key: 'parts.big.one.guest', value: '', origin: 'default', inherited_from: null },
  ]);
  t.match(await listed('other'), [{ key: 'parts.other.count', value: 3, next: 3, origin: file, inherited_from: 'a.count' }, {}]);
  const change = async (method: string, key: string, value?: string) => {
    const init = value === undefined ? { method } : { method, headers: asJson, body: JSON.stringify({ value }) };
    const { status, text } = await ask(`/api/v1/system/settings/${encodeURIComponent(key)}`, undefined, init);
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  };
  t.match(await change('PUT', 'parts.big.one.count', '7'), {
    status: 200,
    body: { value: 5, saved: 7, next: 7, is_pending: true },
  });
  t.match(await change('PUT', 'parts.a/b.guest', 'ann'), { status: 200, body: { key: 'parts.a/b.guest', saved: 'ann' } });
  t.match(await change('PUT', 'parts.__proto__.count', '9'), { status: 200 });
  t.match(await change('PUT', 'parts.other.count', '11'), {
    status: 400,
    body: { detail: /parts\.other\.count.* from 1 to 10/ },
  });
  for (const key of ['parts.other.none', 'parts.other.toString', 'parts.count', 'a.other.count'])
    t.match(await change('PUT', key, '1'), { status: 404, body: { error: 'setting_not_found' } }, key);
  t.match(await change('PUT', 'parts', '{}'), { status: 409, body: { error: 'setting_locked' } });
  t.equal((await ask('/api/v1/system/settings/a.count/x')).status, 404);

  const config = next();
  t.strictSame(
    Object.entries(config.values['parts'] as object),
    [
      ['big.one', { count: 7 }],
      ['a/b', { guest: 'ann' }],
      ['__proto__', { count: 9 }],
    ],
    'the next start uses them',
  );
  t.strictSame(config.warnings, []);
  const restarted = new SavedSettings(config, folder, () => {});
  t.match(restarted.listSection('parts', 'big.one'), [{ value: '7', origin: /^saved / }, {}]);
  t.match(await restarted.forget('parts.big.one.count'), { value: '7', saved: undefined, next: '5', isPending: true });
  t.match(await restarted.forget('parts.a/b.guest'), { value: '"ann"', next: '""', isPending: true });
  t.strictSame(next().values['parts'] && Object.keys(next().values['parts'] as object), ['big.one', '__proto__']);

  writeFileSync(join(folder, 'settings.json'), '{"parts.x.none": 1, "parts.x.count": 99, "parts": {}, "parts..count": 1}');
  t.match(next().values['parts'], { 'big.one': { count: 5 } });
  t.equal(next().warnings.length, 4);
});

t.test('values that are saved at one moment are all kept', async (t) => {
  const { folder, node } = settingsOf(t);
  await Promise.all([
    node.saveSetting?.('a.count', '5'),
    node.saveSetting?.('a.level', 'high'),
    node.saveSetting?.('a.count', '6'),
  ]);
  t.strictSame(JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')), { 'a.count': 6, 'a.level': 'high' });
});

t.test('the log is listed by level and text, and followed', async (t) => {
  const recent = new RecentLines();
  const log = new Log({ level: 'debug', format: 'json', sink: { write: () => {}, flush: () => {} }, recent });
  const { routes } = await system.create({ ...scriptedContext({ spec: {} }), log });
  const bed = await openTestBed(t, routes);
  const list = async (query: string) =>
    ((await (await fetch(`${bed.url}/api/v1/system/log${query}`)).json()) as { lines: { message: string; seq: number }[] }).lines;
  log.debug('quiet', { part: 'x' });
  log.warn('loud', { token: 'svc_abcdefghijk', detail: 'Model gone' });
  log.error('last');
  t.match(await list(''), [
    { seq: 1, level: 'debug', message: 'quiet', fields: { part: 'x' } },
    { message: 'loud' },
    { message: 'last' },
  ]);
  t.match(await list('?level=warn&limit=1'), [{ message: 'last' }]);
  t.match(await list('?text=model%20GONE'), [{ message: 'loud', fields: { token: '[redacted]' } }]);
  t.match(await list('?after=2'), [{ message: 'last' }]);
  t.equal((await fetch(`${bed.url}/api/v1/system/log?level=all`)).status, 400);
  const reading = new AbortController();
  const tail = await fetch(`${bed.url}/api/v1/system/log/tail?level=warn`, {
    headers: { 'last-event-id': '2' },
    signal: reading.signal,
  });
  const reader = tail.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (wanted: RegExp) => {
    while (!wanted.test(text)) text += (await reader?.read())?.value ?? '';
  };
  await until(/last/);
  log.debug('unheard');
  log.warn('heard');
  await until(/"heard"/);
  t.notMatch(text, /loud|unheard/);
  t.match(text, /id: 3\ndata: \{"seq":3/);
  reading.abort();
});
