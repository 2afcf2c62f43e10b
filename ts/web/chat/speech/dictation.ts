/** Speech becomes text where the cursor stands in the message, a piece after the other, while the speaker goes on. */
import { computed, signal } from '@preact/signals';
import { request } from '../../api/call.ts';
import { readEvents } from '../../api/events.ts';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { draft, setDraft } from '../composer/draft.ts';
import { models } from '../composer/models.ts';
import { Microphone } from './microphone.ts';
import { SpeechPauses } from './speech-pauses.ts';

/** The time between two looks at the level. */
const EVERY_MS = 100;

/** `writing`: the microphone is off, and the last words are on their way. */
export const dictation = signal<'off' | 'asking' | 'listening' | 'writing'>('off');
export const level = signal(0);
/** The node has a model that makes text of speech. */
export const canDictate = computed(() => models.value.some(({ capabilities }) => capabilities.includes('transcription')));

let stopListening: (() => Promise<void>) | undefined;

export async function startDictation(): Promise<void> {
  if (dictation.value !== 'off') return;
  if (navigator.mediaDevices === undefined) {
    // Browsers have it on https and on the machine itself alone.
    showToast(t(isSecureContext ? 'no_microphone' : 'dictation_needs_https'));
    return;
  }
  dictation.value = 'asking';
  try {
    listenTo(await Microphone.open());
  } catch (error) {
    dictation.value = 'off';
    showToast(t((error as Error).name === 'NotAllowedError' ? 'microphone_denied' : 'no_microphone'));
  }
}

export async function stopDictation(): Promise<void> {
  await stopListening?.();
}

function listenTo(microphone: Microphone): void {
  const pauses = new SpeechPauses();
  // Pieces become text in their order, also where a later one is quicker.
  let written = Promise.resolve();
  const write = (piece: Promise<Blob>): void => {
    written = written.then(async () => await writeSpeech(await piece)).catch((error: unknown) => showToast(explain(error)));
  };
  const timer = setInterval(() => {
    level.value = microphone.level();
    const fate = pauses.push(level.value, performance.now());
    if (fate === undefined) return;
    const piece = microphone.cut();
    if (fate === 'send') write(piece);
    else piece.catch(() => undefined);
  }, EVERY_MS);
  stopListening = async () => {
    stopListening = undefined;
    clearInterval(timer);
    dictation.value = 'writing';
    level.value = 0;
    const last = microphone.close();
    if (pauses.end(performance.now()) === 'send') write(last);
    else await last.catch(() => undefined);
    await written;
    dictation.value = 'off';
  };
  dictation.value = 'listening';
}

async function writeSpeech(piece: Blob): Promise<void> {
  const form = new FormData();
  form.append('file', piece, 'dictation.wav');
  form.append('stream', 'true');
  const { body } = await request('POST /v1/audio/transcriptions', { body: form as unknown as Blob });
  if (body === null) return;
  let isFirst = true;
  for await (const events of readEvents(body)) {
    for (const { data } of events) {
      const { type, delta, error } = readEvent(data);
      if (error !== undefined) showToast(explain(new Error(error)));
      if (type !== 'transcript.text.delta' || typeof delta !== 'string') continue;
      insertAtCursor(delta, isFirst);
      isFirst = false;
    }
  }
}

function readEvent(data: string): { type?: string; delta?: unknown; error?: string } {
  if (data === '[DONE]') return {};
  const { type, delta, error } = JSON.parse(data) as Record<string, unknown>;
  const message = (error as { message?: unknown } | undefined)?.message;
  return { ...(typeof type === 'string' && { type }), delta, ...(typeof message === 'string' && { error: message }) };
}

/** @param isBegin pieces are apart by a space, wherever the last one ended. */
function insertAtCursor(text: string, isBegin: boolean): void {
  const area = document.getElementById('composer');
  const written = draft.peek();
  const isThere = area instanceof HTMLTextAreaElement && area.value === written;
  const from = isThere ? area.selectionStart : written.length;
  const before = written.slice(0, from);
  const behind = written.slice(isThere ? area.selectionEnd : from);
  const isApart = before === '' || /\s$/.test(before);
  const added = isApart ? text.trimStart() : isBegin && !/^\s/.test(text) ? ` ${text}` : text;
  setDraft(before + added + behind);
  if (!isThere) return;
  // The page draws the same text later, which leaves the cursor where it is.
  area.value = before + added + behind;
  area.setSelectionRange(from + added.length, from + added.length);
}
