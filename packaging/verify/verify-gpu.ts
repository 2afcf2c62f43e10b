/**
 * The GPU package, beside an installed svc: with a stand-in for the backend library where the real one is not built. It is used when driver
 * and GPU are there, and the server starts, and says why it is not used, when they are not.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { runTool } from '../run-tool.ts';
import { gpuLibrary } from '../tree/gpu-tree.ts';
import { layout } from '../tree/layout.ts';
import { type Checks, expect } from './checks.ts';
import { InstalledServer } from './installed-server.ts';
import type { ScratchRoot } from './scratch-root.ts';
import { expectPlainNeeds, verifyLint } from './verify-rpm.ts';

interface GpuPackage {
  file: string;
  /** Compiled with CUDA; else a stand-in. */
  isReal: boolean;
  /** A library with the name of the driver's; undefined: the stand-ins are not built. */
  driver: string | undefined;
}

const unused = 'a library for GPUs is installed and not used';

export async function verifyGpu(
  checks: Checks,
  { file, isReal, driver }: GpuPackage,
  root: ScratchRoot,
  svc: string,
): Promise<void> {
  const query = (...args: string[]) => runTool('rpm', ['-qp', ...args, file], { debianPackage: 'rpm' });
  await checks.try('rpm svc-cuda: it needs the driver, the C library, and an svc of the same engine', async () => {
    const engine = (await query('--requires')).split('\n').find((need) => need.startsWith('svc(engine)')) ?? '';
    expect(engine !== '', 'it needs no svc');
    await expectPlainNeeds(file, ['libcuda.so.1()(64bit)', engine]);
    const given = await runTool('rpm', ['-qp', '--provides', svc], { debianPackage: 'rpm' });
    expect(given.includes(engine), `${svc} gives no ${engine}`);
    return engine;
  });
  await checks.try('rpm svc-cuda: it conflicts with nothing, and shares no file with svc', async () => {
    expect((await query('--conflicts')).trim() === '', await query('--conflicts'));
    const files = (await query('--list')).trim().split('\n');
    const others = new Set((await runTool('rpm', ['-qpl', svc], { debianPackage: 'rpm' })).trim().split('\n'));
    const shared = files.filter((each) => others.has(each));
    expect(shared.length === 0, shared.join(', '));
    expect(files.includes(`/${layout.native}/${gpuLibrary}`), files.join(', '));
    return `${files.length} files`;
  });
  await verifyLint(checks, 'rpm svc-cuda', file);
  await checks.try('rpm svc-cuda: installs beside svc', async () => {
    await root.install(svc, file);
    expect(existsSync(root.path(layout.native, gpuLibrary)), 'the library is not there');
    return (await root.rpm('-qa')).trim().split('\n').sort().join(' ');
  });
  const why = root.whyNotRun();
  if (why !== undefined) return checks.skip('svc-cuda: the loader', why);
  await verifyLoader(checks, root, isReal ? undefined : driver);
  await checks.try('rpm svc-cuda: its removal leaves svc', async () => {
    await root.rpm('-e', '--nodeps', '--noscripts', 'svc-cuda');
    expect(!existsSync(root.path(layout.native, gpuLibrary)) && existsSync(root.path(layout.command)), 'svc is gone too');
    return undefined;
  });
}

/** `driver`: what the stand-in is linked to. NVIDIA's own library asks more of a driver than that has. */
async function verifyLoader(checks: Checks, root: ScratchRoot, driver: string | undefined): Promise<void> {
  const program = await root.program();
  const start = (env: NodeJS.ProcessEnv = {}) => InstalledServer.start({ ...program, env: { ...program.env, ...env } });
  const doctor = async (env: NodeJS.ProcessEnv = {}) => {
    const [tool = '', ...args] = program.command;
    const output = runTool(tool, [...args, 'doctor'], { debianPackage: 'bubblewrap', env: { ...program.env, ...env } });
    return await output.catch((error: Error) => error.message);
  };
  await checks.try('svc-cuda: without the driver the server answers from the CPU, and says so', async () => {
    const server = await start();
    await server.expectAnswers();
    const { log } = server;
    await server.stop();
    expect(log.includes(unused) && log.includes('libcuda.so.1'), `the log does not say it:\n${log}`);
    expect((await doctor()).includes(`${gpuLibrary} is not used: libcuda.so.1`), 'svc doctor does not say it');
    return undefined;
  });
  if (driver === undefined) return;
  copyFileSync(driver, root.path('usr/lib64/libcuda.so.1'));
  const withDriver = { LD_LIBRARY_PATH: `${program.env['LD_LIBRARY_PATH']}:/usr/lib64` };
  await checks.try('svc-cuda: with a driver and no GPU the server answers from the CPU, and says so', async () => {
    const server = await start({ ...withDriver, SVC_STAND_IN_GPUS: '0' });
    await server.expectAnswers();
    const { log } = server;
    await server.stop();
    expect(log.includes(unused) && log.includes('finds no device'), `the log does not say it:\n${log}`);
    return undefined;
  });
  await checks.try('svc-cuda: with a GPU the models lie on it', async () => {
    const said = await doctor(withDriver);
    expect(/devices: CUDA0, CPU/.test(said), said);
    const server = await start(withDriver);
    await server.expectAnswers();
    const { log } = server;
    await server.stop();
    expect(!log.includes(unused), log);
    return undefined;
  });
}
