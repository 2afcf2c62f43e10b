/**
 * Checks what another node says of itself before anything is made of it: a node that lies, or is of a later version, must not stop this one. A model that this
 * one does not understand is left out, and so is all beyond what one node may have.
 */
import Type from 'typebox';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { Abilities } from '../../inference/index.ts';
import { type NodeReport, type ReportedCard, readLoad, type StateReport, writtenLoad } from './work.ts';

const MOST_MODELS = 1_000;
const Name = Type.String({ minLength: 1, maxLength: 512 });
const Text = Type.String({ maxLength: 2_000 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Unix milliseconds that a Date has. */
const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });
const Price = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const FLAGS = ['chat', 'completion', 'tools', 'vision', 'audio', 'thinking', 'embeddings', 'rerank'];
/** Cards of providers leave out what they do not speak of. */
const Flags = Type.Object(Object.fromEntries(FLAGS.map((name) => [name, Type.Optional(Type.Boolean())])));
const Reason = Type.Object({
  code: Type.Enum(['provider_rejected', 'unreachable', 'rate_limited']),
  status: Type.Optional(Count),
  since: Text,
  detail: Text,
});

const Card = Type.Object({
  id: Name,
  kind: Type.Enum(['chat', 'embedding', 'rerank', 'vocab']),
  architecture: Type.Optional(Text),
  family: Text,
  capabilities: Flags,
  nCtxTrain: Type.Optional(Count),
  nCtxRequest: Type.Optional(Count),
  sizeBytes: Type.Optional(Count),
  nParams: Type.Optional(Count),
  quantisation: Type.Optional(Text),
  title: Type.Optional(Text),
  license: Type.Optional(Text),
  createdAt: Count,
  ownedBy: Text,
  demonstration: Type.Optional(Text),
  abilities: Type.Optional(Abilities),
  state: Type.Enum(['unloaded', 'loading', 'loaded', 'unloading', 'remote']),
  callNotation: Type.Optional(Type.Enum(['tagged', 'free'])),
  isPinned: Type.Optional(Type.Boolean()),
  backend: Type.Optional(Name),
  servingState: Type.Optional(Type.Enum(['ok', 'checking', 'backend_unhealthy', 'disabled'])),
  servingReason: Type.Optional(Reason),
  prices: Type.Optional(Type.Record(Name, Text, { maxProperties: 20 })),
  costs: Type.Optional(Type.Tuple([Price, Price])),
  tenants: Type.Optional(Type.Array(Name, { maxItems: 10_000 })),
});
const isCard = compileLazily(Card);
const isPrimary = compileLazily(Type.Object({ commit: Count, epoch: Count, promotions: Count }));
const isReplica = compileLazily(
  Type.Object({ id: Name, commit: Count, syncedAt: Time, primaryCommit: Count, roles: Type.Array(Name, { maxItems: 20 }) }),
);

/** Throws for what is no report at all. */
export function checkReport(said: Partial<Record<keyof NodeReport, unknown>> | null): NodeReport {
  const { id, cards, load, prefixes, primary, replica } = said ?? {};
  if (typeof id !== 'string' || !Array.isArray(cards)) throw new Error('what answers there is no node');
  return {
    id,
    cards: cards.slice(0, MOST_MODELS).flatMap((card) => (isCard.Check(card) ? [knownMembers(card)] : [])),
    load: loadOf(load),
    prefixes: prefixes instanceof Int32Array ? prefixes : new Int32Array(),
    ...stateOf(primary, replica),
  };
}

function knownMembers(card: object): ReportedCard {
  const known = Object.entries(card).filter(([name]) => Object.hasOwn(Card.properties, name));
  return Object.fromEntries(known) as unknown as ReportedCard;
}

function loadOf(load: unknown): NodeReport['load'] {
  const idle = { nRunning: 0, nQueuedTokens: 0, tokensPerSecond: 0 };
  return readLoad(writtenLoad({ ...idle, ...(load as object) })) ?? idle;
}

function stateOf(primary: unknown, replica: unknown): StateReport {
  return { ...(isPrimary.Check(primary) && { primary }), ...(isReplica.Check(replica) && { replica }) };
}
