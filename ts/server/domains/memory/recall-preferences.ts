/** Whether chats of an account recall memories by themselves: asked for each chat, and so remembered for a while. */
import type { TenantScope } from '../../platform/storage/index.ts';
import type { MemoryStore } from './store.ts';

/** Another node may have changed it. */
const MAX_AGE_MS = 10_000;
const MOST_KNOWN = 10_000;

export class RecallPreferences {
  readonly #store: Pick<MemoryStore, 'recallsByItself' | 'setRecall'>;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly isOn: boolean; readonly at: number }>();

  constructor(store: Pick<MemoryStore, 'recallsByItself' | 'setRecall'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async recalls(scope: TenantScope, owner: string): Promise<boolean> {
    const key = `${scope.tenant} ${owner}`;
    const known = this.#known.get(key);
    if (known !== undefined && this.#now() - known.at < MAX_AGE_MS) return known.isOn;
    const isOn = await this.#store.recallsByItself(scope, owner);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, { isOn, at: this.#now() });
    return isOn;
  }

  async set(scope: TenantScope, owner: string, isOn: boolean): Promise<void> {
    await this.#store.setRecall(scope, owner, isOn);
    this.#known.set(`${scope.tenant} ${owner}`, { isOn, at: this.#now() });
  }
}
