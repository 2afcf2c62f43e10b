/** Settings of the inference module. */
import Type from 'typebox';
import { engineOptions } from '../../native/options/engine-options.ts';
import { loadOptions } from '../../native/options/load-options.ts';
import { integerSchema, maskUserInfo, pathSchema, setting, textSchema } from '../../platform/config/setting.ts';
import { modelSections } from './model-sections.ts';
import { settingsOfOptions } from './option-settings.ts';
import { SPLIT_PATTERN } from './split-models.ts';

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

  ...settingsOfOptions(engineOptions),
  ...settingsOfOptions(loadOptions),
  'inference.draft_model': setting(
    Type.String({ maxLength: 4096, pattern: '^([^,=]+=[^,=]+(,|$))*$' }),
    '',
    'MODEL=DRAFT pairs with commas between: DRAFT, small and of the same vocabulary, drafts for MODEL.',
  ),
  'inference.max_queue_seconds': setting(
    integerSchema(0, 86_400),
    60,
    'Longest wait for a model, by its measured rate; requests that would wait longer answer 429. 0 for no limit.',
  ),
  'inference.request_timeout_seconds': setting(
    integerSchema(0, 86_400),
    3600,
    'Longest time for one completion that sets no X-Request-Timeout; 0 for no limit.',
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
    'The same for the memory of GPUs; 0: 90 % of what they have, and no more than is free when the server starts.',
  ),
  'inference.gpu_required': setting(
    Type.Boolean(),
    false,
    'A model that no GPU would compute is refused with device_failed: where none is used, and after one failed. Otherwise the CPU computes it.',
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

  'inference.split': setting(
    Type.String({ maxLength: 4096, pattern: SPLIT_PATTERN }),
    '',
    'MODEL=NODE,NODE for a model of models_dir that is larger than this node: it is served from here, over the memory of the named nodes of the cluster. Several with semicolons between.',
    { accepts: 'MODEL=NODE,NODE, for example llama-405b=gpu-a,gpu-b', isOfMachine: true },
  ),
  'inference.split_programs': setting(
    pathSchema,
    '',
    'Folder of the programs of split models, made by `node scripts/build.mjs --split FOLDER`; empty: build/split of the installation. A node without them lends nothing.',
    { isPath: true, isOfMachine: true },
  ),
  'inference.split_port': setting(
    integerSchema(0, 65_535),
    0,
    'Fixes where split models of other nodes reach the memory that this node lends, at the address of cluster.listen; 0: any that is free, and one for each.',
    { isOfMachine: true },
  ),

  'inference.probe_models': setting(
    Type.Boolean(),
    true,
    'Measures once what each new chat model can do, in a minute at most and while nobody waits; `svc models probe` does it at any time.',
  ),

  models: modelSections,
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
    { accepts: 'hosts separated by commas, for example files.lan:8443 or http://10.0.0.5', isOfMachine: true },
  ),
} as const;
