/** `svc iot`: devices of a running node, what they say, and writes to them. */
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Answer, Body, Client } from '../../client/client.ts';
import { CliError, usageError } from '../cli-error.ts';
import { printable, tableOf } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type Value = Body<'POST /api/v1/iot/write'>['value'];
type NewDevice = Body<'POST /api/v1/iot/devices'>;

const device = { name: 'DEVICE', help: 'its name or id, as `svc iot devices` shows them' };
const variable = { name: 'VARIABLE', help: 'as `svc iot show` names it' };
const keyOption = { 'key-stdin': { kind: 'flag', help: 'read its token or password from standard input, one line' } } as const;

export const iotDevices = listCommand({
  words: ['iot', 'devices'],
  summary: 'List the devices of the tenant',
  examples: ['svc iot devices'],
  route: 'GET /api/v1/iot/devices',
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    KIND: ({ kind }) => kind,
    STATE: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`),
    'LAST SEEN': ({ last_seen: at }) => at ?? '-',
    VARIABLES: ({ variables }) => variables.map(({ name }) => name).join(' '),
  },
  empty: 'no devices',
});

export const iotShow = requestCommand({
  words: ['iot', 'show'],
  summary: 'Show what a device says, and the last writes to it',
  positionals: [device],
  examples: ['svc iot show Greenhouse'],
  route: 'GET /api/v1/iot/devices/{id}',
  given: async ({ positionals: [name = ''], client }) => ({ params: { id: await idOf(client, name) } }),
  text: shown,
});

function shown({ name, kind, state, reason, readings, variables, writes }: Answer<'GET /api/v1/iot/devices/{id}'>): string {
  const rows = variables.map((one) => ({ one, reading: readings.find(({ variable: of }) => of === one.name) }));
  const table = tableOf(
    {
      VARIABLE: ({ one }) => one.name,
      VALUE: ({ reading }) => (reading == null || reading.value === null ? '-' : String(reading.value)),
      UNIT: ({ one }) => one.unit ?? '',
      QUALITY: ({ reading }) => reading?.quality ?? '-',
      RECEIVED: ({ reading }) => reading?.received_at ?? '-',
      ACCESS: ({ one }) => one.access,
      APPROVAL: ({ one }) => one.approval ?? 'none',
    },
    rows,
  );
  const written = tableOf(
    {
      WRITTEN: ({ at }) => at,
      VARIABLE: ({ variable: of }) => of,
      VALUE: ({ value }) => String(value),
      STATE: ({ state: of, verified }) => (verified ? 'verified' : of),
      BY: ({ owner }) => owner,
    },
    writes,
  );
  const head = `${name} (${kind}) is ${state}${reason === null ? '' : `: ${reason}`}`;
  return [printable(head), table, ...(writes.length === 0 ? [] : [written])].join('\n\n');
}

export const iotAdd = serverCommand({
  words: ['iot', 'add'],
  summary: 'Add a device, whose profile is a JSON file',
  positionals: [{ name: 'FILE', help: 'the profile: `{name, kind, connection, variables}`' }],
  options: keyOption,
  examples: ['svc iot add meter.json', 'svc iot add broker.json --key-stdin < password.txt'],
  async run({ positionals: [file = ''], options: { 'key-stdin': isTyped }, client, terminal }) {
    const key = isTyped === true ? { key: (await readAll(process.stdin)).trim() } : {};
    const added = await client.call('POST /api/v1/iot/devices', { body: { ...(await readProfile(file)), ...key } });
    terminal.result(added, printable(`${added.name} is ${added.id}`));
    return 'ok';
  },
});

export const iotChange = serverCommand({
  words: ['iot', 'change'],
  summary: 'Give a device another profile, key or node',
  positionals: [device],
  options: {
    file: { kind: 'text', value: 'FILE', help: 'the profile as it shall be, a JSON file' },
    here: { kind: 'flag', help: 'this node has the connection from now on' },
    ...keyOption,
  },
  examples: ['svc iot change Greenhouse --file meter.json'],
  async run({ positionals: [of = ''], options: { file, here, 'key-stdin': isTyped }, client, terminal }) {
    if (file === undefined && here !== true && isTyped !== true)
      throw usageError('nothing is changed', 'give --file, --here or --key-stdin');
    const id = await idOf(client, of);
    const { kind: _, ...profile } = file === undefined ? ({} as Partial<NewDevice>) : await readProfile(file);
    const key = isTyped === true ? { key: (await readAll(process.stdin)).trim() } : {};
    const body = { ...profile, ...key, ...(here === true && { here: true as const }) };
    const changed = await client.call('PATCH /api/v1/iot/devices/{id}', { params: { id }, body });
    terminal.result(changed, printable(`${changed.name} is changed`));
    return 'ok';
  },
});

const switched = (word: 'enable' | 'disable', summary: string) =>
  requestCommand({
    words: ['iot', word],
    summary,
    positionals: [device],
    examples: [`svc iot ${word} Greenhouse`],
    route: 'PATCH /api/v1/iot/devices/{id}',
    given: async ({ positionals: [name = ''], client }) => ({
      params: { id: await idOf(client, name) },
      body: { enabled: word === 'enable' },
    }),
    text: ({ name }) => printable(`${name} is ${word}d`),
  });

export const iotEnable = switched('enable', 'Connect to a device again');
export const iotDisable = switched('disable', 'End the connection to a device, and keep its history');

export const iotRemove = requestCommand({
  words: ['iot', 'rm'],
  summary: 'Remove a device with its history',
  positionals: [device],
  examples: ['svc iot rm Greenhouse'],
  route: 'DELETE /api/v1/iot/devices/{id}',
  given: async ({ positionals: [name = ''], client }) => ({ params: { id: await idOf(client, name) } }),
  text: (_, { positionals: [id] }) => `${id} is removed`,
});

export const iotRead = requestCommand({
  words: ['iot', 'read'],
  summary: 'Read a variable; fails where its value is not known to be so now',
  positionals: [device, variable],
  examples: ['svc iot read Greenhouse temperature'],
  route: 'POST /api/v1/iot/read',
  given: async ({ positionals: [of = '', name = ''], client }) => ({
    body: { device_id: await idOf(client, of), variable: name },
  }),
  text: ({ value, unit, quality, received_at: at }) =>
    printable(`${value ?? '-'}${unit === null ? '' : ` ${unit}`} (${quality}${at === null ? '' : `, ${at}`})`),
  exit: ({ quality }) => (quality === 'good' ? 'ok' : 'failed'),
});

export const iotWrite = serverCommand({
  words: ['iot', 'write'],
  summary: 'Write a variable once, and read it back; fails where the device does not have the value afterwards',
  positionals: [device, variable, { name: 'VALUE', help: 'a number, true, false or a text' }],
  examples: ['svc iot write Greenhouse setpoint 21.5'],
  async run({ positionals: [of = '', name = '', given = ''], client, terminal }) {
    const id = await idOf(client, of);
    const known = await client.call('GET /api/v1/iot/devices/{id}', { params: { id } });
    const value = readValue(known.variables.find((one) => one.name === name)?.type, given);
    const written = await client.call('POST /api/v1/iot/write', { body: { device_id: id, variable: name, value } });
    if ('approval_id' in written) {
      terminal.result(written, `it waits for the approval ${written.approval_id}, and is written when it is approved`);
      return 'ok';
    }
    const { read_back: back, verified, unit } = written;
    const unitText = unit === null ? '' : ` ${unit}`;
    const state = back === null ? 'written, and cannot be read back' : printable(`${back}${unitText}`);
    terminal.result(written, `${name} is ${state}${verified ? ', verified' : ''}`);
    return verified || back === null ? 'ok' : 'failed';
  },
});

export const iotHistory = listCommand({
  words: ['iot', 'history'],
  summary: 'List samples of a variable, or its hourly means, oldest first',
  positionals: [device, variable],
  options: {
    hours: { kind: 'flag', help: 'hourly means instead of samples' },
    from: { kind: 'text', value: 'TIME', help: 'for example 2026-11-28T00:00:00Z (default: a day ago)' },
    to: { kind: 'text', value: 'TIME', help: 'default: now' },
    limit: { kind: 'integer', value: 'NUMBER', min: 1, max: 10_000, help: 'how many (default 1000)' },
  },
  examples: ['svc iot history Greenhouse temperature --hours'],
  route: 'GET /api/v1/iot/history',
  given: async ({ positionals: [of = '', name = ''], options: { hours, from, to, limit }, client }) => ({
    query: {
      device_id: await idOf(client, of),
      variable: name,
      ...(hours === true && { resolution: 'hours' as const }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(limit !== undefined && { limit }),
    },
  }),
  columns: {
    TIME: ({ ts }) => ts,
    VALUE: ({ value }) => (value === null ? '-' : String(value)),
    QUALITY: ({ quality }) => quality,
  },
  empty: 'no samples',
});

export const iotHalt = requestCommand({
  words: ['iot', 'halt'],
  summary: 'Refuse all writes to devices until it is ended',
  positionals: [{ name: 'REASON', help: 'whoever is refused is told it' }],
  examples: ['svc iot halt "smoke in the hall"'],
  route: 'POST /api/v1/iot/halt',
  given: ({ positionals: [reason = ''] }) => ({ body: { reason } }),
  text: ({ halts }) => `writes are halted${halts.some(({ scope }) => scope === 'all') ? ' for all tenants' : ''}`,
});

export const iotResume = requestCommand({
  words: ['iot', 'resume'],
  summary: 'Let devices be written again',
  examples: ['svc iot resume'],
  route: 'DELETE /api/v1/iot/halt',
  text: () => 'devices may be written again',
});

async function readProfile(file: string): Promise<NewDevice> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw usageError(`${file} cannot be read: ${cause.code}`, 'name a JSON file with the profile of the device');
  });
  try {
    return JSON.parse(text) as NewDevice;
  } catch (cause) {
    throw usageError(`${file} is no JSON: ${(cause as Error).message}`, 'the documentation has profiles to begin with');
  }
}

/** A name is looked up; what is an id is taken as it is. */
async function idOf(client: Client, given: string): Promise<string> {
  if (/^dev_[0-9a-f-]+$/.test(given)) return given;
  const { data } = await client.call('GET /api/v1/iot/devices', {});
  const found = data.find(({ name }) => name === given);
  if (found !== undefined) return found.id;
  throw new CliError('not_found', 'device_not_found', printable(`there is no device ${given}`), '`svc iot devices` lists them');
}

/** Reads the text as the type of the variable; the server judges the rest. */
function readValue(type: string | undefined, given: string): Value {
  if (type === 'text') return given;
  if (given === 'true' || given === 'false') return given === 'true';
  return given.trim() !== '' && Number.isFinite(Number(given)) ? Number(given) : given;
}
