import t from 'tap';
import Type from 'typebox';
import type { Config } from '../config/config.ts';
import { type SettingsSpec, setting, textSchema } from '../config/setting.ts';
import { json, type Reply, type Route, route } from '../http/route.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { SeriesRegistry } from '../series/series-registry.ts';
import { StopLimit } from '../stop-limit.ts';
import { type AnyModuleDefinition, defineModule, migrationsOf } from './module.ts';
import type { OptionalModule } from './module-context.ts';
import { ModuleHost, requireOwnPaths } from './module-host.ts';
import { MODULES, type ModuleName } from './module-names.ts';
import { noEvents, noJobs, noStorage, scriptedNode, silentLog } from './test-support/scripted-context.ts';
import { NO_LIMITS } from './use-rules.ts';

const noSettings: SettingsSpec = {};

function greeting(path: string, text: string): Route {
  return route({
    method: 'GET',
    path,
    auth: 'viewer',
    maxBody: 0,
    tag: 'Test',
    summary: 'A greeting',
    responses: { 200: Type.Object({}) },
    handle: () => json(200, { text }),
  });
}

/** A module that writes down what happens to it. */
function recorded(name: ModuleName, events: string[], failure?: Error, prepares = false): AnyModuleDefinition {
  return defineModule({
    name,
    settings: noSettings,
    create: () => ({
      api: { name },
      routes: [greeting(`/api/v1/${name}/greeting`, name)],
      ...(prepares ? { prepare: () => void events.push(`prepare ${name}`) } : {}),
      start: async () => {
        events.push(`start ${name}`);
        if (failure !== undefined) throw failure;
      },
      stop: async () => void events.push(`stop ${name}`),
      health: () => ({ state: { name }, reasons: [] }),
      ready: () => (events.includes(`busy ${name}`) ? { code: 'busy', detail: 'Busy.' } : undefined),
    }),
  });
}

/** A module whose stop never ends. */
function recordedHanging() {
  const module = { api: undefined, routes: [], start: async () => undefined, stop: () => new Promise<void>(() => undefined) };
  return { ...module, health: () => ({ state: {}, reasons: [] }), ready: () => undefined };
}

function host(definitions: readonly AnyModuleDefinition[], values: Record<string, unknown> = {}): Promise<ModuleHost> {
  const config: Config = { spec: {}, values, origins: {}, beneath: {}, warnings: [] };
  const tenants = { exists: async () => true, tokensPerMinute: () => undefined, allowsPriority: () => true };
  const services = {
    node: scriptedNode,
    log: silentLog,
    metrics: new MetricsRegistry(),
    storage: noStorage,
    jobs: noJobs,
    events: noEvents,
    series: new SeriesRegistry(),
    tenants,
    uses: NO_LIMITS,
  };
  return ModuleHost.create(definitions, config, services);
}

async function ask(modules: ModuleHost, path: string): Promise<Reply> {
  const found = modules.routes.find((each) => each.path === path);
  return found?.handle({} as never) as Reply;
}

t.test('a module that does not stop does not keep the others from it', async (t) => {
  const events: string[] = [];
  const hanging = { ...recorded('inference', events), create: recordedHanging };
  const modules = await host([recorded('system', events), hanging, recorded('identity', events)]);
  await modules.start(['inference']);
  await modules.stop(new StopLimit(silentLog, 20, 0));
  t.strictSame(
    events.filter((event) => event.startsWith('stop')),
    ['stop system', 'stop identity'],
  );
});

t.test('modules start lowest tier first and stop in reverse', async (t) => {
  const events: string[] = [];
  const modules = await host([recorded('system', events), recorded('inference', events), recorded('identity', events)]);
  t.strictSame(events, [], 'making them starts nothing');
  await modules.start(['inference']);
  t.strictSame(modules.running, ['identity', 'inference', 'system']);
  await modules.stop();
  t.strictSame(events, [
    ...['identity', 'inference', 'system'].map((name) => `start ${name}`),
    ...['system', 'inference', 'identity'].map((name) => `stop ${name}`),
  ]);
});

t.test('no two modules of the list answer below one path', async (t) => {
  t.doesNotThrow(() => requireOwnPaths(MODULES));
  const two = [
    { name: 'science', paths: ['science', 'biology'] },
    { name: 'iot', paths: ['iot', 'biology'] },
  ] as const;
  t.throws(() => requireOwnPaths(two), { message: 'the modules science and iot both have the path biology' });
});

t.test('a module that cannot start stops those before it, and says what to do', async (t) => {
  const events: string[] = [];
  const failure = Object.assign(new Error('the disk is full'), { code: 'disk_full', remedy: 'make space' });
  const modules = await host([recorded('identity', events), recorded('inference', events, failure)]);
  await t.rejects(modules.start(['inference']), {
    name: 'StartError',
    code: 'disk_full',
    message: 'the module inference cannot start: the disk is full',
    remedy: 'make space',
  });
  t.strictSame(events, ['start identity', 'start inference', 'stop inference', 'stop identity']);
  t.strictSame(modules.running, []);
});

t.test('what a module has begun before a failure elsewhere is ended', async (t) => {
  const events: string[] = [];
  const broken = recorded('identity', events, new Error('broken'));
  const modules = await host([recorded('system', events), broken, recorded('inference', events, undefined, true)]);
  modules.prepare([]);
  modules.prepare(['inference']);
  await t.rejects(modules.start(['inference']), /broken/);
  t.strictSame(
    events.filter((event) => event.endsWith('inference')),
    ['prepare inference', 'stop inference'],
  );
  await modules.stop();
  t.equal(events.filter((event) => event === 'stop inference').length, 1, 'once');
});

t.test('a role switches its modules, whose routes answer 503 while they are off', async (t) => {
  const events: string[] = [];
  const modules = await host([recorded('inference', events), recorded('system', events)]);
  await modules.start([]);
  t.strictSame(modules.running, ['system']);
  t.strictSame(modules.findModule('inference'), {
    state: 'unavailable',
    reason: 'the role inference is switched off on this node',
  });
  await t.rejects(ask(modules, '/api/v1/inference/greeting'), {
    status: 503,
    code: 'module_unavailable',
    extra: { module: 'inference' },
  });
  await modules.setRole('inference', true);
  t.match(await ask(modules, '/api/v1/inference/greeting'), { status: 200 });
  t.strictSame(modules.findModule('inference'), { state: 'loaded', module: 'inference' });
  t.equal(modules.findModule('models'), undefined, 'its other paths are no names of modules');
  await Promise.all([modules.setRole('inference', false), modules.setRole('inference', true)]);
  t.strictSame(events.slice(-2), ['stop inference', 'start inference'], 'one switch after the other');
});

t.test('names of no module of this program are unavailable, and other names are none', async (t) => {
  const modules = await host([]);
  t.match(modules.findModule('vector'), { state: 'unavailable', reason: 'no node reports the module data' });
  t.equal(modules.findModule('nothing'), undefined);
});

t.test('a module gets its own settings and the modules below it', async (t) => {
  const below = recorded('identity', []);
  const own = { 'inference.x': setting(textSchema, '', 'X.') };
  const seen: unknown[] = [];
  const above = defineModule({
    name: 'inference',
    settings: own,
    create: (context) => {
      seen.push(context.settings, context.use(below));
      return { ...idle, api: undefined };
    },
  });
  await host([above, below], { 'inference.x': 'x', 'identity.secret': 's' });
  t.strictSame(seen, [{ 'inference.x': 'x' }, { name: 'identity' }]);
  const upwards = defineModule({
    name: 'identity',
    settings: noSettings,
    create: (context) => ({ ...idle, api: context.use(recorded('inference', [])) }),
  });
  await t.rejects(host([upwards, recorded('inference', [])]), /identity uses inference, which is not/);
  await t.rejects(host([below, below]), /listed twice/);
});

t.test('the first module that is not ready keeps the node from being it', async (t) => {
  const events: string[] = [];
  const modules = await host([recorded('identity', events)]);
  await modules.start([]);
  t.equal(modules.notReady(), undefined);
  events.push('busy identity');
  t.match(modules.notReady(), { code: 'busy' });
  t.strictSame([...(await modules.health())], [['identity', { state: { name: 'identity' }, reasons: [] }]]);
});

const idle = {
  routes: [],
  start: async () => {},
  stop: async () => {},
  health: () => ({ state: {}, reasons: [] }),
  ready: () => undefined,
};

t.test('modules that were one are recorded as it was: their migrations in one list, and what they erase in one go', async (t) => {
  const erased: string[] = [];
  const step = (id: number) => ({ id, name: `step ${id}`, up: async () => undefined });
  const owner = (definition: AnyModuleDefinition, holdsAny: boolean): AnyModuleDefinition => ({
    ...definition,
    create: async (context) => ({
      ...(await definition.create(context)),
      belongings: {
        holdsAny: async () => holdsAny,
        eraseTenant: async () => void erased.push(definition.name),
        eraseAccount: async () => void erased.push(`${definition.name} of an account`),
      },
    }),
  });
  const files = { ...recorded('files', []), recordedAs: 'data' as const, migrations: [step(2), step(4)] };
  const data = { ...recorded('data', []), migrations: [step(1), step(3)] };
  t.match(migrationsOf([files, recorded('identity', []), data]), [
    { module: 'data', migrations: [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }] },
    { module: 'identity', migrations: [] },
  ]);
  const [joined, ...others] = (await host([owner(files, true), owner(data, false)])).owners;
  t.strictSame([joined?.name, others], ['data', []]);
  const scope = { tenant: 'red' } as never;
  t.equal(await joined?.belongings.holdsAny?.(scope), true);
  await joined?.belongings.eraseTenant(scope);
  await joined?.belongings.eraseAccount?.(scope, 'ann');
  t.strictSame(erased, ['data', 'files', 'data of an account', 'files of an account'], 'the higher tier first');
});

t.test('an internal module runs while what it needs does, answers for that, and is in no list', async (t) => {
  const events: string[] = [];
  const modules = await host([recorded('inference', events), recorded('completions', events)]);
  await modules.start(['inference']);
  t.strictSame(modules.running, ['inference']);
  t.strictSame(modules.modulesOf('inference'), ['inference']);
  t.match(await ask(modules, '/api/v1/completions/greeting'), { status: 200 });
  await modules.setRole('inference', false);
  await t.rejects(ask(modules, '/api/v1/completions/greeting').then(), {
    status: 503,
    code: 'module_unavailable',
    extra: { module: 'inference' },
  });
  await modules.setRole('inference', true);
  t.match(await ask(modules, '/api/v1/completions/greeting'), { status: 200 });
  await modules.stop();
  t.strictSame(
    events.map((event) => event.replace('completions', 'it')),
    ['start inference', 'start it', 'stop it', 'stop inference', 'start inference', 'start it', 'stop it', 'stop inference'],
  );
});

t.test('a module that can be done without refuses while it is off, and guards routes that need it', async (t) => {
  let used: OptionalModule<unknown> | undefined;
  const user = defineModule({
    name: 'completions',
    settings: noSettings,
    create: (context) => {
      used = context.useOptional(data);
      const routes = used.guard([greeting('/api/v1/edge/greeting', 'hello')]);
      return { ...recordedHanging(), routes, stop: async () => {} };
    },
  });
  const data = recorded('data', []);
  const modules = await host([data, user]);
  await modules.start([]);
  t.equal(used?.isRunning, false);
  t.throws(() => used?.api, { name: 'DomainError', code: 'knowledge_unavailable', retryAfterMs: 30_000 });
  await t.rejects(ask(modules, '/api/v1/edge/greeting').then(), { code: 'module_unavailable', extra: { module: 'data' } });
  await modules.setRole('data', true);
  t.strictSame(used?.api, { name: 'data' });
  t.match(await ask(modules, '/api/v1/edge/greeting'), { status: 200 });
  await modules.stop();
});
