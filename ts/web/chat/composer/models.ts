/** Models that can chat, and the one that is asked. */
import { computed, signal } from '@preact/signals';
import { type Answer, call } from '../../api/call.ts';
import { firstAsked } from '../../api/first-asked.ts';

export type Model = Answer<'GET /v1/models'>['data'][number];

const STORED_AT = 'svc.model';

/** The server has answered. */
export const areModelsKnown = signal(false);
export const models = signal<readonly Model[]>([]);
const asked = signal<string | undefined>(localStorage.getItem(STORED_AT) ?? undefined);
export const chatModels = computed(() =>
  models.value.filter(({ capabilities, state }) => capabilities.includes('chat') && state !== 'unusable'),
);

export const chosenModel = {
  /** The one that was chosen while it is there, else the server's default. */
  get value(): string | undefined {
    const known = chatModels.value;
    return (known.find(({ id }) => id === asked.value) ?? firstAsked(known))?.id;
  },
  set value(id: string | undefined) {
    asked.value = id;
  },
};

/** Whoever names no model is answered by a demonstration, which has a note, or by nobody. */
export const isRealModelMissing = computed(() => {
  const first = firstAsked(chatModels.value);
  return first === undefined || first.note !== undefined;
});

export function chooseModel(id: string): void {
  asked.value = id;
  localStorage.setItem(STORED_AT, id);
}

/** Whoever wants a model that talks goes on with it as soon as it is the default. */
export function forgetDemonstration(): void {
  if (models.value.find(({ id }) => id === asked.value)?.note === undefined) return;
  asked.value = undefined;
  localStorage.removeItem(STORED_AT);
}

export async function loadModels(): Promise<void> {
  try {
    models.value = (await call('GET /v1/models')).data;
  } finally {
    areModelsKnown.value = true;
  }
}
