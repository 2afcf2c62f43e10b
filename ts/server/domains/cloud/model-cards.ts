/** Cards of the models that providers have. There may be hundreds: each is made once, and again only when something of it has changed. */
import type { InferenceBackend, ModelCard } from '../inference/index.ts';
import { type ListedModel, NO_TOKENS } from './kinds/kind.ts';
import type { Price } from './prices/price.ts';
import type { Prices } from './prices/prices.ts';
import type { BackendRegistry } from './registry/backend-registry.ts';
import type { LiveBackend } from './registry/live-backend.ts';
import type { Target } from './routing/target.ts';

interface KeptCard {
  readonly card: ModelCard;
  readonly first: Target;
  readonly reason: LiveBackend['reason'];
  readonly price: Price | undefined;
}

export class ModelCards implements Pick<InferenceBackend, 'models'> {
  readonly #registry: BackendRegistry;
  readonly #prices: Prices;
  /** Targets are others as soon as something else is offered. */
  readonly #kept = new WeakMap<readonly Target[], KeptCard>();

  constructor(registry: BackendRegistry, prices: Prices) {
    this.#registry = registry;
    this.#prices = prices;
  }

  /** All of them, where none is named exactly: the choice among them is inference's. */
  async models(asked?: string): Promise<ModelCard[]> {
    const names = this.#registry.names();
    const found = asked === undefined ? undefined : names.get(asked);
    const offered = asked === undefined || found === undefined ? [...names] : [[asked, found] as const];
    return offered.flatMap(([name, targets]) => this.#card(name, targets) ?? []);
  }

  /** Undefined: no backend of this node has it. */
  #card(name: string, targets: readonly Target[]): ModelCard | undefined {
    const first = targets.length > 1 ? (targets.find(({ backend }) => backend.isReady) ?? targets[0]) : targets[0];
    if (first === undefined) return undefined;
    const { reason, facts } = first.backend;
    const servingState = stateOf(targets);
    const price = this.#prices.of(first.model, facts.options.prices);
    const kept = this.#kept.get(targets);
    const isSame = kept?.first === first && kept.reason === reason && kept.price === price;
    if (isSame && kept.card.servingState === servingState) return kept.card;
    const card = {
      ...this.#factsOf(name, first),
      ...tenantsOf(targets),
      servingState,
      ...(servingState !== 'ok' && reason !== undefined && { servingReason: reason }),
      ...(price !== undefined && { prices: { ...price } }),
    };
    this.#kept.set(targets, { card, first, reason, price });
    return card;
  }

  #factsOf(name: string, { backend, model }: Target): ModelCard {
    const { offered, facts } = backend;
    const listed = offered.get(name) ?? offered.get(model) ?? { id: model };
    const capabilities = capabilitiesOf(listed);
    return {
      id: name,
      kind: capabilities.embeddings ? 'embedding' : capabilities.rerank ? 'rerank' : 'chat',
      family: familyOf(model),
      capabilities,
      ...(listed.contextLength !== undefined && { nCtxTrain: listed.contextLength }),
      createdAt: Math.floor(facts.createdAt / 1000),
      ownedBy: facts.kind,
      state: 'remote',
      backend: backend.id,
      // What is not used yet is an estimate, and may have a fraction.
      costOf: (nPrompt, nCompletion) => {
        const tokens = { ...NO_TOKENS, nPromptTokens: Math.ceil(nPrompt), nCompletionTokens: Math.ceil(nCompletion) };
        return this.#prices.costOf(model, facts.options.prices, tokens).costMicros;
      },
    };
  }
}

function stateOf(targets: readonly Target[]): NonNullable<ModelCard['servingState']> {
  const states = targets.map(({ backend, model }) => backend.state(model));
  return states.includes('ok') ? 'ok' : (states[0] ?? 'checking');
}

/** None: everybody may use it. */
function tenantsOf(targets: readonly Target[]): Pick<ModelCard, 'tenants'> {
  const lists = targets.map(({ backend }) => backend.facts.options.tenants);
  return lists.every((list) => list !== null) ? { tenants: [...new Set(lists.flat())] } : {};
}

/** A provider that does not say what a model can do is believed to be able to do everything, and refuses what it cannot. */
function capabilitiesOf({ id, capabilities }: ListedModel): ModelCard['capabilities'] {
  const names = ['chat', 'tools', 'vision', 'audio', 'thinking', 'embeddings', 'rerank'] as const;
  const has = (name: string): boolean => {
    if (capabilities !== undefined) return capabilities.includes(name);
    if (/rerank/i.test(id)) return name === 'rerank';
    if (/embed|(?:^|[/-])bge-|(?:^|[/-])e5-/i.test(id)) return name === 'embeddings';
    return name !== 'embeddings' && name !== 'rerank';
  };
  return Object.fromEntries(names.map((name) => [name, has(name)])) as unknown as ModelCard['capabilities'];
}

function familyOf(model: string): string {
  return /^[a-z]+/i.exec(model.slice(model.lastIndexOf('/') + 1))?.[0]?.toLowerCase() ?? '';
}
