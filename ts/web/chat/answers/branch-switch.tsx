/** The way through the branches beside a message. */
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { showBranch } from '../thread/change-conversation.ts';
import type { Message } from '../thread/message.ts';
import { messages } from '../thread/shown-thread.ts';
import { siblingsOf } from '../thread/thread-tree.ts';

export function BranchSwitch({ message }: { message: Message }) {
  const siblings = siblingsOf(messages.value, message);
  if (siblings.length < 2) return null;
  const at = siblings.findIndex(({ id }) => id === message.id);
  return (
    <span class="branches">
      <Button
        size="small"
        icon="left"
        label={t('branch_before')}
        disabled={at === 0}
        onClick={() => void showBranch(message, -1)}
      />
      <span class="small" aria-hidden="true">
        {at + 1}/{siblings.length}
      </span>
      <span class="unseen">{t('branch_of', { n: at + 1, count: siblings.length })}</span>
      <Button
        size="small"
        icon="right"
        label={t('branch_after')}
        disabled={at === siblings.length - 1}
        onClick={() => void showBranch(message, 1)}
      />
    </span>
  );
}
