/** The sections `router` of a memory file hold what was learned of routes, one of models and one of knowledge bases. They are JSON, without texts. Pure. */
import Type, { type Static } from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { isShape } from '../forecast/world-model.ts';
import type { RouteNetwork, RouteShares } from './route-network.ts';
import type { RouteKind } from './route-store.ts';

export interface LearnedRoutes {
  readonly learnedAt: number;
  readonly threshold: number;
  /** Undefined: there was too little to learn from. */
  readonly network?: RouteNetwork | undefined;
  readonly later?: RouteShares | undefined;
  readonly random?: RouteShares | undefined;
  /** The means are of vectors that this model makes; of models alone. */
  readonly embedding?: { readonly model: string; readonly source: 'local' | 'remote'; readonly prefixes: string } | undefined;
  /** The mean direction of what each model was asked and answered well. */
  readonly means?: Readonly<Record<string, readonly number[]>> | undefined;
}

const Shares = Type.Object({ learned: Type.Number(), floor: Type.Number() });
const Count = Type.Integer({ minimum: 1, maximum: 64 });
const Section = Type.Object({
  learnedAt: Type.Number(),
  threshold: Type.Number({ minimum: 0, maximum: 1 }),
  network: Type.Optional(
    Type.Object({
      shape: Type.Object({ nInputs: Type.Literal(5), nHidden: Count, nOutputs: Type.Literal(1) }),
      weights: Type.Array(Type.Number(), { maxItems: 100_000 }),
    }),
  ),
  later: Type.Optional(Shares),
  random: Type.Optional(Shares),
  embedding: Type.Optional(
    Type.Object({ model: Type.String(), source: Type.Enum(['local', 'remote']), prefixes: Type.String() }),
  ),
  means: Type.Optional(Type.Record(Type.String(), Type.Array(Type.Number(), { maxItems: 16_384 }))),
});
const isSection = compileLazily(Section);
const MAX_BYTES = 16 * 2 ** 20;

export function routeSection(kind: RouteKind, { network, ...learned }: LearnedRoutes) {
  const plain = { ...learned, ...(network && { network: { shape: network.shape, weights: [...network.weights] } }) };
  return { kind: 'router', name: kind, bytes: new TextEncoder().encode(JSON.stringify(plain)) } as const;
}

/** Undefined: the bytes are no such section. */
export function readRouteSection(bytes: Uint8Array): LearnedRoutes | undefined {
  const value = bytes.length > MAX_BYTES ? undefined : parsed(bytes);
  if (value === undefined) return undefined;
  const { network: plain, ...learned } = value;
  if (plain === undefined) return learned;
  const network = { shape: plain.shape, weights: Float64Array.from(plain.weights) };
  return isShape(network.shape, network.weights) ? { ...learned, network } : undefined;
}

function parsed(bytes: Uint8Array): Static<typeof Section> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isSection.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
