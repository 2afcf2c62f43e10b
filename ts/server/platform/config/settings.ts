/** Every setting: schema, default, meaning. The environment name is SVC_ and the key in capitals, dots as underscores. */
import Type, { type Static, type TSchema } from 'typebox';

export interface Setting<S extends TSchema = TSchema> {
  schema: S;
  default: Static<S>;
  help: string;
  /** A path: relative ones count from the file that names it, else from the working directory. */
  isPath?: boolean;
  /** How the value is shown, when it may hold a secret. */
  mask?: (value: string) => string;
}

function setting<S extends TSchema>(schema: S, value: Static<S>, help: string, more: Partial<Setting<S>> = {}): Setting<S> {
  return { schema, default: value, help, ...more };
}

const MIB = 1024 * 1024;
const address = Type.String({ pattern: '^$|^((\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]/]+):)?\\d{1,5}$' });
const path = Type.String({ maxLength: 4096 });
const count = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
export const cacheTypes = ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1'] as const;
const cacheType = Type.Enum([...cacheTypes]);

/** `data_dir` and `models_dir` default to empty here; config.ts fills them from where the program is installed. */
export const settings = {
  listen: setting(address, '127.0.0.1:8880', 'HOST:PORT of the internal listener; port 0 takes any free one.'),
  public_listen: setting(
    address,
    '',
    'HOST:PORT of the public edge, where every caller needs a login (nobody can have one yet); empty for none.',
  ),
  data_dir: setting(path, '', 'Folder of everything that must survive a restart.', { isPath: true }),
  models_dir: setting(path, '', 'Folder of the model files; default is models inside data_dir.', { isPath: true }),
  default_model: setting(
    Type.String({ maxLength: 4096 }),
    '',
    'Model loaded at start: a name, or the path of a GGUF file; empty: the smallest chat model that is no demonstration, else a demonstration.',
  ),
  tenant_keys_file: setting(
    path,
    '',
    'JSON file of keys that tell tenants apart while there are no accounts: {"KEY": {"tenant": "NAME", "tokens_per_minute": 60000, "priority": true}}.',
    { isPath: true },
  ),

  'log.level': setting(
    Type.Union([Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
    'info',
    'Least severity that is logged.',
  ),
  'log.format': setting(
    Type.Union([Type.Literal('auto'), Type.Literal('json'), Type.Literal('text')]),
    'auto',
    'auto: words on a terminal, JSON lines elsewhere.',
  ),

  'http.max_body_bytes': setting(
    count(1024, 2 ** 31 - 1),
    128 * MIB,
    'Largest request body; routes with a smaller limit keep theirs.',
  ),
  'http.max_buffered_bytes': setting(
    count(MIB, 2 ** 36),
    512 * MIB,
    'Request bodies that are still arriving, all together, in memory at once.',
  ),
  'http.max_connections': setting(count(16, 1_000_000), 9_000, 'Open connections per listener; more are closed at once.'),
  'http.drain_timeout_seconds': setting(count(0, 3600), 30, 'How long open answers may take to finish after SIGTERM.'),

  'inference.ctx': setting(count(0, 2 ** 24), 0, 'KV cells for all sequences of a model together, tokens; 0 is automatic.'),
  'inference.parallel': setting(count(0, 256), 0, 'Sequences that decode at once; 0 is automatic.'),
  'inference.threads': setting(
    count(0, 1024),
    0,
    'Compute threads; 0 is automatic: all cores, less one for the HTTP thread where there are more than 4.',
  ),
  'inference.mlock': setting(
    Type.Boolean(),
    false,
    'Keeps weights from being swapped out, as far as the limit on locked memory allows.',
  ),
  'inference.gpu_layers': setting(count(-1, 10_000), -1, 'Layers kept in GPU memory; -1 means all that fit.'),
  'inference.batch': setting(count(0, 65_536), 0, 'Tokens of one logical batch; 0 is automatic.'),
  'inference.ubatch': setting(count(0, 65_536), 0, 'Tokens of one physical batch; 0 is automatic.'),
  'inference.flash_attention': setting(
    Type.Union([Type.Literal('auto'), Type.Literal('on'), Type.Literal('off')]),
    'auto',
    'Fused attention kernels.',
  ),
  'inference.cache_type_k': setting(cacheType, 'f16', 'Number format of the KV cache, keys.'),
  'inference.cache_type_v': setting(cacheType, 'f16', 'Number format of the KV cache, values.'),
  'inference.kv_unified': setting(
    Type.Union([Type.Literal('auto'), Type.Literal('on'), Type.Literal('off')]),
    'auto',
    'One KV buffer for all sequences (a long request may use it all), or one for each (many requests decode faster).',
  ),
  'inference.kv_offload_memory_bytes': setting(
    count(0, 2 ** 40),
    512 * MIB,
    'Memory of each model for chats whose KV cells others needed, so that they go on without evaluating their past again; 0 for none.',
  ),
  'inference.kv_offload_disk_bytes': setting(
    count(0, 2 ** 44),
    1024 * MIB,
    'Disk of each model (in data_dir/cache/kv) for what that memory has no room for; 0 for none.',
  ),
  'inference.speculation': setting(
    Type.Union([Type.Literal('auto'), Type.Literal('always'), Type.Literal('off')]),
    'auto',
    'Speculative decoding; auto drafts only while that pays, by measurement.',
  ),
  'inference.draft_max': setting(count(0, 64), 16, 'Most tokens drafted at a time for one sequence.'),
  'inference.draft_model': setting(
    Type.String({ maxLength: 4096, pattern: '^([^,=]+=[^,=]+(,|$))*$' }),
    '',
    'MODEL=DRAFT pairs with commas between: DRAFT, small and of the same vocabulary, drafts for MODEL.',
  ),
  'inference.max_queued_jobs': setting(
    count(0, 1_000_000),
    0,
    'Requests that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.',
  ),
  'inference.max_queued_tokens': setting(
    count(0, 2 ** 31 - 1),
    0,
    'Prompt tokens that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.',
  ),
  'inference.max_queue_seconds': setting(
    count(0, 86_400),
    60,
    'Longest wait for a model, by its measured rate; requests that would wait longer answer 429. 0 for no limit.',
  ),
  'inference.tenant_tokens_per_minute': setting(
    count(0, 2 ** 40),
    0,
    'Prompt and completion tokens of one tenant in any minute; more answer 429. 0 for no limit.',
  ),
  'inference.request_timeout_seconds': setting(
    count(0, 86_400),
    3600,
    'Longest time for one completion that sets no X-Request-Timeout; 0 for no limit.',
  ),
  'inference.max_loaded_models': setting(
    count(0, 1000),
    0,
    'Models held in memory at once; the one unused longest leaves. 0: as many as fit.',
  ),
  'inference.max_loaded_bytes': setting(
    count(0, Number.MAX_SAFE_INTEGER),
    0,
    'Main memory for all models with their caches and buffers, and the states they have saved by then, whenever one is to be loaded; 0: 80 % of what the machine or container has.',
  ),
  'inference.max_device_bytes': setting(
    count(0, Number.MAX_SAFE_INTEGER),
    0,
    'The same for the memory of GPUs; 0: 90 % of what they have.',
  ),
  'inference.idle_unload_seconds': setting(
    count(0, 31_536_000),
    0,
    'A model that nobody used for so long is unloaded; 0: only to make room.',
  ),
  'inference.pinned_models': setting(
    Type.String({ maxLength: 4096 }),
    '',
    'Models that are never unloaded by themselves, separated by commas; the default model always is one.',
  ),

  'models.mirror': setting(
    Type.String({ pattern: '^$|^https?://' }),
    '',
    'Base URL that replaces https://huggingface.co for downloads.',
    {
      mask: maskUserInfo,
    },
  ),
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof settings;

/** Values by dotted key, for example config['inference.ctx']. */
export type ConfigValues = { [K in SettingKey]: Static<(typeof settings)[K]['schema']> };

export const SETTING_KEYS = Object.keys(settings) as SettingKey[];

export function environmentName(key: string): string {
  return `SVC_${key.replaceAll('.', '_').toUpperCase()}`;
}

/** What may be shown of a value. */
export function shownValue(key: SettingKey, value: unknown): string {
  const { mask }: Setting = settings[key];
  return JSON.stringify(mask !== undefined && typeof value === 'string' ? mask(value) : value) ?? 'nothing';
}

function maskUserInfo(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1***@');
}
