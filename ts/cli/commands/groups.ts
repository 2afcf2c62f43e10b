/** `svc group`: groups of a running node, with the role and the grants of their members. */
import { CliError, usageError } from '../cli-error.ts';
import { command, type Invocation, type Options } from '../command.ts';
import { formatTable, printable } from '../format.ts';
import { clientOptions, ServerClient } from '../server-client.ts';
import { findUser, type UserRecord } from './accounts.ts';

interface GroupRecord {
  id: string;
  tenant: string;
  name: string;
  role: string | null;
  grants: { models: string[]; namespaces: string[] };
  external_id: string | null;
  member_count: number;
}

const path = '/api/v1/identity/groups';
const groupName = { name: 'GROUP', help: 'name or id of the group' };
const ROLES = ['viewer', 'developer', 'admin', 'none'] as const;
const details = {
  ...clientOptions,
  role: { kind: 'choice', choices: ROLES, help: 'least role of its members' },
  model: { kind: 'texts', value: 'NAME', help: 'model that they may use, * for any characters; may be repeated' },
  knowledge: { kind: 'texts', value: 'NAME', help: 'knowledge base that they may use; may be repeated' },
  description: { kind: 'text', value: 'TEXT', help: 'what the group is for' },
  'external-id': { kind: 'text', value: 'ID', help: 'its id or name in the directory or at the sign-in provider' },
} as const satisfies Options;

type Details = Invocation<typeof details>['options'];

export const groupList = command({
  words: ['group', 'list'],
  summary: 'List the groups',
  options: clientOptions,
  examples: ['svc group list'],
  async run(invocation) {
    const groups = await readAll<GroupRecord>(ServerClient.from(invocation), path, invocation.signal);
    invocation.terminal.result(groups, tableOf(groups));
    return 'ok';
  },
});

export const groupCreate = command({
  words: ['group', 'create'],
  summary: 'Make a group',
  positionals: [{ name: 'NAME', help: 'name of the group' }],
  options: { ...details, tenant: { kind: 'text', value: 'ID', help: 'its tenant (default: that of the caller)' } },
  examples: ['svc group create staff --role developer --model "qwen*" --knowledge handbook'],
  async run(invocation) {
    const { positionals, options, terminal, signal } = invocation;
    const { tenant } = options;
    const body = { name: positionals[0] ?? '', ...bodyOf(options), ...(tenant !== undefined && { tenant }) };
    const group = (await ServerClient.from(invocation).send('POST', path, body, signal)) as GroupRecord;
    terminal.result(group, tableOf([group]));
    return 'ok';
  },
});

export const groupSet = command({
  words: ['group', 'set'],
  summary: 'Change the role or the grants of a group',
  positionals: [groupName],
  options: details,
  examples: ['svc group set staff --role none', 'svc group set staff --model "*"'],
  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const body = bodyOf(options);
    if (Object.keys(body).length === 0)
      throw usageError('nothing to change', 'name what to change; `svc help group set` lists it');
    const { client, group } = await named(invocation);
    const changed = (await client.send('PATCH', `${path}/${group.id}`, body, signal)) as GroupRecord;
    terminal.result(changed, tableOf([changed]));
    return 'ok';
  },
});

export const groupDelete = command({
  words: ['group', 'delete'],
  summary: 'Delete a group; its members lose what it gave them at once',
  positionals: [groupName],
  options: clientOptions,
  examples: ['svc group delete staff'],
  async run(invocation) {
    const { client, group } = await named(invocation);
    await client.send('DELETE', `${path}/${group.id}`, undefined, invocation.signal);
    invocation.terminal.result({ id: group.id, deleted: true }, `${printable(group.name)} is deleted`);
    return 'ok';
  },
});

export const groupMembers = command({
  words: ['group', 'members'],
  summary: 'List the accounts of a group',
  positionals: [groupName],
  options: clientOptions,
  examples: ['svc group members staff'],
  async run(invocation) {
    const { client, group } = await named(invocation);
    const users = await readAll<UserRecord>(client, `${path}/${group.id}/members`, invocation.signal);
    const rows = users.map(({ id, username, role, disabled }) => [
      printable(username),
      role,
      disabled ? 'disabled' : 'active',
      id,
    ]);
    invocation.terminal.result(users, formatTable(['NAME', 'ROLE', 'STATE', 'ID'], rows));
    return 'ok';
  },
});

export const groupAdd = command({
  words: ['group', 'add'],
  summary: 'Put accounts into a group',
  positionals: [groupName, { name: 'USER', help: 'names or ids of accounts', many: true }],
  options: clientOptions,
  examples: ['svc group add staff ann bob'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const { client, group } = await named(invocation);
    const users: UserRecord[] = [];
    for (const name of positionals.slice(1)) users.push(await findUser(client, name, signal));
    await client.send('POST', `${path}/${group.id}/members`, { users: users.map(({ id }) => id) }, signal);
    const names = users.map(({ username }) => printable(username)).join(', ');
    terminal.result({ id: group.id, added: users.map(({ id }) => id) }, `${printable(group.name)} has ${names}`);
    return 'ok';
  },
});

export const groupRemove = command({
  words: ['group', 'remove'],
  summary: 'Take an account out of a group',
  positionals: [groupName, { name: 'USER', help: 'name or id of an account' }],
  options: clientOptions,
  examples: ['svc group remove staff bob'],
  async run(invocation) {
    const { positionals, terminal, signal } = invocation;
    const { client, group } = await named(invocation);
    const user = await findUser(client, positionals[1] ?? '', signal);
    await client.send('DELETE', `${path}/${group.id}/members/${user.id}`, undefined, signal);
    terminal.result({ id: group.id, removed: user.id }, `${printable(user.username)} is no longer in ${printable(group.name)}`);
    return 'ok';
  },
});

/** The group that the first word names. Throws CliError not_found. */
async function named(invocation: Invocation<typeof clientOptions>): Promise<{ client: ServerClient; group: GroupRecord }> {
  const [name = ''] = invocation.positionals;
  const client = ServerClient.from(invocation);
  if (/^grp_\w{16}$/.test(name)) {
    return { client, group: (await client.send('GET', `${path}/${name}`, undefined, invocation.signal)) as GroupRecord };
  }
  const query = `${path}?name=${encodeURIComponent(name)}`;
  const { data } = (await client.send('GET', query, undefined, invocation.signal)) as { data: GroupRecord[] };
  const [group, ...more] = data;
  if (more.length > 0)
    throw usageError(`several tenants have a group ${name}`, 'name it by its id, as `svc group list` shows it');
  if (group !== undefined) return { client, group };
  throw new CliError('not_found', 'group_not_found', `there is no group ${name}`, 'run `svc group list` for all of them');
}

async function readAll<Row>(client: ServerClient, from: string, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const page = (await client.send('GET', `${from}?limit=1000&after=${next}`, undefined, signal)) as {
      data: Row[];
      next?: string;
    };
    rows.push(...page.data);
    next = page.next;
  }
  return rows;
}

function bodyOf(options: Details): Record<string, unknown> {
  const { role, model, knowledge, description } = options;
  const externalId = options['external-id'];
  const grants = { ...(model !== undefined && { models: model }), ...(knowledge !== undefined && { namespaces: knowledge }) };
  return {
    ...(role !== undefined && { role: role === 'none' ? null : role }),
    ...(Object.keys(grants).length > 0 && { grants }),
    ...(description !== undefined && { description }),
    ...(externalId !== undefined && { external_id: externalId }),
  };
}

function tableOf(groups: readonly GroupRecord[]): string {
  const rows = groups.map(({ id, name, tenant, role, grants, member_count: nMembers }) => [
    ...[printable(name), tenant, role ?? '-', String(nMembers)],
    ...[listed(grants.models), listed(grants.namespaces), id],
  ]);
  return formatTable(['NAME', 'TENANT', 'ROLE', 'MEMBERS', 'MODELS', 'KNOWLEDGE', 'ID'], rows);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? '-' : printable(names.join(' '));
}
