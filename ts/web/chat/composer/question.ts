/** A question that is to be stored and answered. Its ids are made when it is written, so that it can be sent again. */
import { newId, type QuestionFacts } from '../thread/message.ts';
import { conversation, isTemporary, nextId, preferences } from '../thread/shown-thread.ts';
import { chosenModel } from './models.ts';
import { givenPreferences, readPreferences } from './preferences.ts';

export interface Question {
  id: string;
  conversationId: string;
  text: string;
  /** Undefined: behind the branch that is shown when it is sent. */
  parentId?: string | null;
  metadata?: QuestionFacts;
  /** Knowledge bases that its files were added to: its conversation is answered with them from then on. */
  knowledge?: readonly string[];
  /** It begins its conversation. */
  begins?: { title: string; temporary: boolean; model?: string; metadata: Record<string, unknown> };
}

interface QuestionOptions {
  parentId?: string | null;
  metadata?: QuestionFacts;
  knowledge?: readonly string[];
}

const MAX_TITLE = 80;

/** The question belongs to the open conversation, or to one that it begins. */
export function newQuestion(text: string, { parentId, metadata, knowledge = [] }: QuestionOptions = {}): Question {
  const open = conversation.value;
  // The server has these bases; one that an earlier try could not store is tried again.
  const known = readPreferences(open?.metadata).knowledge;
  const missing = open === undefined ? [] : knowledge.filter((each) => !known.includes(each));
  return {
    id: newId(),
    conversationId: open?.id ?? nextId.value,
    text,
    ...(parentId === undefined ? {} : { parentId }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(missing.length === 0 ? {} : { knowledge: missing }),
    ...(open === undefined ? { begins: beginning(text, metadata) } : {}),
  };
}

function beginning(text: string, metadata: QuestionFacts | undefined): NonNullable<Question['begins']> {
  const line = text.trim().split('\n')[0] || metadata?.files?.[0]?.name || '';
  const title = line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
  const model = chosenModel.value;
  return {
    title: title.toWellFormed(),
    temporary: isTemporary.value,
    metadata: givenPreferences(preferences.value),
    ...(model === undefined ? {} : { model }),
  };
}
