/** Files of the message that is being written: documents go into a knowledge base, pictures to a model that sees. */
import { computed, signal } from '@preact/signals';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { chosenModel, models } from '../composer/models.ts';
import { bases, defaultBase, loadBases } from '../knowledge/bases.ts';
import { newId, type QuestionFacts } from '../thread/message.ts';
import { preferences } from '../thread/shown-thread.ts';
import { shrinkPicture } from './shrink-picture.ts';
import { uploadFile } from './upload.ts';

export const MAX_FILES = 10;
/** Characters of all pictures of a message, as data: addresses: a message keeps 256 Ki characters beside its text. */
const PICTURES_LENGTH = 230_000;
const PICTURE_TYPE = /^image\/(png|jpeg|webp|gif|bmp|avif)$/;

export interface AttachedFile {
  id: string;
  name: string;
  state: 'working' | 'indexed' | 'stored' | 'picture' | 'refused';
  /** 0 to 1, while it is sent and indexed. */
  share?: number | undefined;
  step?: 'sending' | 'indexing';
  /** Why it is refused, or kept without being indexed. */
  detail?: string | undefined;
  namespace: string;
  documentId?: string | undefined;
  /** Of a picture. */
  address?: string;
}

export const attached = signal<readonly AttachedFile[]>([]);
export const isAttaching = computed(() => attached.value.some(({ state }) => state === 'working'));
/** The knowledge base that the next files go into. */
const chosenBase = signal<string | undefined>(undefined);
export const targetBase = computed(() => chosenBase.value ?? preferences.value.knowledge[0] ?? defaultBase());
export const canSee = computed(
  () => models.value.find(({ id }) => id === chosenModel.value)?.capabilities.includes('vision') ?? false,
);
const running = new Map<string, AbortController>();

export function chooseTarget(namespace: string): void {
  chosenBase.value = namespace;
}

/** Those above the limit of a message are refused by name. */
export function attachFiles(files: readonly File[]): void {
  const free = MAX_FILES - attached.value.length;
  for (const [index, file] of files.entries())
    attach(file, index >= free ? t('too_many_files', { count: MAX_FILES }) : undefined);
}

function attach(file: File, refusal: string | undefined): void {
  const entry: AttachedFile = { id: newId(), name: file.name, state: 'working', namespace: targetBase.value };
  const isPicture = PICTURE_TYPE.test(file.type);
  const reason = refusal ?? reasonAgainst(isPicture);
  attached.value = [...attached.value, reason === undefined ? entry : { ...entry, state: 'refused', detail: reason }];
  if (reason !== undefined) return;
  const work = isPicture ? takePicture(entry, file) : upload(entry, file);
  work
    .catch((error: unknown) => update(entry.id, { state: 'refused', detail: explain(error) }))
    .finally(() => running.delete(entry.id));
}

function reasonAgainst(isPicture: boolean): string | undefined {
  if (isPicture) return canSee.value ? undefined : t('model_sees_nothing', { id: chosenModel.value ?? t('no_model') });
  return hasRole('developer') ? undefined : t('knowledge_needs_role');
}

async function takePicture({ id }: AttachedFile, file: File): Promise<void> {
  // Shares of one budget, whatever was attached before.
  const address = await shrinkPicture(file, Math.floor(PICTURES_LENGTH / MAX_FILES) * 3);
  const used = attached.value.reduce((sum, each) => sum + (each.address?.length ?? 0), 0);
  if (used + address.length > PICTURES_LENGTH) throw new Error(t('pictures_too_large'));
  update(id, { state: 'picture', address });
}

async function upload({ id, namespace }: AttachedFile, file: File): Promise<void> {
  const stop = new AbortController();
  running.set(id, stop);
  const outcome = await uploadFile(file, {
    namespace,
    signal: stop.signal,
    onProgress: ({ step, share }) => update(id, { step, share }),
  });
  update(id, outcome);
  if (bases.value !== undefined) await loadBases();
}

function update(id: string, changes: Partial<AttachedFile>): void {
  attached.value = attached.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
}

/** Files of a message that came back. */
export function attachAgain({ files = [], images = [] }: QuestionFacts): void {
  const documents = files.map(
    ({ name, namespace, state, detail, document_id: documentId }): AttachedFile => ({
      id: newId(),
      ...{ name, namespace, state, detail, documentId },
    }),
  );
  const pictures = images.map(
    (address): AttachedFile => ({ id: newId(), name: t('picture'), state: 'picture', namespace: '', address }),
  );
  attached.value = [...documents, ...pictures, ...attached.value];
}

/** Ends its upload. A document that is indexed already stays in the knowledge base. */
export function detachFile(id: string): void {
  running.get(id)?.abort();
  attached.value = attached.value.filter((each) => each.id !== id);
}

/** What the message keeps of them; nothing is attached any more. */
export function takeFiles(): QuestionFacts | undefined {
  const all = attached.value;
  attached.value = [];
  const images = all.flatMap(({ address }) => (address === undefined ? [] : [address]));
  const files = all.flatMap(({ name, namespace, state, documentId, detail }) =>
    state === 'indexed' || state === 'stored'
      ? [
          {
            name,
            namespace,
            state,
            ...(documentId === undefined ? {} : { document_id: documentId }),
            ...(detail === undefined ? {} : { detail }),
          },
        ]
      : [],
  );
  if (images.length + files.length === 0) return undefined;
  return { ...(files.length === 0 ? {} : { files }), ...(images.length === 0 ? {} : { images }) };
}
