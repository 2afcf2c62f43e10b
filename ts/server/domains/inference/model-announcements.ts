/** Records in the outbox which models came into memory and left it. */
import type { Events, EventType } from '../../platform/events/index.ts';
import type { Log } from '../../platform/log/log.ts';
import { modelLoaded, modelUnloaded } from './events.ts';

export class ModelAnnouncements {
  readonly #events: Events;
  readonly #log: Log;
  readonly #databaseOpen: Promise<void>;
  readonly #loaded = new Set<string>();

  /** Nothing is told before there is a database. */
  constructor(events: Events, log: Log, databaseOpen: Promise<void> = Promise.resolve()) {
    this.#events = events;
    this.#log = log;
    this.#databaseOpen = databaseOpen;
  }

  loaded(model: string): void {
    this.#loaded.add(model);
    this.#tell(modelLoaded, model);
  }

  /** Also called for a load that failed, of which there is nothing to tell. */
  unloaded(model: string): void {
    if (this.#loaded.delete(model)) this.#tell(modelUnloaded, model);
  }

  /** No load waits for the database, and none fails with it. */
  #tell(type: EventType, model: string): void {
    this.#databaseOpen
      .then(() => this.#events.sendOfNode(type, { model }))
      .catch((error: unknown) => {
        this.#log.warn('what became of a model was not told', { model, event: type.name, error: String(error) });
      });
  }
}
