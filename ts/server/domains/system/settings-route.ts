/** The settings of this node, as `svc config` shows them; another value is checked, and saved for the next start. */
import Type from 'typebox';
import { ConfigError } from '../../platform/config/config-error.ts';
import { LockedSetting, type SavedSetting } from '../../platform/config/saved-settings.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { Node } from '../../platform/node/node.ts';
import { named } from '../../platform/schema/named.ts';
import { systemError, systemErrors } from './errors.ts';

const LOCKS = ['machine', 'environment', 'command line'] as const;
const Setting = named(
  'Setting',
  Type.Object({
    key: Type.String(),
    value: Type.Unknown({ description: 'What holds now. Secrets are masked.' }),
    default: Type.Unknown(),
    origin: Type.String({ description: 'The file or the variable that sets it, or `default`.' }),
    environment: Type.String({ description: 'The variable that would set it.' }),
    help: Type.String(),
    accepts: Type.String({ description: 'In words.' }),
    choices: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Where it takes one of these alone.' }),
    locked_by: Type.Union([Type.Enum([...LOCKS]), Type.Null()], {
      description: 'Why it cannot be saved here: it belongs to the operator of the machine, or this start of the node sets it.',
    }),
    needs_restart: Type.Boolean({ description: 'What is saved takes effect at the next start.' }),
    is_saved: Type.Boolean(),
    saved: Type.Unknown({ description: 'What is saved, secrets masked; null where nothing is.' }),
    next: Type.Unknown({ description: 'What the next start uses, whatever says so.' }),
    has_sections: Type.Boolean({
      description: 'It has a section for each name; GET /api/v1/system/settings/{key}/{name} lists one.',
    }),
    inherited_from: Type.Union([Type.String(), Type.Null()], {
      description: 'Of a member that its section does not name: the setting that holds instead.',
    }),
    is_pending: Type.Boolean({ description: 'The next start will use another value than holds now.' }),
  }),
);
const Key = named(
  'ApiKey',
  Type.Object({
    key: Type.String({
      minLength: 1,
      maxLength: 400,
      description: 'Of a setting, or of a member of a section: `models.NAME.ctx`.',
    }),
  }),
);
const Section = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
});
const Value = named(
  'SettingValue',
  Type.Object({
    value: Type.String({ maxLength: 4096, description: 'As it would stand in an environment variable.' }),
  }),
);

const Proposal = named(
  'SettingProposal',
  Type.Object({
    key: Type.String({ minLength: 1, maxLength: 128 }),
    value: Type.String({ maxLength: 4096, description: 'As it would stand in an environment variable.' }),
  }),
);
const Proposed = named(
  'ProposedSetting',
  Type.Object({
    key: Type.String(),
    toml: Type.String({ description: 'The line for svc.toml, above its first table, or for a file of conf.d.' }),
    environment: Type.String({ description: 'The same for the environment of the server, quoted for a shell.' }),
    needs_restart: Type.Boolean({ description: 'Whether it takes effect at the next start: true for every setting.' }),
  }),
);

const { get, post, put, del } = routes({ tag: 'System', auth: 'superadmin', maxBody: 8192, errors: systemErrors });

function settingCheckRoute(node: Node): Route {
  return post('/api/v1/system/settings/check', {
    summary: 'Whether a setting takes a value, and the line that sets it',
    description: 'Nothing is changed: the files of the configuration belong to the operator of the machine.',
    body: Proposal,
    answer: Proposed,
    errors: ['invalid_setting', 'setting_not_found'],
    handle: ({ body: { key, value } }) => {
      const proposed = propose(node, key, value);
      if (proposed === undefined) throw notFound();
      return { ...proposed, needs_restart: true };
    },
  });
}

function notFound(): Error {
  return systemError('setting_not_found', 'There is no such setting. GET /api/v1/system/settings lists them.');
}

/** What the node says of a value, as a refusal. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ConfigError) return systemError('invalid_setting', error.message, { param: 'value' });
  return error instanceof LockedSetting ? systemError('setting_locked', error.message) : error;
}

function propose(node: Node, key: string, value: string): ReturnType<Node['proposeSetting']> {
  try {
    return node.proposeSetting(key, value);
  } catch (error) {
    throw refusalOf(error);
  }
}

export function settingsRoutes(node: Node): Route[] {
  const path = '/api/v1/system/settings';
  return [
    get(path, {
      summary: 'Every setting of this node, its value, where that came from, and what is saved for the next start',
      answer: Type.Object({ settings: Type.Array(Setting) }),
      handle: () => ({ settings: node.settings().map(viewOf) }),
    }),
    get(`${path}/{key}/{name}`, {
      summary: 'Every setting of one section, for example of one model: models and its id',
      description:
        'Their keys are saved and forgotten like those of other settings. Whether something of that name exists is not judged.',
      params: Section,
      answer: Type.Object({ settings: Type.Array(Setting) }),
      errors: ['setting_not_found'],
      handle: ({ params: { key, name } }) => {
        const settings = node.settingSection(key, name);
        if (settings === undefined) throw notFound();
        return { settings: settings.map(viewOf) };
      },
    }),
    put(`${path}/{key}`, {
      answer: Setting,
      summary: 'Save a value of a setting, on this node alone',
      description:
        'It is kept in settings.json of data_dir and wins over svc.toml and conf.d; the environment and the command line win over it.',
      params: Key,
      body: Value,
      errors: ['invalid_setting', 'setting_not_found', 'setting_locked'],
      handle: ({ params: { key }, body: { value } }) => changed(node.saveSetting(key, value)),
    }),
    del(`${path}/{key}`, {
      answer: Setting,
      summary: 'Forget the value that was saved; what the files of the configuration say holds again',
      params: Key,
      errors: ['setting_not_found'],
      handle: ({ params: { key } }) => changed(node.forgetSetting(key)),
    }),
    settingCheckRoute(node),
  ];
}

async function changed(saving: Promise<SavedSetting | undefined>) {
  const setting = await saving.catch((error: unknown) => {
    throw refusalOf(error);
  });
  if (setting === undefined) throw notFound();
  return viewOf(setting);
}

function viewOf({
  key,
  value,
  byDefault,
  origin,
  environment,
  help,
  accepts,
  choices,
  lockedBy,
  isLive,
  saved,
  next,
  hasSections,
  inherited,
  isPending,
}: SavedSetting) {
  const parsed = (text: string): unknown => JSON.parse(text) as unknown;
  return {
    key,
    value: parsed(value),
    default: parsed(byDefault),
    origin,
    environment,
    help,
    accepts,
    choices: choices ?? null,
    locked_by: lockedBy ?? null,
    needs_restart: !isLive,
    is_saved: saved !== undefined,
    saved: saved === undefined ? null : parsed(saved),
    is_pending: isPending,
    next: parsed(next),
    has_sections: hasSections,
    inherited_from: inherited ?? null,
  };
}
