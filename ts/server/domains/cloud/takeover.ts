/** Backends of nodes that are lost: another node of the same database takes them over, with their routes and prices. */
import { cloudError } from './errors.ts';
import type { ListedModel } from './kinds/kind.ts';
import { type BackendRegistry, headerContext, keyContext } from './registry/backend-registry.ts';
import type { BackendOptions } from './registry/live-backend.ts';
import { offeredModels } from './registry/model-filter.ts';
import type { BackendRow, CloudStore, Secrets } from './store.ts';

/** The nodes of the cluster, as the module cluster knows them. */
export interface NodesOfDatabase {
  /** Whether a node of that id works on the database of this one. */
  usesDatabase(node: string): Promise<boolean>;
}

interface TakeoverDeps {
  readonly store: CloudStore;
  readonly registry: BackendRegistry;
  readonly checker: { checkSoon(id: string): void };
  nodeId(): string;
  nodes(): NodesOfDatabase | undefined;
  loadPrices(): Promise<void>;
}

export class Takeover {
  readonly #deps: TakeoverDeps;

  constructor(deps: TakeoverDeps) {
    this.#deps = deps;
  }

  /** Lists the backends that other nodes have registered, in the order of the ids. */
  async list() {
    const rows = (await this.#deps.store.backends()).filter(({ node }) => node !== this.#deps.nodeId());
    const lost = new Map<string, boolean>();
    for (const { node } of rows) if (!lost.has(node)) lost.set(node, !(await this.#isUsed(node)));
    return rows.map(({ id, node, kind, base_url, ...row }) => ({
      id,
      node,
      node_is_lost: lost.get(node) === true,
      kind,
      base_url,
      models: modelsOf(row),
    }));
  }

  /**
   * The backends of the node are this one's from now on. Those of a name that this node has are deleted, as are their keys. A key stays where this node
   * can open it, as a promoted standby can; any other has to be given again. Throws `node_is_running`, `backend_not_found`.
   */
  async take(node: string): Promise<{ taken: string[]; deleted: string[] }> {
    const { store, registry, checker, nodeId } = this.#deps;
    if (await this.#isUsed(node))
      throw cloudError('node_is_running', `The node ${node} works on the database of this one, and has its backends itself.`);
    const rows = await store.backends();
    const here = new Set(rows.filter((row) => row.node === nodeId()).map(({ id }) => id));
    const theirs = rows.filter((row) => row.node === node);
    if (theirs.length === 0) throw cloudError('backend_not_found', `No backend of a node ${node} is known.`);
    const taken = theirs.filter(({ id }) => !here.has(id) && !registry.isOwn(id));
    await store.take(node, await Promise.all(taken.map((row) => this.#openable(row))));
    await Promise.all([registry.reload(), this.#deps.loadPrices()]);
    for (const { id } of taken) checker.checkSoon(id);
    return {
      taken: taken.map(({ id }) => id),
      deleted: theirs.filter((row) => !taken.includes(row)).map(({ id }) => id),
    };
  }

  async #isUsed(node: string): Promise<boolean> {
    return node === this.#deps.nodeId() || (await this.#deps.nodes()?.usesDatabase(node)) === true;
  }

  /** The secrets of the row that were sealed with the key of this node. */
  async #openable({ id, base_url: url, sealed_key: key, sealed_headers: headers }: BackendRow): Promise<Secrets> {
    const sealed = Object.entries(JSON.parse(headers) as Record<string, string>);
    if (key === null && sealed.length === 0) return { id, sealed_key: key, sealed_headers: headers };
    const sealing = await this.#deps.registry.sealingKey().catch(() => undefined);
    const opens = (text: string, context: string): boolean => {
      try {
        return sealing?.unseal(text, context) !== undefined;
      } catch {
        return false;
      }
    };
    const kept = sealed.filter(([name, value]) => opens(value, headerContext(id, url, name)));
    return {
      id,
      sealed_key: key !== null && opens(key, keyContext(id, url)) ? key : null,
      sealed_headers: JSON.stringify(Object.fromEntries(kept)),
    };
  }
}

function modelsOf({ options, models }: Pick<BackendRow, 'options' | 'models'>): string[] {
  const { modelFilter } = JSON.parse(options) as BackendOptions;
  return [...offeredModels(modelFilter, models === null ? [] : (JSON.parse(models) as ListedModel[])).keys()];
}
