/** Metering without quotas and without a database, for tests of what is answered. */
import type { MeteringApi, RequestMeter } from '../../metering/index.ts';
import { UsageRecorder, type WorkMeter } from '../usage/usage-recorder.ts';

export function plainMeter(): WorkMeter {
  return { refusal: undefined, onChange: () => {}, started: () => {}, covers: () => true, end: async () => {} };
}

export const unmetered: MeteringApi = { begin: async () => plainMeter() as RequestMeter };

/** Counts nothing, and asks the meter. */
export function recorderOf(meter: WorkMeter): UsageRecorder {
  const recorder = new UsageRecorder({ firstToken: () => {}, interToken: () => {}, completed: () => {}, failed: () => {} });
  recorder.meterWith(meter);
  return recorder;
}
