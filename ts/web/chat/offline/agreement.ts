/** Follows what other tabs, and other devices while this one was not looked at, did to the conversations. */

import { Refusal } from '../../../client/refusal.ts';
import { call } from '../../api/call.ts';
import { goToSignIn } from '../../session/session.ts';
import { hearSignOut } from '../../session/sign-out-news.ts';
import { isWriting } from '../compare/compare.ts';
import { navigateTo } from '../location.ts';
import { forgetConversation, hearConversation, refreshConversations } from '../sidebar/conversation-list.ts';
import { catchUp } from '../thread/open-conversation.ts';
import { conversation } from '../thread/shown-thread.ts';
import { hearTabs, type TabMessage } from './tabs.ts';

const ignored = (): void => undefined;

export function startAgreement(): void {
  hearTabs(hear);
  hearSignOut(goToSignIn);
  addEventListener('visibilitychange', () => {
    if (!document.hidden) void refresh().catch(ignored);
  });
}

function hear(message: TabMessage): void {
  if (message.kind === 'changed') {
    hearConversation(message.conversation);
    void catchUp(message.conversation).catch(ignored);
  }
  if (message.kind === 'erased') forget(message.id);
}

/** Undefined: all of them. */
function forget(id: string | undefined): void {
  forgetConversation(id);
  const open = conversation.value?.id;
  if (open !== undefined && (id === undefined || id === open)) navigateTo(undefined);
}

/** Throws Refusal. */
async function refresh(): Promise<void> {
  await refreshConversations();
  const open = conversation.value;
  if (open === undefined || isWriting.value) return;
  // One that was erased elsewhere is refused here, and not begun anew below.
  try {
    await call('GET /api/v1/edge/conversations/messages', { query: { id: open.id, limit: 1 } });
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) forget(open.id);
    throw error;
  }
  await catchUp(await call('POST /api/v1/edge/conversations', { body: { id: open.id } }));
}
