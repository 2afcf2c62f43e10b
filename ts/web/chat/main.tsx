import './chat.css';
import './parts.css';
import './prose.css';
import { showToast } from '../design/toasts.tsx';
import { whenIdle } from '../design/when-idle.ts';
import { loadAccountSettings } from '../session/account-settings.ts';
import { explain } from '../session/explain.ts';
import { goToSignIn, loadSession } from '../session/session.ts';
import { startPage } from '../session/start-page.tsx';
import { ChatPage } from './chat-page.tsx';
import { loadModels } from './composer/models.ts';
import { startTakingFiles } from './files/take-files.ts';
import { onShortcut } from './keyboard/shortcuts.ts';
import { loadFolders } from './library/folders.ts';
import { followAddress } from './location.ts';
import { loadRenderer } from './markdown/renderer.ts';
import { startAgreement } from './offline/agreement.ts';
import { startDelivery } from './offline/delivery.ts';
import { listenToOtherTabs } from './offline/other-tabs.ts';
import { loadConversations } from './sidebar/conversation-list.ts';
import { isStarted } from './start.ts';
import { showAnswerOf } from './thread/open-conversation.ts';

/** The renderer of answers comes so long after the page, unless a question comes before. */
const RENDERER_AFTER_MS = 2_000;

const said = (error: unknown): void => showToast(explain(error));
// They are on their way while the page is drawn, which can be written in before they are there.
const session = loadSession().catch(said);
const models = loadModels().catch(said);
const settings = session.then((caller) => (caller === undefined ? undefined : loadAccountSettings())).catch(said);
// A browser leaves the page for a file that nobody takes.
startTakingFiles();
await startPage(() => <ChatPage />);
const caller = await session;

if (caller === undefined) goToSignIn();
else {
  // The conversations are nobody's yet where there are no accounts, and the page works all the same.
  await Promise.all([models, settings]);
  addEventListener('popstate', followAddress);
  addEventListener('keydown', onShortcut);
  listenToOtherTabs(showAnswerOf);
  followAddress();
  isStarted.value = true;
  startAgreement();
  startDelivery();
  setTimeout(() => whenIdle(loadRenderer), RENDERER_AFTER_MS);
  await Promise.all([loadConversations().catch(said), loadFolders().catch(said)]);
}
