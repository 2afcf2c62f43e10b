import './admin.css';
import { loadSession } from '../session/session.ts';
import { startPage } from '../session/start-page.tsx';
import { AdminPage } from './admin-page.tsx';

// The console loads before sign-in; what it asks the server says when there is no answer.
await loadSession().catch(() => undefined);
await startPage(
  () => <AdminPage />,
  async (language) => (await import('./texts.ts')).consoleTexts(language),
);
