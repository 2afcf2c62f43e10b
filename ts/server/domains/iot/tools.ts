/** Reading and writing of devices as tools. Models see the variables alone that an administrator exposed. */
import Type from 'typebox';
import type { Principal } from '../../platform/http/principal.ts';
import { defineTool, type Tool } from '../../platform/tools/tool.ts';
import type { CallBy, DeviceService } from './devices.ts';
import { isReadable, type Variable } from './profile.ts';
import { readingBody, WriteVariable, writtenBody } from './schemas.ts';
import { WRITE_SCOPE, type WriteService } from './writes.ts';

const ReadInput = Type.Object(
  {
    device_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' })),
    variable: Type.Optional(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' })),
  },
  { additionalProperties: false },
);
const { approval_id: _, ...written } = WriteVariable.properties;
const WriteInput = Type.Object(written, { additionalProperties: false });

export class IotTools {
  readonly #devices: DeviceService;
  readonly #tools: readonly Tool[];

  constructor(devices: DeviceService, writes: WriteService) {
    this.#devices = devices;
    this.#tools = [readTool(devices), writeTool(writes)];
  }

  /** None for a tenant without devices. */
  async of(caller: Principal): Promise<readonly Tool[]> {
    return (await this.#devices.list(caller)).length === 0 ? [] : this.#tools;
  }
}

function readTool(service: DeviceService): Tool {
  return defineTool({
    name: 'iot.read',
    description:
      'Read a variable of a device, with its unit, time and quality. Only `good` is certain now. Without `device_id` it lists devices and variables.',
    input: ReadInput,
    effect: 'read',
    scope: 'iot:read',
    maxSeconds: 60,
    // Texts of devices and their names may be anybody's.
    isUntrusted: true,
    run: async ({ caller, isOwnRoute, arguments: { device_id: id, variable } }) => {
      if (id !== undefined && variable !== undefined)
        return readingBody(await service.read({ caller, isOwnRoute }, id, variable));
      const devices = id === undefined ? await service.list(caller) : [await service.get(caller, id)];
      return {
        devices: devices
          .map((device) => ({
            device_id: device.id,
            name: device.name,
            variables: device.variables.filter((one) => isShown(one, { isOwnRoute })).map(variableBody),
          }))
          .filter(({ variables }) => variables.length > 0),
      };
    },
  });
}

function writeTool(writes: WriteService): Tool {
  return defineTool({
    name: 'iot.write',
    description:
      'Write a variable of a device, once, and read it back. `verified` says whether the device has the value. Do not repeat a write whose outcome is unknown.',
    input: WriteInput,
    effect: 'external',
    scope: WRITE_SCOPE,
    maxSeconds: 60,
    isUntrusted: true,
    about: ['device_id', 'variable'],
    asks: ({ caller, isOwnRoute, arguments: request }) => writes.approvalRule({ caller, isOwnRoute }, request),
    run: async ({ caller, isOwnRoute, approved, arguments: request }, signal) =>
      writtenBody(await writes.write({ caller, isOwnRoute }, request, approved, signal)),
  });
}

function isShown({ exposed = false }: Variable, { isOwnRoute }: Pick<CallBy, 'isOwnRoute'>): boolean {
  return isOwnRoute || exposed;
}

function variableBody(variable: Variable) {
  const { name, unit, type, access, min, max, step, approval } = variable;
  return { name, unit, type, access, min, max, step, approval, readable: isReadable(variable) };
}
