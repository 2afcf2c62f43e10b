/** `svc group`: groups of a running node, with the role and the grants of their members. */
import type { Answer } from '../../client/client.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Options, Values } from '../command.ts';
import { type Columns, printable, tableOf } from '../format.ts';
import { columnsByKind, memberOf, optionsByKind, valuesByKind } from '../members-by-kind.ts';
import { listCommand, requestCommand, type Served, serverCommand } from '../server-command.ts';
import { findUser, userColumns } from './accounts.ts';

type Group = Answer<'GET /api/v1/identity/groups/{id}'>;

const groupName = { name: 'GROUP', help: 'name or id of the group' };
const granted = ({ word, one }: { word?: string; one: string }): string => word ?? one;
const details = {
  role: { kind: 'choice', choices: ['viewer', 'developer', 'admin', 'none'], help: 'least role of its members' },
  ...optionsByKind(granted, ({ labels: [label] }) => ({
    kind: 'texts',
    value: 'NAME',
    help: `${label} that they may use, * for any characters; may be repeated`,
  })),
  description: { kind: 'text', value: 'TEXT', help: 'what the group is for' },
  'external-id': { kind: 'text', value: 'ID', help: 'its id or name in the directory or at the sign-in provider' },
} as const satisfies Options;

const columns: Columns<Group> = {
  NAME: ({ name }) => name,
  TENANT: ({ tenant }) => tenant,
  ROLE: ({ role }) => role,
  MEMBERS: ({ member_count: count }) => count,
  ...columnsByKind(
    ({ word, name }) => word ?? name,
    ({ grants }, { name }) => memberOf<string[]>(grants, name)?.join(' ') || null,
  ),
  ID: ({ id }) => id,
};

export const groupList = listCommand({
  words: ['group', 'list'],
  summary: 'List the groups',
  examples: ['svc group list'],
  route: 'GET /api/v1/identity/groups',
  isWhole: true,
  columns,
});

export const groupCreate = requestCommand({
  words: ['group', 'create'],
  summary: 'Make a group',
  positionals: [{ name: 'NAME', help: 'name of the group' }],
  options: { ...details, tenant: { kind: 'text', value: 'ID', help: 'its tenant (default: that of the caller)' } },
  examples: ['svc group create staff --role developer --model "qwen*" --knowledge handbook'],
  route: 'POST /api/v1/identity/groups',
  given: ({ positionals: [name = ''], options }) => ({ body: { name, ...bodyOf(options), tenant: options.tenant } }),
  text: (group) => tableOf(columns, [group]),
});

export const groupSet = requestCommand({
  words: ['group', 'set'],
  summary: 'Change the role or the grants of a group',
  positionals: [groupName],
  options: details,
  examples: ['svc group set staff --role none', 'svc group set staff --model "*"'],
  route: 'PATCH /api/v1/identity/groups/{id}',
  given: async ({ positionals: [name], options, client }) => {
    const body = bodyOf(options);
    if (Object.values(body).every((value) => value === undefined))
      throw usageError('nothing to change', 'name what to change; `svc help group set` lists it');
    return { params: { id: (await findGroup(client, name)).id }, body };
  },
  text: (group) => tableOf(columns, [group]),
});

export const groupDelete = serverCommand({
  words: ['group', 'delete'],
  summary: 'Delete a group; its members lose what it gave them at once',
  positionals: [groupName],
  examples: ['svc group delete staff'],
  async run({ positionals: [given], client, terminal }) {
    const { id, name } = await findGroup(client, given);
    await client.call('DELETE /api/v1/identity/groups/{id}', { params: { id } });
    terminal.result({ id, deleted: true }, `${printable(name)} is deleted`);
    return 'ok';
  },
});

const { NAME, ROLE, STATE, ID } = userColumns;

export const groupMembers = listCommand({
  words: ['group', 'members'],
  summary: 'List the accounts of a group',
  positionals: [groupName],
  examples: ['svc group members staff'],
  route: 'GET /api/v1/identity/groups/{id}/members',
  given: async ({ positionals: [name], client }) => ({ params: { id: (await findGroup(client, name)).id } }),
  isWhole: true,
  columns: { NAME, ROLE, STATE, ID },
});

export const groupAdd = serverCommand({
  words: ['group', 'add'],
  summary: 'Put accounts into a group',
  positionals: [groupName, { name: 'USER', help: 'names or ids of accounts', many: true }],
  examples: ['svc group add staff ann bob'],
  async run({ positionals: [given, ...wanted], client, terminal }) {
    const { id, name } = await findGroup(client, given);
    const members = [];
    for (const each of wanted) members.push(await findUser(client, each));
    const users = members.map((user) => user.id);
    await client.call('POST /api/v1/identity/groups/{id}/members', { params: { id }, body: { users } });
    const names = members.map(({ username }) => printable(username)).join(', ');
    terminal.result({ id, added: users }, `${printable(name)} has ${names}`);
    return 'ok';
  },
});

export const groupRemove = serverCommand({
  words: ['group', 'remove'],
  summary: 'Take an account out of a group',
  positionals: [groupName, { name: 'USER', help: 'name or id of an account' }],
  examples: ['svc group remove staff bob'],
  async run({ positionals: [given, wanted], client, terminal }) {
    const { id, name } = await findGroup(client, given);
    const user = await findUser(client, wanted);
    await client.call('DELETE /api/v1/identity/groups/{id}/members/{user}', { params: { id, user: user.id } });
    terminal.result({ id, removed: user.id }, `${printable(user.username)} is no longer in ${printable(name)}`);
    return 'ok';
  },
});

/** Takes a name or an id. Throws CliError not_found. */
async function findGroup(client: Served['client'], name = ''): Promise<Group> {
  if (/^grp_\w{16}$/.test(name)) return await client.call('GET /api/v1/identity/groups/{id}', { params: { id: name } });
  // An empty name in a query asks for all.
  const { data } = name === '' ? { data: [] } : await client.call('GET /api/v1/identity/groups', { query: { name } });
  const [group, ...more] = data;
  if (more.length > 0)
    throw usageError(`several tenants have a group ${name}`, 'name it by its id, as `svc group list` shows it');
  if (group !== undefined) return group;
  throw new CliError('not_found', 'group_not_found', `there is no group ${name}`, 'run `svc group list` for all of them');
}

function bodyOf({ role, description, 'external-id': externalId, ...options }: Values<typeof details>) {
  const grants = valuesByKind(granted, ({ name }) => name, options);
  return {
    role: role === 'none' ? null : role,
    grants: Object.keys(grants).length > 0 ? grants : undefined,
    description,
    external_id: externalId,
  };
}
