import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import t, { type Test } from 'tap';
import { inferenceSettings } from './domains/inference/index.ts';
import { valuesOf } from './platform/config/config.ts';
import { ConfigError } from './platform/config/config-error.ts';
import { effectiveConfig } from './platform/config/effective-config.ts';
import { exampleConfig } from './platform/config/example-config.ts';
import { formatListenAddress, parseListenAddress } from './platform/config/listen-address.ts';
import { environmentName } from './platform/config/setting.ts';
import { loadNodeConfig, type NodeConfig, settingsOf } from './settings.ts';

const spec = settingsOf();
const keys = Object.keys(spec);
const modelsDir = (config: NodeConfig) => valuesOf(config, inferenceSettings).models_dir;

function load(t: Test, toml?: string, environment: Record<string, string> = {}, overrides = {}): NodeConfig {
  const root = t.testdir(toml === undefined ? {} : { 'svc.toml': toml });
  return loadNodeConfig({ root, environment, overrides, workingDirectory: root });
}

function refusal(t: Test, toml?: string, environment: Record<string, string> = {}, overrides = {}): string {
  try {
    load(t, toml, environment, overrides);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** Root may read everything: then the program is someone else meanwhile. */
function asOtherUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

t.test('without anything, every setting is its default', (t) => {
  const { values, origins } = load(t);
  t.equal(values.listen, '127.0.0.1:8880');
  t.equal(values['http.max_body_bytes'], 134_217_728);
  t.match(values['models_dir'], /data\/models$/);
  t.strictSame(new Set(Object.values(origins)), new Set(['default']));
  t.strictSame(Object.keys(values).sort(), [...keys].sort());
  t.end();
});

t.test('each default is a value that the setting accepts', (t) => {
  const asToml: Record<string, unknown> = {};
  for (const key of keys.filter((key) => !key.includes('.'))) asToml[key] = spec[key]?.default;
  t.doesNotThrow(() => load(t, stringify(asToml)));
  for (const key of keys.filter((key) => spec[key]?.sections === undefined))
    t.doesNotThrow(() => load(t, undefined, {}, { [key]: spec[key]?.default }), key);
  t.end();
});

t.test('a model has a section of its own; its name may hold dots', (t) => {
  const toml = `[models]
shipped = false
[models."qwen3-0.6b"]
ctx = 4096
tensor_split = "3,1"
kv_unified = "on"
[models.small]
draft_model = ""
`;
  const { values } = load(t, toml);
  t.equal(values['models.shipped'], false);
  t.strictSame(valuesOf(load(t, toml), inferenceSettings).models, {
    'qwen3-0.6b': { ctx: 4096, tensor_split: '3,1', kv_unified: 'on' },
    small: { draft_model: '' },
  });
  t.match(
    Object.entries(load(t, toml).origins).filter(([key]) => /^models\..*\.(ctx|draft_model)$/.test(key)),
    [
      ['models.qwen3-0.6b.ctx', /svc\.toml$/],
      ['models.small.draft_model', /svc\.toml$/],
    ],
  );
  t.match(refusal(t, '[models.small]\nctxx = 1\n'), /models\."small"\.ctxx .* did you mean ctx/);
  t.match(refusal(t, '[models.small]\nctx = -1\n'), /models\."small"\.ctx .* is -1/);
  t.match(refusal(t, '[models.small]\nmax_queued_jobs = 1\n'), /not a known setting/, 'that is no model of its own');
  t.match(refusal(t, 'models = 1\n'), /models/);
  t.match(refusal(t, undefined, {}, { models: '{}' }), /not a known setting/);
  t.end();
});

t.test('numbers with fractions can come from the environment', (t) => {
  const { values } = load(t, undefined, { SVC_INFERENCE_ROPE_FREQ_SCALE: '0.25', SVC_INFERENCE_ROPE_FREQ_BASE: '1e6' });
  t.equal(values['inference.rope_freq_scale'], 0.25);
  t.equal(values['inference.rope_freq_base'], 1_000_000);
  t.match(refusal(t, undefined, { SVC_INFERENCE_ROPE_FREQ_SCALE: 'half' }), /inference.rope_freq_scale/);
  t.end();
});

t.test('lists in settings have the form that they need', (t) => {
  const accepted = {
    tensor_split: ['3,1', '0.5, 0.25', ''],
    override_kv: ['a.b=int:1,c=str:x y'],
    override_tensor: [String.raw`blk\.(0|1)\.ffn=CPU`],
    devices: ['CUDA0,CUDA1', 'none'],
  };
  for (const [key, texts] of Object.entries(accepted))
    for (const text of texts) t.doesNotThrow(() => load(t, undefined, {}, { [`inference.${key}`]: text }), `${key} ${text}`);
  const refused = { tensor_split: ['3;1', ',1', '-1'], override_kv: ['a=1', 'a=list:1'], override_tensor: ['CPU'] };
  for (const [key, texts] of Object.entries(refused))
    for (const text of texts) t.match(refusal(t, undefined, {}, { [`inference.${key}`]: text }), key, `${key} ${text}`);
  t.end();
});

t.test('the command line wins over the environment, which wins over the file', (t) => {
  const toml = 'listen = "127.0.0.1:1"\n[inference]\nctx = 1\nparallel = 1\nthreads = 1\n';
  const environment = { SVC_INFERENCE_CTX: '2', SVC_INFERENCE_PARALLEL: '2', SVC_LOG_LEVEL: '' };
  const { values, origins } = load(t, toml, environment, { 'inference.ctx': 3 });
  t.strictSame([values['inference.ctx'], values['inference.parallel'], values['inference.threads']], [3, 2, 1]);
  t.equal(origins['inference.ctx'], 'command line');
  t.equal(origins['inference.parallel'], 'environment SVC_INFERENCE_PARALLEL');
  t.match(origins['inference.threads'], /^file .*svc\.toml$/);
  t.equal(origins['log.level'], 'default', 'an empty variable is no value');
  t.end();
});

t.test('files of conf.d win over the file beside them, later names over earlier ones', (t) => {
  const files = { '10-first.toml': '[inference]\nctx = 2\nparallel = 2\n', '20-second.toml': '[inference]\nctx = 3\n', note: '' };
  const root = t.testdir({ 'svc.toml': '[inference]\nctx = 1\nparallel = 1\nthreads = 1\n', 'conf.d': files });
  const { values, origins } = loadNodeConfig({ root, environment: {}, workingDirectory: root });
  t.strictSame([values['inference.ctx'], values['inference.parallel'], values['inference.threads']], [3, 2, 1]);
  t.match(origins['inference.ctx'], /conf\.d\/20-second\.toml$/);
  t.end();
});

t.test('a configuration that this user may not read is an error with what to do, and not that of the defaults', (t) => {
  const files = { 'svc.toml': '', 'conf.d': { '10-first.toml': '' } };
  for (const closed of ['svc.toml', 'conf.d', '.', 'conf.d/10-first.toml']) {
    const root = t.testdir({ etc: files });
    chmodSync(join(root, 'etc', closed), 0);
    const sources = { root: join(root, 'etc'), environment: {}, workingDirectory: root };
    const error = asOtherUser(() => errorOf(() => loadNodeConfig(sources)));
    chmodSync(join(root, 'etc', closed), 0o700);
    t.match(error, { name: 'ConfigError', message: /may not be read by this user/, remedy: /sudo -u svc svc/ }, closed);
  }
  t.end();
});

t.test('relative folders count from where they are named', (t) => {
  const root = t.testdir({ etc: { 'svc.toml': 'data_dir = "state"\n' }, work: {} });
  const sources = { root, environment: { SVC_CONFIG: '../etc/svc.toml' }, workingDirectory: join(root, 'work') };
  t.equal(loadNodeConfig(sources).values.data_dir, join(root, 'etc/state'));
  t.equal(modelsDir(loadNodeConfig(sources)), join(root, 'etc/state/models'));
  const environment = { ...sources.environment, SVC_MODELS_DIR: 'm' };
  t.equal(modelsDir(loadNodeConfig({ ...sources, environment })), join(root, 'work/m'));
  t.equal(loadNodeConfig({ root: '/usr/lib/svc', environment: {} }).values.data_dir, '/var/lib/svc');
  t.end();
});

t.test('a wrong value names the key, the value, its origin and what is accepted', (t) => {
  t.match(
    refusal(t, '[inference]\nctx = -5\n'),
    /^inference\.ctx \(file .*svc\.toml\) is -5, but must be an integer from 0 to 16777216\./,
  );
  t.match(
    refusal(t, undefined, { SVC_INFERENCE_PARALLEL: 'many' }),
    /inference\.parallel \(environment SVC_INFERENCE_PARALLEL\) is "many"/,
  );
  t.match(
    refusal(t, undefined, {}, { 'inference.flash_attention': 'maybe' }),
    /\(command line\) is "maybe", but must be one of "auto", "on", "off"/,
  );
  t.match(refusal(t, undefined, { SVC_LISTEN: 'here' }), /listen .* must be HOST:PORT/);
  t.match(refusal(t, undefined, { SVC_INFERENCE_KV_UNIFIED: 'perhaps' }), /must be one of "auto", "on", "off"/);
  t.match(refusal(t, '[inference]\ncache_type_k = "q2"\n'), /must be one of "f32", "f16"/);
  t.match(refusal(t, 'listen = 8880\n'), /listen .* is 8880/);
  t.end();
});

t.test('an unknown key of the file is refused, with the one that was meant', (t) => {
  t.match(refusal(t, 'lisen = "127.0.0.1:1"\n'), /^lisen \(file .*\) is not a known setting; did you mean listen\?/);
  t.match(refusal(t, '[inferense]\nctx = 1\n'), /did you mean inference\.ctx\?/);
  t.match(refusal(t, '[http]\ncolour = "red"\n'), /`svc config` lists the known ones/);
  t.match(refusal(t, '[inference.deep]\nctx = 1\n'), /inference\.deep\.ctx .* is not a known setting/);
  t.end();
});

t.test('a file that is no TOML, or is not there, is named with the line', (t) => {
  t.match(refusal(t, 'listen = "a\nb"\n'), /svc\.toml is not valid TOML, line 1/);
  const root = t.testdir({});
  t.throws(() => loadNodeConfig({ root, environment: {}, file: join(root, 'none.toml') }), /none\.toml cannot be read/);
  mkdirSync(join(root, 'folder.toml'));
  t.throws(() => loadNodeConfig({ root, environment: { SVC_CONFIG: join(root, 'folder.toml') } }), { code: 'invalid_config' });
  t.end();
});

t.test('what is shown names the origin and hides credentials in URLs', (t) => {
  const shown = effectiveConfig(load(t, undefined, { SVC_MODELS_MIRROR: 'https://ann:secret@mirror.example/x' }));
  const mirror = shown.find(({ key }) => key === 'models.mirror');
  t.strictSame(
    [mirror?.value, mirror?.origin, mirror?.environment],
    ['"https://***@mirror.example/x"', 'environment SVC_MODELS_MIRROR', 'SVC_MODELS_MIRROR'],
  );
  t.equal(shown.length, keys.length);
  t.notMatch(refusal(t, '[models]\nmirror = "ftp://ann:secret@mirror.example"\n'), /secret/);
  t.end();
});

t.test('environment names are the keys in capitals', (t) => {
  t.equal(environmentName('http.max_body_bytes'), 'SVC_HTTP_MAX_BODY_BYTES');
  t.equal(new Set(keys.map(environmentName)).size, keys.length);
  t.end();
});

t.test('a variable that is no setting is warned of, with the one that was meant', (t) => {
  const { warnings } = load(t, undefined, { SVC_INFERENCE_PARALEL: '4', SVC_TEST_LONG: '1', SVC_CONFIG: '', PATH: 'x' });
  t.strictSame(warnings, [
    'the environment variable SVC_INFERENCE_PARALEL is no setting and does nothing; did you mean SVC_INFERENCE_PARALLEL?',
  ]);
  t.end();
});

t.test('the example sets nothing, and every line of it can be switched on', (t) => {
  const text = exampleConfig(spec);
  t.strictSame(load(t, text).values, load(t).values);
  const isSetting = /^# (?=[a-z0-9_]+ = )/gm;
  const sectioned = keys.filter((key) => spec[key]?.sections !== undefined);
  t.equal(text.match(isSetting)?.length, keys.length - sectioned.length);
  const { values, origins } = load(t, text.replaceAll(isSetting, ''));
  t.strictSame(values['inference.ctx'], 0);
  t.strictSame(
    keys.filter((key) => origins[key] === 'default'),
    sectioned,
    'all others come from the file',
  );
  t.match(text, '# [models."NAME"]');
  t.end();
});

t.test('addresses', (t) => {
  t.strictSame(parseListenAddress('[::1]:80'), { host: '::1', port: 80 });
  t.strictSame(parseListenAddress('8880'), { host: '127.0.0.1', port: 8880 });
  t.equal(formatListenAddress({ host: '::1', port: 80 }), '[::1]:80');
  t.throws(() => parseListenAddress('a:99999'), /port from 0 to 65535/);
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()), fc.nat(65_535), (host, port) => {
      const text = formatListenAddress({ host, port });
      const config = load(t, undefined, { SVC_LISTEN: text });
      const parsed = parseListenAddress(config.values.listen);
      return parsed.host === host && parsed.port === port;
    }),
    { numRuns: 60 },
  );
  t.end();
});

t.test('any text in any variable is taken or refused by name', (t) => {
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.string({ maxLength: 40 }), (key, text) => {
      try {
        loadNodeConfig({ root: '/nowhere', environment: { [environmentName(key)]: text } });
        return true;
      } catch (error) {
        return error instanceof ConfigError && error.message.includes(key) && error.message.includes(environmentName(key));
      }
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('any file is taken or refused with ConfigError', (t) => {
  const root = t.testdir({});
  const path = join(root, 'any.toml');
  const key = fc.oneof(fc.constantFrom<string>(...keys, '__proto__', 'constructor', 'toString'), fc.string({ maxLength: 12 }));
  const value = fc.oneof(
    fc.integer(),
    fc.string({ maxLength: 12 }),
    fc.boolean(),
    fc.double({ noNaN: true }),
    fc.date({ noInvalidDate: true }),
    fc.constant([1]),
  );
  const file = fc.oneof(
    fc.string(),
    fc.dictionary(key, value).map((table) => stringify(table)),
    fc.tuple(key, fc.string()).map(([name, text]) => `${name} = ${text}`),
  );
  fc.assert(
    fc.property(file, (text) => {
      writeFileSync(path, text);
      try {
        loadNodeConfig({ root, environment: {}, file: path });
        return true;
      } catch (error) {
        return error instanceof ConfigError;
      }
    }),
    { numRuns: 500 },
  );
  t.end();
});
