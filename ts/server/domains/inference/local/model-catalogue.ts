/** The local models as cards: what is on disk, what inspection says of it, and whether it is in memory. */
import type { MemoryPlan } from '../../../native/llama-shapes.ts';
import type { ModelCapabilities, ModelCard } from '../backend.ts';
import { inferenceError } from '../errors.ts';
import type { ModelSource, StoredModel } from '../models/model-source.ts';
import { findModel } from '../models/selection.ts';
import type { Abilities } from '../probe/abilities.ts';
import type { InspectionPlan } from './inspection/inspection-process.ts';
import type { InspectionResult } from './inspection/inspection-result.ts';
import type { InspectionLane, Inspector } from './inspection/inspector.ts';
import type { ModelEntry } from './model-entry.ts';
import type { ModelRegistry } from './model-registry.ts';

type PlanOf = (stored: StoredModel) => InspectionPlan;

interface Row {
  stored: StoredModel;
  /** Undefined while the file is being inspected. */
  result: InspectionResult | undefined;
  abilities: Abilities | undefined;
  inspect: (lane: InspectionLane) => Promise<InspectionResult>;
}

/** The known abilities of models, by their files. */
export interface ProbedAbilities {
  find(stored: StoredModel): Abilities | undefined;
  /** SHA-256 of the file, which is read once. */
  hashOf(stored: StoredModel, signal: AbortSignal): Promise<string>;
}

/** A model as the backend needs it to run it. */
export interface FoundModel {
  stored: StoredModel;
  card: ModelCard;
  /** The memory that inspection predicts; undefined where it could not tell. */
  plan: MemoryPlan | undefined;
}

/** Requests within this time share one look at the disk. */
const freshMs = 1000;

export class ModelCatalogue {
  readonly #source: ModelSource;
  readonly #inspector: Inspector;
  readonly #registry: ModelRegistry;
  /** Without an engine nothing can be inspected, and the files' own kinds must do. */
  readonly #canInspect: () => boolean;
  readonly #planOf: PlanOf;
  readonly #announce: ((stored: StoredModel) => void) | undefined;
  readonly #probed: ProbedAbilities | undefined;
  /** The row that each card was made of. Cards themselves hold no path, since they reach clients. */
  readonly #rowOf = new WeakMap<ModelCard, Row>();
  #rows: Promise<Row[]> | undefined;
  #readAt = 0;

  constructor(
    source: ModelSource,
    inspector: Inspector,
    registry: ModelRegistry,
    canInspect: () => boolean,
    planOf: PlanOf,
    announce?: (stored: StoredModel) => void,
    probed?: ProbedAbilities,
  ) {
    this.#source = source;
    this.#inspector = inspector;
    this.#registry = registry;
    this.#canInspect = canInspect;
    this.#planOf = planOf;
    this.#announce = announce;
    this.#probed = probed;
  }

  /**
   * Files that are being inspected are listed as such. Only the model that is asked for is waited for, and all of them where the caller
   * asks for one that is not there and nothing else can answer yet.
   */
  async cards(asked?: string): Promise<ModelCard[]> {
    const rows = await this.#read();
    if (asked !== undefined) await Promise.all(neededRows(rows, asked).map((row) => row.inspect('request')));
    return rows.map((row) => this.#card(row));
  }

  /** Looks at one model alone when nobody listed them lately: the first start must not wait for the inspection of all. */
  async find(id: string): Promise<FoundModel | undefined> {
    const row = await this.#find(id);
    await row?.inspect('request');
    return row && foundModel(row, this.#card(row));
  }

  /** Takes its place behind other files that nobody waits for. */
  async inspect(id: string): Promise<InspectionResult | undefined> {
    return (await this.#find(id))?.inspect('background');
  }

  /** The model of a card that this catalogue made. Throws model_not_found for any other. */
  get(card: ModelCard): FoundModel {
    const row = this.#rowOf.get(card);
    if (row) return foundModel(row, card);
    throw inferenceError('model_not_found', `No model ${card.id} is installed here.`, { param: 'model' });
  }

  /** The next call looks at the disk again. */
  forget(): void {
    this.#rows = undefined;
  }

  async #find(id: string): Promise<Row | undefined> {
    return this.#isFresh() ? (await this.#read()).find(({ stored }) => stored.id === id) : await this.#readOne(id);
  }

  async #readOne(id: string): Promise<Row | undefined> {
    const stored = await this.#source.find(id);
    return stored && this.#row(stored);
  }

  #isFresh(): boolean {
    return this.#rows !== undefined && Date.now() - this.#readAt <= freshMs;
  }

  #read(): Promise<Row[]> {
    if (this.#rows && this.#isFresh()) return this.#rows;
    this.#readAt = Date.now();
    const rows = this.#list();
    this.#rows = rows;
    rows.catch(() => {
      if (this.#rows === rows) this.#rows = undefined;
    });
    return rows;
  }

  async #list(): Promise<Row[]> {
    const models = await this.#source.list();
    return Promise.all(models.map((stored) => this.#row(stored)));
  }

  async #row(stored: StoredModel): Promise<Row> {
    const plan = this.#planOf(stored);
    const abilities = this.#probed?.find(stored);
    const result = this.#canInspect() ? await this.#inspector.find(stored.path, plan) : assumedResult;
    if (result) return { stored, result, abilities, inspect: () => Promise.resolve(result) };
    const inspect = async (lane: InspectionLane) => {
      row.result = await this.#inspector.inspect(stored.path, plan, lane).catch(failedInspection);
      return row.result;
    };
    const row: Row = { stored, result, abilities, inspect };
    if (this.#announce) this.#announce(stored);
    else void inspect('background');
    return row;
  }

  #card(row: Row): ModelCard {
    const { stored, abilities, result: inspected } = row;
    const entry = this.#registry.entry(stored.id);
    const known: InspectionResult | undefined = entry?.model ? { ...entry.model.native.info, usable: true } : inspected;
    const result = known ?? assumedResult;
    const { path: _path, sha256: _sha256, projectorPath: _projectorPath, projector: _projector, ...facts } = stored;
    const card: ModelCard = {
      ...facts,
      capabilities: capabilitiesOf(stored, result),
      ownedBy: 'local',
      state: known === undefined ? 'inspecting' : result.usable ? (entry?.state ?? 'unloaded') : 'unusable',
      isPinned: this.#registry.isPinned(stored.id),
      ...requestContext(stored, entry, inspected),
      ...(abilities && { abilities }),
      ...(result.usable && notationOf(result)),
      ...(result.usable ? {} : { unusable: result.reason }),
    };
    this.#rowOf.set(card, row);
    return card;
  }
}

/** Takes it from the open context, or else from what inspection planned. */
function requestContext(
  stored: StoredModel,
  entry: Pick<ModelEntry, 'model'> | undefined,
  inspected: InspectionResult | undefined,
): Pick<ModelCard, 'nCtxRequest'> {
  const isChat = stored.kind === 'chat';
  const open = isChat ? entry?.model?.openEngine : entry?.model?.openEmbedder;
  const plan = inspected?.usable ? inspected.memory : undefined;
  const nCtxRequest = open?.limits.nCtxPerJob ?? (isChat ? plan?.nEngineCtx : plan?.nEmbedderCtx);
  return nCtxRequest === undefined || stored.kind === 'vocab' ? {} : { nCtxRequest };
}

function neededRows(rows: readonly Row[], asked: string): Row[] {
  const named = findModel(
    rows.map((row) => ({ card: row.stored, row })),
    asked,
  );
  if (named) return [named.row];
  return rows.some(({ stored, result }) => stored.kind === 'chat' && result?.usable) ? [] : [...rows];
}

/** The program could not be started, which the next look at the file tries again. */
function failedInspection(error: unknown): InspectionResult {
  return { usable: false, reason: `The file could not be inspected: ${String(error)}`, isDeath: true };
}

function foundModel({ stored, result }: Row, card: ModelCard): FoundModel {
  return { stored, card, plan: result?.usable ? result.memory : undefined };
}

const assumedResult: InspectionResult = {
  usable: true,
  hasChatTemplate: true,
  supportsTools: false,
  supportsThinking: false,
};

function notationOf({ callArguments = 'json' }: InspectionResult & { usable: true }): Pick<ModelCard, 'callNotation'> {
  return callArguments === 'json' ? {} : { callNotation: callArguments };
}

function capabilitiesOf(stored: StoredModel, result: InspectionResult): ModelCapabilities {
  const usable = result.usable;
  const writes = usable && stored.kind === 'chat';
  // The file tells before it is inspected.
  const chat = writes && result.hasChatTemplate && !stored.isBase;
  return {
    chat,
    completion: writes && !chat,
    tools: chat && result.supportsTools,
    vision: chat && stored.projectorPath !== undefined && stored.projector?.imagePixels !== 0,
    audio: chat && stored.projector?.hears === true,
    thinking: chat && result.supportsThinking,
    embeddings: usable && stored.kind === 'embedding',
    rerank: usable && stored.kind === 'rerank',
  };
}
