/** The settings of this node, as `svc config` shows them; another value is checked, and saved for the next start. */
import Type from 'typebox';
import { ConfigError } from '../../platform/config/config-error.ts';
import { LockedSetting, type SavedSetting } from '../../platform/config/saved-settings.ts';
import { HttpError } from '../../platform/http/errors.ts';
import { type BytesReply, json, type Route, route } from '../../platform/http/route.ts';
import type { Node } from '../../platform/node/node.ts';

const LOCKS = ['machine', 'environment', 'command line'] as const;
const Setting = Type.Object({
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
});
const Key = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: 400,
    description: 'Of a setting, or of a member of a section: `models.NAME.ctx`.',
  }),
});
const Section = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
});
const Value = Type.Object({
  value: Type.String({ maxLength: 4096, description: 'As it would stand in an environment variable.' }),
});

const Proposal = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 128 }),
  value: Type.String({ maxLength: 4096, description: 'As it would stand in an environment variable.' }),
});
const Proposed = Type.Object({
  key: Type.String(),
  toml: Type.String({ description: 'The line for svc.toml, above its first table, or for a file of conf.d.' }),
  environment: Type.String({ description: 'The same for the environment of the server, quoted for a shell.' }),
  needs_restart: Type.Boolean({ description: 'Whether it takes effect at the next start: true for every setting.' }),
});

function settingCheckRoute(node: Node): Route {
  return route({
    method: 'POST',
    path: '/api/v1/system/settings/check',
    auth: 'superadmin',
    maxBody: 8192,
    tag: 'System',
    summary: 'Whether a setting takes a value, and the line that sets it',
    description: 'Nothing is changed: the files of the configuration belong to the operator of the machine.',
    body: Proposal,
    responses: { 200: Proposed },
    errors: [invalid, unknown],
    handle: ({ body: { key, value } }) => {
      const proposed = propose(node, key, value);
      if (proposed === undefined) throw notFound();
      return json(200, { ...proposed, needs_restart: true });
    },
  });
}

const invalid = {
  status: 400,
  code: 'invalid_setting',
  meaning: 'The setting does not take this value; the sentence says what it takes.',
};
const unknown = { status: 404, code: 'setting_not_found', meaning: 'There is no such setting.' };
const locked = {
  status: 409,
  code: 'setting_locked',
  meaning: 'It is set where this cannot change it; the sentence says where.',
};

function notFound(): HttpError {
  return new HttpError(404, unknown.code, 'There is no such setting. GET /api/v1/system/settings lists them.');
}

/** What the node says of a value, as an answer. */
function asAnswer(error: unknown): unknown {
  if (error instanceof ConfigError) return new HttpError(400, invalid.code, error.message, { param: 'value' });
  return error instanceof LockedSetting ? new HttpError(409, locked.code, error.message) : error;
}

function propose(node: Node, key: string, value: string): ReturnType<Node['proposeSetting']> {
  try {
    return node.proposeSetting(key, value);
  } catch (error) {
    throw asAnswer(error);
  }
}

export function settingsRoutes(node: Node): Route[] {
  const shared = { auth: 'superadmin', tag: 'System', responses: { 200: Setting } } as const;
  const path = '/api/v1/system/settings';
  return [
    route({
      method: 'GET',
      path,
      auth: 'superadmin',
      maxBody: 0,
      tag: 'System',
      summary: 'Every setting of this node, its value, where that came from, and what is saved for the next start',
      responses: { 200: Type.Object({ settings: Type.Array(Setting) }) },
      handle: () => json(200, { settings: node.settings().map(viewOf) }),
    }),
    route({
      method: 'GET',
      path: `${path}/{key}/{name}`,
      auth: 'superadmin',
      maxBody: 0,
      tag: 'System',
      summary: 'Every setting of one section, for example of one model: models and its id',
      description:
        'Their keys are saved and forgotten like those of other settings. Whether something of that name exists is not judged.',
      params: Section,
      responses: { 200: Type.Object({ settings: Type.Array(Setting) }) },
      errors: [unknown],
      handle: ({ params: { key, name } }) => {
        const settings = node.settingSection(key, name);
        if (settings === undefined) throw notFound();
        return json(200, { settings: settings.map(viewOf) });
      },
    }),
    route({
      ...shared,
      method: 'PUT',
      path: `${path}/{key}`,
      maxBody: 8192,
      summary: 'Save a value of a setting, on this node alone',
      description:
        'It is kept in settings.json of data_dir and wins over svc.toml and conf.d; the environment and the command line win over it.',
      params: Key,
      body: Value,
      errors: [invalid, unknown, locked],
      handle: ({ params: { key }, body: { value } }) => answer(node.saveSetting(key, value)),
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${path}/{key}`,
      maxBody: 0,
      summary: 'Forget the value that was saved; what the files of the configuration say holds again',
      params: Key,
      errors: [unknown],
      handle: ({ params: { key } }) => answer(node.forgetSetting(key)),
    }),
    settingCheckRoute(node),
  ];
}

async function answer(changed: Promise<SavedSetting | undefined>): Promise<BytesReply> {
  const setting = await changed.catch((error: unknown) => {
    throw asAnswer(error);
  });
  if (setting === undefined) throw notFound();
  return json(200, viewOf(setting));
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
    ...{ key, value: parsed(value), default: parsed(byDefault), origin, environment, help, accepts, choices: choices ?? null },
    ...{ locked_by: lockedBy ?? null, needs_restart: !isLive },
    ...{ is_saved: saved !== undefined, saved: saved === undefined ? null : parsed(saved), is_pending: isPending },
    ...{ next: parsed(next), has_sections: hasSections, inherited_from: inherited ?? null },
  };
}
