/** Keys that work anywhere on the page. */

import { copyText } from '../../design/clipboard.ts';
import type { TextKey } from '../../i18n/catalogue.ts';
import { isWriting } from '../compare/compare.ts';
import { stopBoth } from '../composer/composer.tsx';
import { focusComposer } from '../composer/composer-focus.ts';
import { isSidebarOpen, openDialog } from '../dialogs.ts';
import { navigateTo } from '../location.ts';
import { continueAnswer, isCutShort, lastAnswer, regenerate } from '../thread/answer-question.ts';
import { shared } from '../thread/shown-thread.ts';

interface Shortcut {
  keys: readonly string[];
  text: TextKey;
  matches(event: KeyboardEvent): boolean;
  run(): void;
}

const isCommand = (event: KeyboardEvent, key: string, shift = false): boolean =>
  (event.ctrlKey || event.metaKey) && event.shiftKey === shift && !event.altKey && event.key.toLowerCase() === key;

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: ['Ctrl', 'K'], text: 'palette', matches: (event) => isCommand(event, 'k'), run: () => (openDialog.value = 'palette') },
  {
    keys: ['Ctrl', 'Shift', 'O'],
    text: 'new_chat',
    matches: (event) => isCommand(event, 'o', true),
    run: () => navigateTo(undefined),
  },
  { keys: ['Ctrl', 'Shift', 'S'], text: 'toggle_sidebar', matches: (event) => isCommand(event, 's', true), run: toggleSidebar },
  {
    keys: ['Ctrl', 'Shift', 'E'],
    text: 'preferences',
    matches: (event) => isCommand(event, 'e', true),
    run: () => (openDialog.value = 'preferences'),
  },
  { keys: ['Ctrl', 'Shift', 'L'], text: 'copy_answer', matches: (event) => isCommand(event, 'l', true), run: copyAnswer },
  { keys: ['Ctrl', 'Shift', 'G'], text: 'regenerate', matches: (event) => isCommand(event, 'g', true), run: regenerateLast },
  { keys: ['Ctrl', 'Shift', 'U'], text: 'continue', matches: (event) => isCommand(event, 'u', true), run: continueLast },
  { keys: ['Esc'], text: 'stop', matches: (event) => event.key === 'Escape' && isWriting.value, run: stopBoth },
  { keys: ['/'], text: 'go_to_message', matches: (event) => isPlain(event, '/'), run: focusComposer },
  { keys: ['?'], text: 'shortcuts', matches: (event) => isPlain(event, '?'), run: () => (openDialog.value = 'shortcuts') },
];

/** A character that nobody is writing somewhere. */
function isPlain(event: KeyboardEvent, key: string): boolean {
  const target = event.target as HTMLElement;
  return event.key === key && !event.ctrlKey && !event.metaKey && !target.matches('input, textarea, select, [contenteditable]');
}

function toggleSidebar(): void {
  isSidebarOpen.value = !isSidebarOpen.value;
  if (isSidebarOpen.value) document.getElementById('conversation-search')?.focus();
}

function copyAnswer(): void {
  const answer = lastAnswer();
  if (answer !== undefined) void copyText(answer.content);
}

function regenerateLast(): void {
  const answer = lastAnswer();
  if (answer !== undefined && shared.value === undefined) void regenerate(answer);
}

function continueLast(): void {
  const answer = lastAnswer();
  if (answer !== undefined && shared.value === undefined && isCutShort(answer)) void continueAnswer(answer);
}

export function onShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
  const shortcut = SHORTCUTS.find(({ matches }) => matches(event));
  if (shortcut === undefined) return;
  event.preventDefault();
  shortcut.run();
}
