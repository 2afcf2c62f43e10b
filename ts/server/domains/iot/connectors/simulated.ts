/** Devices that are not there: values that stand, or swing about where they were set. */
import { type Connection, isReadable, type ReadSpec, type Value, type Variable } from '../profile.ts';
import type { Connector, ConnectorDeps } from './connector.ts';

const DEFAULT_POLL_SECONDS = 1;
const DEFAULT_PERIOD_SECONDS = 60;

export function simulated({ device, now, onReading }: ConnectorDeps): Connector {
  const { poll_seconds: pollSeconds = DEFAULT_POLL_SECONDS } = device.connection as Connection<'simulated'>;
  const values = new Map<string, Value>(device.variables.map((variable) => [variable.name, startOf(variable)]));
  return {
    pollMs: pollSeconds * 1000,
    open: () => {},
    close: async () => {},
    poll: async (variables) => {
      for (const variable of variables.filter(isReadable))
        onReading(variable.name, { raw: swung(variable, values.get(variable.name) as Value, now()), at: now() });
    },
    write: async ({ name }, value) => void values.set(name, value),
  };
}

function startOf({ type, min, read }: Variable): Value {
  const { start } = (read ?? {}) as ReadSpec<'simulated'>;
  if (start !== undefined) return start;
  if (type === 'boolean') return false;
  return type === 'text' ? '' : Math.max(0, min ?? 0);
}

function swung({ type, read }: Variable, value: Value, now: number): Value {
  const { amplitude = 0, period_seconds: seconds = DEFAULT_PERIOD_SECONDS } = (read ?? {}) as ReadSpec<'simulated'>;
  if (typeof value !== 'number' || amplitude === 0) return value;
  const swing = value + amplitude * Math.sin((2 * Math.PI * now) / (seconds * 1000));
  return type === 'integer' ? Math.round(swing) : swing;
}
