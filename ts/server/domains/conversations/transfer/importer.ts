/** Reads an export file as it arrives, and stores its conversations one after the other. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BodyBudget } from '../../../platform/http/body/body-collector.ts';
import { type ConversationError, conversationError, isConversationError } from '../errors.ts';
import { MAX_CONVERSATIONS, MAX_IMPORTED_BYTES, MAX_IMPORTED_VALUES } from '../limits.ts';
import type { Owner } from '../owner.ts';
import type { ImportStore } from '../store/import-store.ts';
import type { ConversationReader } from './conversation-reader.ts';
import { ElementSplitter, type SplitElement } from './element-splitter.ts';

export interface ImportReport {
  imported: number;
  /** Were there already. */
  skipped: number;
  messages: number;
  /** Of the file's conversations, counted from 0, the first that could not be read. */
  failed: { index: number; reason: string }[];
}

interface ImportDeps {
  readonly store: ImportStore;
  readonly reader: ConversationReader;
  /** Shared by all imports, each of which may arrive as slowly as it likes. */
  readonly budget: BodyBudget;
}

const MAX_REPORTED = 100;

/** Throws ConversationError. */
export async function importFile(
  deps: ImportDeps,
  owner: Owner,
  body: AsyncIterable<Uint8Array>,
  now: number,
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, skipped: 0, messages: 0, failed: [] };
  const splitter = new ElementSplitter({ maxBytes: MAX_IMPORTED_BYTES, maxValues: MAX_IMPORTED_VALUES });
  let index = 0;
  let heldBytes = 0;
  const hold = (nBytes: number): void => {
    deps.budget.release(heldBytes);
    heldBytes = deps.budget.reserve(nBytes) ? nBytes : 0;
    if (heldBytes < nBytes) throw busy(deps.budget);
  };
  try {
    for await (const chunk of body) {
      hold(splitter.heldBytes + chunk.byteLength);
      for (const element of splitter.push(chunk)) {
        if (index >= MAX_CONVERSATIONS) throw tooMany();
        await importElement(deps, owner, element, now, report, index);
        index += 1;
      }
      hold(splitter.heldBytes);
      await nextTurn();
    }
  } finally {
    hold(0);
  }
  splitter.end();
  return report;
}

async function importElement(
  { store, reader }: ImportDeps,
  owner: Owner,
  element: SplitElement,
  now: number,
  report: ImportReport,
  index: number,
): Promise<void> {
  try {
    const read = await reader.read(bytesOf(element), now);
    const isNew = await store.insert(owner, read, now);
    if (!isNew) report.skipped += 1;
    else {
      report.imported += 1;
      report.messages += read.nMessages;
    }
  } catch (error) {
    if (!isConversationError(error) || error.code !== 'invalid_import') throw error;
    if (report.failed.length < MAX_REPORTED) report.failed.push({ index, reason: error.message });
  }
}

function bytesOf(element: SplitElement): Uint8Array<ArrayBuffer> {
  if (element.kind === 'element') return element.bytes;
  const most =
    element.kind === 'too_large' ? `is larger than ${MAX_IMPORTED_BYTES} bytes` : `has more than ${MAX_IMPORTED_VALUES} values`;
  throw conversationError('invalid_import', `The conversation ${most}.`);
}

function busy({ maxBytes }: BodyBudget): ConversationError {
  const detail = `The imports of this moment hold ${maxBytes} bytes together. Send the file again in a while: what was stored is skipped.`;
  return conversationError('storage_unavailable', detail);
}

function tooMany(): ConversationError {
  const detail = `The file has more than ${MAX_CONVERSATIONS} conversations, which is as many as are kept; those before are stored. Split the file.`;
  return conversationError('invalid_import', detail);
}
