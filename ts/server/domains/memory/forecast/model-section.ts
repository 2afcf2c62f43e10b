/** World models as the section of a memory file: a length, JSON, and the weights as 32-bit floats, one network after the other. Pure. */
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { isShape, type WorldModel } from './world-model.ts';

/** The model of one series. */
export interface SeriesModel {
  readonly series: string;
  readonly model: WorldModel;
}

const Numbers = Type.Array(Type.Number(), { maxItems: 1_000 });
const Rows = Type.Array(Numbers, { maxItems: 1_000 });
const Count = Type.Integer({ minimum: 1, maximum: 1_024 });
const Section = Type.Array(
  Type.Object({
    series: Type.String({ minLength: 1, maxLength: 200 }),
    method: Type.Enum(['naive', 'seasonal_naive_day', 'seasonal_naive_week', 'exponential_smoothing', 'xlstm']),
    stepMs: Type.Integer({ minimum: 1 }),
    nTraining: Type.Integer({ minimum: 1 }),
    scores: Type.Record(Type.String(), Type.Number()),
    stepScores: Type.Optional(Numbers),
    errors: Rows,
    network: Type.Optional(
      Type.Object({
        shape: Type.Object({ nInputs: Count, nHidden: Count, nOutputs: Count }),
        shares: Rows,
        mean: Type.Number(),
        scale: Type.Number(),
        trust: Type.Number(),
        nWeights: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
      }),
    ),
  }),
  { maxItems: 1_000 },
);
const isSection = compileLazily(Section);

export function modelSection(models: readonly SeriesModel[]): Uint8Array {
  const weights = models.flatMap(({ model: { network } }) => (network === undefined ? [] : [Float32Array.from(network.weights)]));
  const facts = models.map(({ series, model: { network, ...model } }) => {
    if (network === undefined) return { series, ...model };
    const { weights: own, ...rest } = network;
    return { series, ...model, network: { ...rest, nWeights: own.length } };
  });
  const json = new TextEncoder().encode(JSON.stringify(facts));
  const bytes = new Uint8Array(4 + json.length + weights.reduce((sum, each) => sum + each.byteLength, 0));
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  let at = 4 + json.length;
  for (const each of weights) {
    bytes.set(new Uint8Array(each.buffer), at);
    at += each.byteLength;
  }
  return bytes;
}

/** Undefined: the bytes are no such section. */
export function readModelSection(bytes: Uint8Array): SeriesModel[] | undefined {
  const nJson = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + nJson > bytes.length) return undefined;
  const facts = parsed(bytes.subarray(4, 4 + nJson));
  if (facts === undefined) return undefined;
  let at = 4 + nJson;
  const models: SeriesModel[] = [];
  for (const { series, network, ...model } of facts) {
    const nBytes = 4 * (network?.nWeights ?? 0);
    if (at + nBytes > bytes.length) return undefined;
    const weights = Float64Array.from(new Float32Array(bytes.slice(at, at + nBytes).buffer));
    at += nBytes;
    if (network !== undefined && !(isShape(network.shape, weights) && weights.every(Number.isFinite))) return undefined;
    const { nWeights: _, ...rest } = network ?? { nWeights: 0 };
    models.push({
      series,
      model: { ...model, ...(network && { network: { ...(rest as Omit<typeof network, 'nWeights'>), weights } }) },
    });
  }
  return at === bytes.length ? models : undefined;
}

function parsed(bytes: Uint8Array): Static<typeof Section> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isSection.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
