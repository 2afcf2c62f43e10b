/** The options of `svc serve`, each with the setting that it overrides; llama-server's spellings work too. */
import { cacheTypeNames } from '../../server/native/options/engine-options.ts';
import type { Options, Values } from '../command.ts';
import type { Overrides } from '../configuration.ts';

const automatic = '0 is automatic';

export const serveOptions = {
  listen: { kind: 'text', value: 'HOST:PORT', help: 'internal listener; port 0 takes any free one' },
  host: { kind: 'text', value: 'HOST', help: 'host part of --listen alone' },
  port: { kind: 'integer', value: 'PORT', min: 0, max: 65_535, help: 'port part of --listen alone' },
  'public-listen': { kind: 'text', value: 'HOST:PORT', help: 'public edge, where every caller needs a login' },
  model: {
    kind: 'text',
    value: 'NAME|FILE',
    help: 'model to load at the start: a name, or a GGUF file from anywhere',
    aliases: ['-m'],
  },
  'models-dir': { kind: 'text', value: 'FOLDER', help: 'folder of the model files' },
  'data-dir': { kind: 'text', value: 'FOLDER', help: 'folder of everything that must survive a restart' },
  parallel: { kind: 'integer', value: 'N', min: 0, help: `sequences that decode at once; ${automatic}`, aliases: ['-np'] },
  ctx: {
    kind: 'integer',
    value: 'N',
    min: 0,
    help: `KV cells for all sequences together, tokens; ${automatic}`,
    aliases: ['-c', '--ctx-size'],
  },
  threads: { kind: 'integer', value: 'N', min: 0, help: `compute threads; ${automatic}`, aliases: ['-t'] },
  'gpu-layers': {
    kind: 'integer',
    value: 'N',
    min: -1,
    help: 'layers in GPU memory; -1 is all that fit',
    aliases: ['-ngl', '--n-gpu-layers'],
  },
  batch: {
    kind: 'integer',
    value: 'N',
    min: 0,
    help: `tokens of a logical batch; ${automatic}`,
    aliases: ['-b', '--batch-size'],
  },
  ubatch: {
    kind: 'integer',
    value: 'N',
    min: 0,
    help: `tokens of a physical batch; ${automatic}`,
    aliases: ['-ub', '--ubatch-size'],
  },
  'flash-attention': {
    kind: 'choice',
    choices: ['auto', 'on', 'off'],
    help: 'fused attention kernels',
    aliases: ['-fa', '--flash-attn'],
  },
  'cache-type-k': { kind: 'choice', choices: cacheTypeNames, help: 'number format of the KV cache, keys', aliases: ['-ctk'] },
  'cache-type-v': { kind: 'choice', choices: cacheTypeNames, help: 'number format of the KV cache, values', aliases: ['-ctv'] },
  'kv-unified': { kind: 'flag', help: 'one KV buffer for all sequences', aliases: ['-kvu'] },
  'no-kv-unified': { kind: 'flag', help: 'a fixed share of the KV buffer for each sequence' },
  'max-loaded-models': { kind: 'integer', value: 'N', min: 1, help: 'models held in memory at once' },
  'log-level': { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], help: 'least severity that is logged' },
  'log-format': { kind: 'choice', choices: ['auto', 'json', 'text'], help: 'words or JSON lines' },
  embeddings: {
    kind: 'flag',
    help: 'accepted for llama-server command lines; embeddings are always served',
    aliases: ['--embedding'],
  },
} as const satisfies Options;

export type ServeValues = Values<typeof serveOptions>;

const settingOf = {
  listen: 'listen',
  'public-listen': 'public_listen',
  model: 'default_model',
  'models-dir': 'models_dir',
  'data-dir': 'data_dir',
  parallel: 'inference.parallel',
  ctx: 'inference.ctx',
  threads: 'inference.threads',
  'gpu-layers': 'inference.gpu_layers',
  batch: 'inference.batch',
  ubatch: 'inference.ubatch',
  'flash-attention': 'inference.flash_attention',
  'cache-type-k': 'inference.cache_type_k',
  'cache-type-v': 'inference.cache_type_v',
  'max-loaded-models': 'inference.max_loaded_models',
  'log-level': 'log.level',
  'log-format': 'log.format',
} as const satisfies Partial<Record<keyof ServeValues, string>>;

/** What the command line says about the configuration; `listen` is the address that host and port complete. */
export function overridesOf(options: ServeValues, listen: { host: string; port: number }): Overrides {
  const given = Object.entries(settingOf).flatMap(([option, setting]) => {
    const value = options[option as keyof typeof settingOf];
    return value === undefined ? [] : [[setting, value] as const];
  });
  const host = options.host ?? listen.host;
  const address = `${host.includes(':') ? `[${host}]` : host}:${options.port ?? listen.port}`;
  return {
    ...Object.fromEntries(given),
    ...((options.host !== undefined || options.port !== undefined) && { listen: address }),
    ...(options['kv-unified'] && { 'inference.kv_unified': 'on' as const }),
    ...(options['no-kv-unified'] && { 'inference.kv_unified': 'off' as const }),
  };
}
