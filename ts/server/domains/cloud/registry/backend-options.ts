import type { BackendOptions } from './live-backend.ts';

/** The options of a backend of which nothing else is said. */
export const defaultBackendOptions: BackendOptions = {
  preset: 'openai',
  apiVersion: '',
  region: '',
  modelFilter: { include: ['*'], exclude: [], alias: {} },
  priority: 0,
  weight: 1,
  limits: { concurrent: 64, requests_per_minute: null, tokens_per_minute: null },
  timeouts: { connect_ms: 5_000, first_byte_ms: 60_000, idle_ms: 60_000 },
  onClientGone: 'cancel',
  tenants: null,
  prices: {},
};
