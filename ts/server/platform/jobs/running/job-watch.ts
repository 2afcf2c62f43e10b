/** Looks into the database for what other nodes did: cancellations of jobs that run here, and changes of followed jobs that do not. */
import { systemScope } from '../../storage/index.ts';
import type { JobFollowers } from '../job-followers.ts';
import type { ClaimStore } from '../store/claim-store.ts';
import type { JobStore } from '../store/job-store.ts';
import { toJob } from '../store/job-tables.ts';
import type { JobScheduler } from './job-scheduler.ts';

export class JobWatch {
  readonly #store: JobStore;
  readonly #claims: ClaimStore;
  readonly #followers: JobFollowers;

  constructor(store: JobStore, claims: ClaimStore, followers: JobFollowers) {
    this.#store = store;
    this.#claims = claims;
    this.#followers = followers;
  }

  async look(runner: string, scheduler: JobScheduler): Promise<void> {
    if (scheduler.running > 0) {
      const held = await this.#claims.listHeld(runner);
      for (const { id, cancel_requested } of held) if (cancel_requested === 1) scheduler.find(id)?.interrupt('cancelled');
    }
    const elsewhere = this.#followers.ids.filter((id) => scheduler.find(id) === undefined);
    if (elsewhere.length === 0) return;
    for (const row of await this.#store.findAll(systemScope(), elsewhere)) {
      // It may have been claimed here meanwhile: its run then says what is newer.
      if (scheduler.find(row.id) === undefined) this.#followers.publish(toJob(row));
    }
  }
}
