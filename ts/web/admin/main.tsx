import './admin.css';
import { loadSession } from '../session/session.ts';
import { startPage } from '../session/start-page.tsx';
import { AdminPage } from './admin-page.tsx';

const texts = {
  en: async () => (await import('./texts/en.ts')).consoleEn,
  de: async () => (await import('./texts/de.ts')).consoleDe,
};

// The console loads before sign-in; what it asks the server says when there is no answer.
await loadSession().catch(() => undefined);
await startPage(() => <AdminPage />, texts);
