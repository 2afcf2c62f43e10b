/** Our server with API keys as names of tenants: what accounts will do, without their storage. Settings come from the environment. */
import { loadConfig } from '../../ts/server/platform/config/config.ts';
import { ANONYMOUS } from '../../ts/server/platform/http/authenticator.ts';
import { INSTALL_ROOT } from '../../ts/server/product.ts';
import { runServer } from '../../ts/server/run.ts';

const byKey = {
  state: () => 'off' as const,
  authenticate: ({ headers }: { headers: ReadonlyMap<string, string> }) => ({
    ...ANONYMOUS,
    tenant: headers.get('x-api-key') ?? ANONYMOUS.tenant,
  }),
};

process.exitCode = await runServer(loadConfig({ root: INSTALL_ROOT, environment: process.env }), () => undefined, {
  authenticator: byKey,
});
