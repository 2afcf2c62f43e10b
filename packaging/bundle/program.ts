/** The entry of the bundle. */
export { main } from '../../ts/cli/program.ts';

/** Runs what every start runs before it opens anything, so that the code cache has it compiled. */
export async function rehearseStart(): Promise<void> {
  const [{ createServer }, { loadNodeConfig }, { INSTALL_ROOT }, { serve }] = await Promise.all([
    import('../../ts/server/main.ts'),
    import('../../ts/server/settings.ts'),
    import('../../ts/server/product.ts'),
    import('../../ts/cli/commands/serve.ts'),
    import('../../ts/server/run.ts'),
  ]);
  if (serve.words.length === 0) throw new Error('the command has no name');
  await createServer(loadNodeConfig({ root: INSTALL_ROOT, environment: {} }));
}
