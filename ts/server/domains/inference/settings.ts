/** Settings of the inference module. */
import Type from 'typebox';
import { integerSchema, maskUserInfo, pathSchema, setting, textSchema } from '../../platform/config/setting.ts';

const MIB = 1024 * 1024;
export const cacheTypes = ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'iq4_nl', 'q5_0', 'q5_1'] as const;
const cacheType = Type.Enum([...cacheTypes]);

export const inferenceSettings = {
  models_dir: setting(pathSchema, '', 'Folder of the model files; default is models inside data_dir.', {
    isPath: true,
    insideOf: { key: 'data_dir', name: 'models' },
  }),
  default_model: setting(
    textSchema,
    '',
    'Model loaded at start: a name, or the path of a GGUF file; empty: the smallest chat model that is no demonstration, else a demonstration.',
  ),

  'inference.ctx': setting(
    integerSchema(0, 2 ** 24),
    0,
    'KV cells for all sequences of a model together, tokens; 0 is automatic.',
  ),
  'inference.parallel': setting(integerSchema(0, 256), 0, 'Sequences that decode at once; 0 is automatic.'),
  'inference.threads': setting(
    integerSchema(0, 1024),
    0,
    'Compute threads; 0 is automatic: all cores, less one for the HTTP thread where there are more than 4.',
  ),
  'inference.mlock': setting(
    Type.Boolean(),
    false,
    'Keeps weights from being swapped out, as far as the limit on locked memory allows.',
  ),
  'inference.gpu_layers': setting(integerSchema(-1, 10_000), -1, 'Layers kept in GPU memory; -1 means all that fit.'),
  'inference.batch': setting(integerSchema(0, 65_536), 0, 'Tokens of one logical batch; 0 is automatic.'),
  'inference.ubatch': setting(integerSchema(0, 65_536), 0, 'Tokens of one physical batch; 0 is automatic.'),
  'inference.flash_attention': setting(Type.Enum(['auto', 'on', 'off']), 'auto', 'Fused attention kernels.'),
  'inference.cache_type_k': setting(cacheType, 'f16', 'Number format of the KV cache, keys.'),
  'inference.cache_type_v': setting(cacheType, 'f16', 'Number format of the KV cache, values.'),
  'inference.kv_unified': setting(
    Type.Enum(['auto', 'on', 'off']),
    'auto',
    'One KV buffer for all sequences (a long request may use it all), or one for each (many requests decode faster).',
  ),
  'inference.kv_offload_memory_bytes': setting(
    integerSchema(0, 2 ** 40),
    512 * MIB,
    'Memory of each model for chats whose KV cells others needed, so that they go on without evaluating their past again; 0 for none.',
  ),
  'inference.kv_offload_disk_bytes': setting(
    integerSchema(0, 2 ** 44),
    1024 * MIB,
    'Disk of each model (in data_dir/cache/kv) for what that memory has no room for; 0 for none.',
  ),
  'inference.speculation': setting(
    Type.Enum(['auto', 'always', 'off']),
    'auto',
    'Speculative decoding; auto drafts only while that pays, by measurement.',
  ),
  'inference.draft_max': setting(integerSchema(0, 64), 16, 'Most tokens drafted at a time for one sequence.'),
  'inference.draft_model': setting(
    Type.String({ maxLength: 4096, pattern: '^([^,=]+=[^,=]+(,|$))*$' }),
    '',
    'MODEL=DRAFT pairs with commas between: DRAFT, small and of the same vocabulary, drafts for MODEL.',
  ),
  'inference.max_queued_jobs': setting(
    integerSchema(0, 1_000_000),
    0,
    'Requests that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.',
  ),
  'inference.max_queued_tokens': setting(
    integerSchema(0, 2 ** 31 - 1),
    0,
    'Prompt tokens that may wait for a model, and as many for it to be loaded; more answer 429. 0 is automatic.',
  ),
  'inference.max_queue_seconds': setting(
    integerSchema(0, 86_400),
    60,
    'Longest wait for a model, by its measured rate; requests that would wait longer answer 429. 0 for no limit.',
  ),
  'inference.tenant_tokens_per_minute': setting(
    integerSchema(0, 2 ** 40),
    0,
    'Prompt and completion tokens of one tenant in any minute; more answer 429. 0 for no limit.',
  ),
  'inference.request_timeout_seconds': setting(
    integerSchema(0, 86_400),
    3600,
    'Longest time for one completion that sets no X-Request-Timeout; 0 for no limit.',
  ),
  'inference.responses_keep_days': setting(
    integerSchema(0, 3650),
    30,
    'Days that answers of the Responses API are kept (`store`), and longer while another one continues them; 0: none is kept.',
  ),
  'inference.max_loaded_models': setting(
    integerSchema(0, 1000),
    0,
    'Models held in memory at once; the one unused longest leaves. 0: as many as fit.',
  ),
  'inference.max_loaded_bytes': setting(
    integerSchema(0, Number.MAX_SAFE_INTEGER),
    0,
    'Main memory for all models with their caches and buffers, and the states they have saved by then, whenever one is to be loaded; 0: 80 % of what the machine or container has.',
  ),
  'inference.max_device_bytes': setting(
    integerSchema(0, Number.MAX_SAFE_INTEGER),
    0,
    'The same for the memory of GPUs; 0: 90 % of what they have.',
  ),
  'inference.idle_unload_seconds': setting(
    integerSchema(0, 31_536_000),
    0,
    'A model that nobody used for so long is unloaded; 0: only to make room.',
  ),
  'inference.pinned_models': setting(
    Type.String({ maxLength: 4096 }),
    '',
    'Models that are never unloaded by themselves, separated by commas; the default model always is one.',
  ),

  'models.shipped': setting(
    Type.Boolean(),
    true,
    'Offers the models that ship with the program beside those of models_dir, where one of the same name wins.',
  ),
  'models.mirror': setting(
    Type.String({ pattern: '^$|^https?://' }),
    '',
    'Base URL that replaces https://huggingface.co for downloads.',
    { accepts: 'a URL that starts with http:// or https://', mask: maskUserInfo },
  ),
  'models.allowed_hosts': setting(
    Type.String({ maxLength: 4096, pattern: '^(\\s*(https?://)?[^/@?#,\\s]+\\s*(,|$))*$' }),
    '',
    'Hosts inside the network, separated by commas, that model downloads may reach: a name or address, with :PORT for that one alone, with http:// before it for plain http.',
    { accepts: 'hosts separated by commas, for example files.lan:8443 or http://10.0.0.5' },
  ),
} as const;
