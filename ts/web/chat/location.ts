/** The open conversation stands behind the `#` of the address, so that a reload and the browser's way back find it. */

import { Refusal } from '../../client/refusal.ts';
import { openSharedArtifact } from './artifacts/shown-artifact.ts';
import { focusComposer } from './composer/composer-focus.ts';
import { fetchShared } from './sharing/shared-thread.ts';
import { forgetConversation } from './sidebar/conversation-list.ts';
import { openConversation } from './thread/open-conversation.ts';
import { beginNew, conversation, currentVisit, failure, shared, showShared, showSought, sought } from './thread/shown-thread.ts';

/** `c`: a conversation of one's own. `s`, `a`: one, and an artifact, that somebody shared. */
const PATTERN = /^#([csa])=([A-Za-z0-9_-]{1,64})$/;

export function addressed(): { kind: string; id: string } | undefined {
  const [, kind, id] = PATTERN.exec(location.hash) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

/** `messageId`: of a message of that conversation, which is to be seen. */
export function navigateTo(id: string | undefined, messageId?: string): void {
  const hash = id === undefined ? '' : `#c=${id}`;
  if (location.hash !== hash) history.pushState(undefined, '', `${location.pathname}${hash}`);
  followAddress();
  sought.value = messageId;
  showSought();
}

export function followAddress(): void {
  const target = addressed();
  if (target?.kind === 's') clearWhereItFails(followShare(target.id));
  else if (target?.kind !== 'c') beginNew();
  else if (conversation.value?.id !== target.id) clearWhereItFails(openConversation(target.id), target.id);
  if (target?.kind === 'a') clearWhereItFails(openSharedArtifact(target.id));
  focusComposer();
}

/** Nothing of what was shown before stays below the failure: what is written then must not go there. */
function clearWhereItFails(opening: Promise<void>, id?: string): void {
  const isShown = currentVisit();
  opening.catch((error: unknown) => {
    if (!isShown()) return;
    beginNew();
    failure.value = error;
    if (id !== undefined && error instanceof Refusal && error.status === 404) forgetConversation(id);
  });
}

async function followShare(id: string): Promise<void> {
  if (shared.value?.share === id) return;
  beginNew();
  const thread = await fetchShared(id);
  // The reader may have gone on meanwhile.
  if (addressed()?.id === id) showShared(thread);
}

/** A conversation that has just begun gets its address. */
export function writeAddress(id: string): void {
  if (addressed()?.id !== id) history.replaceState(undefined, '', `${location.pathname}#c=${id}`);
}
