/** Webhooks as administrators of a tenant handle them. */
import { hasRole, type Principal, scopeOf } from '../../platform/http/principal.ts';
import { type AddressPolicy, UnsafeAddress } from '../../platform/network/address-policy.ts';
import type { Page } from '../../platform/storage/index.ts';
import { newTimeOrderedId } from '../../platform/time-ordered-id.ts';
import { newWebhookSecret } from './delivery/signature.ts';
import { webhookError, webhookNotFound } from './errors.ts';
import { includesNodeEvents } from './event-catalogue.ts';
import type { DeliveryPage, DeliveryStore } from './store/delivery-store.ts';
import type { DeliveryRow, WebhookRow } from './store/tables.ts';
import type { WebhookStore } from './store/webhook-store.ts';

interface NewWebhook {
  url: string;
  events: readonly string[];
  description?: string | undefined;
}

interface WebhookUpdate {
  events?: readonly string[] | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
}

interface WebhookServiceDeps {
  webhooks: WebhookStore;
  deliveries: DeliveryStore;
  policy: AddressPolicy;
  now(): number;
  /** Something may be due. */
  onDue(): void;
}

const MAX_WEBHOOKS = 50;

export class WebhookService {
  readonly #deps: WebhookServiceDeps;

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps;
  }

  async create({ url, events, description = '' }: NewWebhook, caller: Principal): Promise<WebhookRow> {
    requireReach(events, caller);
    const { webhooks, now } = this.#deps;
    const row: WebhookRow = {
      tenant: caller.tenant,
      id: `whk_${newTimeOrderedId()}`,
      url: this.#checkedUrl(url).href,
      events: JSON.stringify(events),
      description,
      secret: newWebhookSecret(),
      of_node: includesNodeEvents(events) ? 1 : 0,
      created_at: now(),
      previous_secret: null,
      previous_secret_until: null,
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
    };
    if (await webhooks.add(scopeOf(caller), row, MAX_WEBHOOKS)) return row;
    throw webhookError('too_many_webhooks', `A tenant may have ${MAX_WEBHOOKS} webhooks; delete some.`);
  }

  list(caller: Principal): Promise<WebhookRow[]> {
    return this.#deps.webhooks.list(scopeOf(caller));
  }

  async get(id: string, caller: Principal): Promise<WebhookRow> {
    const found = await this.#deps.webhooks.find(scopeOf(caller), id);
    if (found === undefined) throw webhookNotFound(id);
    return found;
  }

  async update(id: string, { events, description, enabled }: WebhookUpdate, caller: Principal): Promise<WebhookRow> {
    if (events !== undefined) requireReach(events, caller);
    const before = await this.get(id, caller);
    if (enabled === true && before.of_node === 1 && events === undefined)
      requireReach(JSON.parse(before.events) as string[], caller);
    const { webhooks, now, onDue } = this.#deps;
    const changes = {
      ...(events !== undefined && { events: JSON.stringify(events), of_node: includesNodeEvents(events) ? 1 : 0 }),
      ...(description !== undefined && { description }),
      ...(enabled === true && { disabled_at: null, disabled_reason: null, failing_since: null }),
      ...(enabled === false && { disabled_at: now() }),
    };
    const updated = Object.keys(changes).length === 0 ? before : await webhooks.update(scopeOf(caller), id, changes);
    if (updated === undefined) throw webhookNotFound(id);
    if (enabled === true) onDue();
    return updated;
  }

  /** The webhook with its new secret; deliveries are signed with both until the old one's time is over. */
  async rotateSecret(id: string, overlapSeconds: number, caller: Principal): Promise<WebhookRow> {
    const { webhooks, now } = this.#deps;
    const until = now() + overlapSeconds * 1000;
    const rotated = await webhooks.rotateSecret(scopeOf(caller), id, newWebhookSecret(), until);
    if (rotated === undefined) throw webhookNotFound(id);
    return rotated;
  }

  async remove(id: string, caller: Principal): Promise<void> {
    if (!(await this.#deps.webhooks.remove(scopeOf(caller), id))) throw webhookNotFound(id);
  }

  async deliveries(page: DeliveryPage, caller: Principal): Promise<Page<DeliveryRow>> {
    await this.get(page.webhookId, caller);
    return this.#deps.deliveries.list(scopeOf(caller), page);
  }

  /** Sends it again, under the same id. */
  async replay(id: string, delivery: string, caller: Principal): Promise<DeliveryRow> {
    const { disabled_at } = await this.get(id, caller);
    if (disabled_at !== null) throw webhookError('webhook_disabled', 'The webhook is disabled; enable it first.');
    const replayed = await this.#deps.deliveries.replay(scopeOf(caller), id, delivery, this.#deps.now());
    if (replayed === undefined) throw webhookError('delivery_not_found', `The webhook has no delivery ${delivery.slice(0, 64)}.`);
    this.#deps.onDue();
    return replayed;
  }

  /** Names are judged when they are resolved, at each delivery. */
  #checkedUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain =
      url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === '';
    if (url === undefined || !isPlain) {
      throw webhookError('invalid_request', '`url` must be an https address without credentials and without a fragment.', {
        param: 'url',
      });
    }
    try {
      this.#deps.policy.check(url);
    } catch (error) {
      if (!(error instanceof UnsafeAddress)) throw error;
      const remedy = 'Use an https address on the internet, or have an operator name the host in webhooks.allowed_hosts.';
      throw webhookError('unsafe_address', `${error.message}. ${remedy}`, { param: 'url' });
    }
    return url;
  }
}

/** On a node without accounts the caller is the operator at the machine. */
function requireReach(events: readonly string[], caller: Principal): void {
  if (caller.kind === 'anonymous' || !includesNodeEvents(events) || hasRole(caller, 'superadmin')) return;
  throw webhookError(
    'forbidden',
    'Events of the whole node are for superadmins. GET /api/v1/webhooks/events says which they are.',
  );
}
