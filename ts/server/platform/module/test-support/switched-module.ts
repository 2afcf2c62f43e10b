/** A module of a lower tier that a test switches on and off. */
import { DomainError } from '../../errors/domain-error.ts';
import type { Route } from '../../http/route.ts';
import type { OptionalModule } from '../module-context.ts';

export class SwitchedModule<Api> implements OptionalModule<Api> {
  readonly #offCode: string;
  #api: Api | undefined;

  /** @param offCode what `api` throws while the module is off, as it is at first. */
  constructor(offCode: string, api?: Api) {
    this.#offCode = offCode;
    this.#api = api;
  }

  switch(api: Api | undefined): void {
    this.#api = api;
  }

  get isRunning(): boolean {
    return this.#api !== undefined;
  }

  get api(): Api {
    if (this.#api === undefined) throw new DomainError(this.#offCode, 'It is switched off.', { retryAfterMs: 30_000 });
    return this.#api;
  }

  guard(routes: readonly Route[]): Route[] {
    return [...routes];
  }
}
