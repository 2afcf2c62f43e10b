/** A codebook and its model as the section `slots` of a memory file: a length, JSON, then the centroids and the weights as 32-bit floats. Pure. */
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { type Codebook, MOST_SLOTS } from './codebook.ts';
import { SLOT_METHODS, type SlotModel } from './slot-model.ts';
import { countWeights } from './xlstm.ts';

interface Slots {
  readonly codebook: Codebook;
  readonly model: SlotModel;
}

const Slot = Type.Integer({ minimum: 0, maximum: MOST_SLOTS - 1 });
const Facts = Type.Object({
  dimensions: Type.Integer({ minimum: 1, maximum: 16_384 }),
  sizes: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 2, maxItems: MOST_SLOTS }),
  sequence: Type.Array(Slot, { maxItems: 1_000_000 }),
  method: Type.Enum([...SLOT_METHODS]),
  scores: Type.Record(Type.String(), Type.Number()),
  nHidden: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
});
const areFacts = compileLazily(Facts);

export function slotSection({ codebook, model }: Slots): Uint8Array {
  const { dimensions, centroids, sizes, sequence } = codebook;
  const { method, scores, network } = model;
  const facts: Static<typeof Facts> = {
    dimensions,
    sizes: [...sizes],
    sequence: [...sequence],
    method,
    scores: { ...scores },
    ...(network && { nHidden: network.shape.nHidden }),
  };
  const json = new TextEncoder().encode(JSON.stringify(facts));
  const floats = Float32Array.from([...centroids, ...(network?.weights ?? [])]);
  const bytes = new Uint8Array(4 + json.length + floats.byteLength);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  bytes.set(new Uint8Array(floats.buffer), 4 + json.length);
  return bytes;
}

/** Undefined: the bytes are no such section. */
export function readSlotSection(bytes: Uint8Array): Slots | undefined {
  const nJson = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + nJson > bytes.length || (bytes.length - 4 - nJson) % 4 !== 0) return undefined;
  const facts = parsed(bytes.subarray(4, 4 + nJson));
  if (facts === undefined) return undefined;
  const { dimensions, sizes, sequence, method, scores, nHidden } = facts;
  const nSlots = sizes.length;
  if (sequence.some((slot) => slot >= nSlots) || (method === 'xlstm') !== (nHidden !== undefined)) return undefined;
  const floats = new Float32Array(bytes.slice(4 + nJson).buffer);
  const shape = nHidden === undefined ? undefined : { nInputs: nSlots, nHidden, nOutputs: nSlots };
  const nCentroids = nSlots * dimensions;
  const nWeights = shape === undefined ? 0 : countWeights(shape);
  if (floats.length !== nCentroids + nWeights || !floats.every(Number.isFinite)) return undefined;
  const network = shape && { shape, weights: Float64Array.from(floats.subarray(nCentroids)) };
  return {
    codebook: { dimensions, centroids: floats.slice(0, nCentroids), sizes, sequence },
    model: { method, scores, nSlots, network },
  };
}

function parsed(bytes: Uint8Array): Static<typeof Facts> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return areFacts.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
