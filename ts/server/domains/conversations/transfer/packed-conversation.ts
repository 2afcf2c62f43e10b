/**
 * A conversation on its way out of the thread that read it: its messages in steps of bytes, which move between threads, and which cost the event
 * loop nothing until each is stored.
 */
import type { NewConversation } from '../conversation.ts';
import { listTerms } from '../search/terms.ts';
import type { ImportedConversation } from './imported-conversation.ts';

export interface PackedConversation {
  readonly conversation: NewConversation;
  readonly currentMessageId: string | undefined;
  readonly nMessages: number;
  readonly steps: readonly Uint8Array<ArrayBuffer>[];
}

/** Messages that are stored together, with the terms of each. */
export interface ImportStep {
  readonly messages: ImportedConversation['messages'];
  readonly terms: readonly (readonly string[])[];
}

/** More would hold up other writes. */
const STEP_MESSAGES = 32;
/** Of content, in UTF-16 code units; a longer message is a step of its own. */
const STEP_LENGTH = 256 * 1024;
/** Terms are letters, digits and marks. One text of them is quicker to read than many. */
const BETWEEN_TERMS = ' ';

export function packConversation({ conversation, messages, currentMessageId }: ImportedConversation): PackedConversation {
  const steps = stepsOf(messages).map((step) => packStep(step));
  return { conversation, currentMessageId, nMessages: messages.length, steps };
}

export function unpackStep(bytes: Uint8Array): ImportStep {
  const { messages, terms } = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as PackedStep;
  return { messages, terms: terms.map((text) => (text === '' ? [] : text.split(BETWEEN_TERMS))) };
}

interface PackedStep {
  readonly messages: ImportedConversation['messages'];
  readonly terms: readonly string[];
}

function packStep(messages: ImportedConversation['messages']): Uint8Array<ArrayBuffer> {
  const packed: PackedStep = { messages, terms: messages.map(({ content }) => listTerms(content).join(BETWEEN_TERMS)) };
  // A small buffer of Buffer's is a part of a larger one, which cannot move alone.
  return new TextEncoder().encode(JSON.stringify(packed));
}

function stepsOf(messages: ImportedConversation['messages']): ImportedConversation['messages'][] {
  const steps: ImportedConversation['messages'][number][][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const step = steps.at(-1);
    length += message.content.length;
    if (step !== undefined && step.length < STEP_MESSAGES && length <= STEP_LENGTH) step.push(message);
    else {
      steps.push([message]);
      length = message.content.length;
    }
  }
  return steps;
}
