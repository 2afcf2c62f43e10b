/** A server that this node runs itself and asks as it asks providers: a backend without a row, which lasts as long as the server. */
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { defaultBackendOptions } from './backend-options.ts';
import { LiveBackend } from './live-backend.ts';

/** Each process of the server has a port of this machine and a key of its own. */
interface OwnAddress {
  readonly port: number;
  readonly key: string;
}

export interface OwnServer {
  readonly id: string;
  readonly address: OwnAddress;
  readonly model: { readonly id: string; readonly contextLength: number };
}

export interface AttachedBackend {
  /** Another process takes the place of the one before; requests that wait for it are sent there. */
  begin(address: OwnAddress): void;
  /** Tells that it works, or why it does not. */
  setState(problem: string | undefined): void;
  detach(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Nobody pays for it. */
const FREE = { input: '0', output: '0', currency: 'USD' };
/** A model that needs several machines may read a long prompt for minutes. Whoever runs the server sees when it hangs. */
const SLOW = { connect_ms: 5_000, first_byte_ms: 600_000, idle_ms: 600_000 };

export function ownBackend({ id, model, ...first }: OwnServer, userAgent: string, onListed: () => void) {
  let { address } = first;
  let keepsPromptsOf = oneTenant();
  const facts = {
    id,
    kind: 'openai' as const,
    get baseUrl() {
      return `http://${HOST}:${address.port}/v1`;
    },
    options: { ...defaultBackendOptions, preset: 'llama-server' as const, timeouts: SLOW, prices: { [model.id]: FREE } },
    isEnabled: true,
    createdAt: Date.now(),
    key: () => address.key,
    hasSealedKey: false,
    headers: {},
    models: [{ id: model.id, capabilities: ['chat', 'tools'], contextLength: model.contextLength }],
    checkedAt: undefined,
    reason: undefined,
    keepsPromptsOf: (tenant: string) => keepsPromptsOf(tenant),
  };
  const policy = new AddressPolicy({ trusted: [], allowed: [{ hostname: HOST, port: undefined, allowsPlain: true }] });
  const begin = (next: OwnAddress): void => {
    address = next;
    keepsPromptsOf = oneTenant();
  };
  return { backend: new LiveBackend(facts, { policy, userAgent, onListed }), begin };
}

/** Tells whether one tenant alone has asked so far: llama-server has one cache for all, and what is found there tells what another one asked. */
function oneTenant(): (tenant: string) => boolean {
  let first: string | undefined;
  let areSeveral = false;
  return (tenant) => {
    first ??= tenant;
    areSeveral ||= tenant !== first;
    return !areSeveral;
  };
}

/** Its state, for whoever runs the server. */
export function toldState(backend: LiveBackend, problem: string | undefined): void {
  for (const { id } of backend.offered.values()) backend.breaker(id).reset();
  backend.pace.unblock();
  if (problem === undefined) backend.checked(Date.now());
  backend.setReason(
    problem === undefined ? undefined : { code: 'unreachable', since: new Date().toISOString(), detail: problem },
  );
}
