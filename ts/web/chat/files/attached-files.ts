/** Files of the message that is being written: documents become files of its conversation, pictures go to a model that sees. */
import { computed, signal } from '@preact/signals';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { chosenModel, models } from '../composer/models.ts';
import { whenStarted } from '../start.ts';
import { newId, type QuestionFacts } from '../thread/message.ts';
import { conversation, nextId } from '../thread/shown-thread.ts';
import { addFile, removeFile } from './conversation-files.ts';
import { shrinkPicture } from './shrink-picture.ts';

const MAX_FILES = 10;
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
  /** Whose file it is; of a picture: undefined, and it goes with the message wherever that is sent. */
  conversationId?: string;
  /** The knowledge base of a message of former times. */
  namespace?: string | undefined;
  documentId?: string | undefined;
  /** The address of a picture. */
  address?: string;
}

const all = signal<readonly AttachedFile[]>([]);
/** Where the next message goes. */
const shownId = computed(() => conversation.value?.id ?? nextId.value);
/** A document is of use in its own conversation alone, and waits there. */
export const attached = computed(() => all.value.filter(isOfShown));
export const isAttaching = computed(() => attached.value.some(({ state }) => state === 'working'));
const canSee = computed(() => models.value.find(({ id }) => id === chosenModel.value)?.capabilities.includes('vision') ?? false);
const running = new Map<string, AbortController>();

function isOfShown({ conversationId }: AttachedFile): boolean {
  return conversationId === undefined || conversationId === shownId.value;
}

/** Those above the limit of a message are refused by name. Files that come before the page knows its conversation and the models wait. */
export function attachFiles(files: readonly File[]): void {
  whenStarted(() => {
    const free = MAX_FILES - attached.value.length;
    for (const [index, file] of files.entries())
      attach(file, index >= free ? t('too_many_files', { count: MAX_FILES }) : undefined);
  });
}

function attach(file: File, refusal: string | undefined): void {
  const isPicture = PICTURE_TYPE.test(file.type);
  const entry: AttachedFile = {
    id: newId(),
    name: file.name,
    state: 'working',
    ...(isPicture ? {} : { conversationId: shownId.value }),
  };
  const reason = refusal ?? (isPicture && !canSee.value ? seesNothing() : undefined);
  all.value = [...all.value, reason === undefined ? entry : { ...entry, state: 'refused', detail: reason }];
  if (reason !== undefined) return;
  const work = isPicture ? takePicture(entry, file) : upload(entry, file);
  work
    .catch((error: unknown) => update(entry.id, { state: 'refused', detail: explain(error) }))
    .finally(() => running.delete(entry.id));
}

function seesNothing(): string {
  return t('model_sees_nothing', { id: chosenModel.value ?? t('no_model') });
}

async function takePicture({ id }: AttachedFile, file: File): Promise<void> {
  // Shares of one budget, whatever was attached before.
  const address = await shrinkPicture(file, Math.floor(PICTURES_LENGTH / MAX_FILES) * 3);
  const used = all.value.reduce((sum, each) => sum + (each.address?.length ?? 0), 0);
  if (used + address.length > PICTURES_LENGTH) throw new Error(t('pictures_too_large'));
  update(id, { state: 'picture', address });
}

async function upload({ id, conversationId = '' }: AttachedFile, file: File): Promise<void> {
  const stop = new AbortController();
  running.set(id, stop);
  const outcome = await addFile(file, {
    conversationId,
    hasBegun: conversation.value?.id === conversationId,
    signal: stop.signal,
    onProgress: ({ step, share }) => update(id, { step, share }),
  });
  update(id, outcome);
}

function update(id: string, changes: Partial<AttachedFile>): void {
  all.value = all.value.map((each) => (each.id === id ? { ...each, ...changes } : each));
}

/** Files of a message that came back. */
export function attachAgain({ files = [], images = [] }: QuestionFacts, conversationId: string): void {
  const documents = files.map(
    ({ name, namespace, state, detail, document_id: documentId }): AttachedFile => ({
      id: newId(),
      name,
      namespace,
      state,
      detail,
      documentId,
      conversationId,
    }),
  );
  const pictures = images.map((address): AttachedFile => ({ id: newId(), name: t('picture'), state: 'picture', address }));
  all.value = [...documents, ...pictures, ...all.value];
}

/** Ends its upload. One that the conversation has already is deleted there, but for those of former times, which lie in a knowledge base. */
export function detachFile(id: string): void {
  const { conversationId, documentId, namespace } = all.value.find((each) => each.id === id) ?? {};
  running.get(id)?.abort();
  all.value = all.value.filter((each) => each.id !== id);
  // One that stays goes with its conversation.
  if (conversationId !== undefined && documentId !== undefined && namespace === undefined)
    void removeFile(conversationId, documentId).catch(() => undefined);
}

/** What the message keeps of them; nothing is attached to it any more. */
export function takeFiles(): QuestionFacts | undefined {
  const taken = attached.value;
  all.value = all.value.filter((each) => !isOfShown(each));
  const images = taken.flatMap(({ address }) => (address === undefined ? [] : [address]));
  const files = taken.flatMap(({ name, namespace, state, documentId, detail }) =>
    state === 'indexed' || state === 'stored'
      ? [
          {
            name,
            state,
            ...(namespace === undefined ? {} : { namespace }),
            ...(documentId === undefined ? {} : { document_id: documentId }),
            ...(detail === undefined ? {} : { detail }),
          },
        ]
      : [],
  );
  if (images.length + files.length === 0) return undefined;
  return { ...(files.length === 0 ? {} : { files }), ...(images.length === 0 ? {} : { images }) };
}
