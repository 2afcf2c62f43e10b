/** llama-server's own page, where the rival was built with it. */
import { ChildServer, freePort } from '../../test/child-server.ts';
import { launch } from '../contenders/launch.ts';
import { rivalProgram } from '../contenders/rival-program.ts';

type RivalPage = { server: ChildServer } | { whyNot: string };

export async function openRivalPage(model: string): Promise<RivalPage> {
  let program: string;
  try {
    program = rivalProgram('llama-server');
  } catch (error) {
    return { whyNot: (error as Error).message };
  }
  const port = await freePort();
  const server = await ChildServer.start({
    ...launch(program, ['--model', model, '--host', '127.0.0.1', '--port', String(port), '--ctx-size', '2048']),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/health',
    readyWithinMs: 120_000,
  });
  const page = await fetch(server.url);
  if (page.ok && page.headers.get('content-type')?.startsWith('text/html')) return { server };
  await server.stop();
  return {
    whyNot: `llama-server answers its page with ${page.status}: it is built from sources that hold no built page, which npm packages of its own would have to make`,
  };
}
