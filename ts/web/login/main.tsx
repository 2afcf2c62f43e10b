import './login.css';
import { call } from '../api/call.ts';
import { loadBranding, productName } from '../session/branding.ts';
import { startPage } from '../session/start-page.tsx';
import { LoginPage } from './login-page.tsx';

// Whose sign-in page it is, stands in the address: /login?tenant=acme.
const tenant = new URLSearchParams(location.search).get('tenant') ?? 'default';
// A server that does not answer shows when the form is sent.
const [methods] = await Promise.all([call('GET /api/v1/auth/methods').catch(() => undefined), loadBranding(tenant)]);
await startPage(() => <LoginPage methods={methods} />);
document.title = productName();
