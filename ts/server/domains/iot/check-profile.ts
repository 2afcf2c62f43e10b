/** The checks that the schemas of a profile cannot say: members by kind, and what must fit together. */
import { SchemaCheck } from '../../platform/schema/schema-check.ts';
import { fitsRegisters } from './connectors/modbus-registers.ts';
import { iotError } from './errors.ts';
import { type Device, type DeviceKind, isReadable, isWritable, KINDS, type ReadSpec, SHAPES, type Variable } from './profile.ts';
import { typeFault } from './values.ts';

type Profile = Pick<Device, 'kind' | 'connection' | 'variables'>;

const checks = Object.fromEntries(
  KINDS.map((kind) => {
    const { connection, read, write } = SHAPES[kind];
    return [kind, { connection: new SchemaCheck(connection), read: new SchemaCheck(read), write: new SchemaCheck(write) }];
  }),
) as Record<DeviceKind, Record<'connection' | 'read' | 'write', SchemaCheck>>;

/** Throws `invalid_request`, which names the member. */
export function checkProfile(profile: Profile): void {
  const { kind, connection, variables } = profile;
  requireShape(checks[kind].connection, connection, 'connection');
  const names = new Set<string>();
  variables.forEach((variable, i) => {
    const at = `variables[${i}]`;
    if (names.has(variable.name)) refuse(`${at}.name`, `There are two variables ${variable.name}.`);
    names.add(variable.name);
    checkVariable(kind, variable, at);
  });
  for (const [i, variable] of variables.entries()) checkInterlocks(variables, variable, `variables[${i}].interlocks`);
}

function checkVariable(kind: DeviceKind, variable: Variable, at: string): void {
  const { type, min, max, step, max_change_per_minute: change } = variable;
  const isNumber = type === 'number' || type === 'integer';
  if (!isNumber && [min, max, step, change].some((bound) => bound !== undefined))
    refuse(at, `${variable.name} is ${type}: it has no range, step or rate.`);
  if (min !== undefined && max !== undefined && min > max) refuse(`${at}.min`, '`min` is greater than `max`.');
  if (isWritable(variable) && isNumber && (min === undefined || max === undefined))
    refuse(`${at}.min`, `${variable.name} can be written, so it needs \`min\` and \`max\`.`);
  if (!isWritable(variable) && (variable.approval ?? 'none') !== 'none')
    refuse(`${at}.approval`, `${variable.name} is not written, so nothing of it is approved.`);
  // The map of registers says in both directions how a value lies in them.
  const needsRead = isReadable(variable) || kind === 'modbus_tcp';
  if (needsRead || variable.read !== undefined) requireShape(checks[kind].read, variable.read ?? {}, `${at}.read`);
  if (isWritable(variable)) requireShape(checks[kind].write, variable.write ?? {}, `${at}.write`);
  if (kind === 'modbus_tcp') checkRegisters(variable, variable.read as ReadSpec<'modbus_tcp'>, `${at}.read`);
  if (kind === 'homeassistant' && isWritable(variable)) checkServices(variable, at);
}

function checkRegisters(variable: Variable, read: ReadSpec<'modbus_tcp'>, at: string): void {
  const isBits = read.area === 'coil' || read.area === 'discrete';
  if (isBits !== (read.type === 'bool')) refuse(`${at}.type`, 'Coils and discrete inputs are bool, and registers are not.');
  if ((read.type === 'bool') !== (variable.type === 'boolean'))
    refuse(`${at}.type`, `A variable of type ${variable.type} does not lie in ${read.type}.`);
  if (variable.type === 'text') refuse(`${at}.type`, 'Registers hold no text.');
  if (isWritable(variable) && (read.area === 'input' || read.area === 'discrete'))
    refuse(`${at}.area`, `The area ${read.area} cannot be written.`);
  if (read.scale === 0) refuse(`${at}.scale`, '`scale` is 0.');
  for (const bound of isWritable(variable) ? (['min', 'max'] as const) : []) {
    const value = variable[bound];
    if (value !== undefined && !fitsRegisters(read, value)) refuse(at, `\`${bound}\` does not fit into ${read.type}.`);
  }
}

function checkServices({ name, type, write = {} }: Variable, at: string): void {
  const { service, service_true: on, service_false: off } = write as Record<string, unknown>;
  const isWhole = type === 'boolean' && on !== undefined && off !== undefined && service === undefined;
  if (!isWhole && (service === undefined || on !== undefined || off !== undefined))
    refuse(`${at}.write`, `${name} needs \`service\`, or as a boolean both \`service_true\` and \`service_false\`.`);
}

function checkInterlocks(variables: readonly Variable[], { interlocks = [] }: Variable, at: string): void {
  for (const [i, { variable: name, equals }] of interlocks.entries()) {
    const other = variables.find((one) => one.name === name && isReadable(one));
    if (other === undefined) refuse(`${at}[${i}].variable`, `There is no variable ${name} that can be read.`);
    const fault = typeFault(other, equals);
    if (fault !== undefined) refuse(`${at}[${i}].equals`, fault);
  }
}

function requireShape(check: SchemaCheck, value: unknown, at: string): void {
  const fault = check.findFault(value, at);
  if (fault === undefined) return;
  refuse(fault.member === '' ? at : `${at}.${fault.member}`, fault.sentence);
}

function refuse(param: string, sentence: string): never {
  throw iotError('invalid_request', `${param}: ${sentence}`, { param });
}
