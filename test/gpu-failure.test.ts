/** A GPU that fails while it serves, played by the stand-in for CUDA's library: requests end with the reason, and the process lives. */
import { copyFileSync, linkSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { buildTarget, noReferences } from '../native/llama/test/reference.ts';
import { runCli } from '../ts/cli/run-cli.ts';
import { nativeFolder } from '../ts/server/native/load.ts';
import type { ChildServer } from './child-server.ts';
import { post, send } from './http.ts';
import { chatModel, startServer } from './server.ts';

const skip = process.platform === 'linux' ? noReferences() : 'the stand-in is built for Linux';
const body = { model: chatModel, messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 8, temperature: 0 };

/** A server beside whose libraries CUDA's stand-in lies; `fail` writes why each of its computations fails from then on. */
async function startWithGpu(t: Test, env: NodeJS.ProcessEnv = {}) {
  const build = dirname(nativeFolder());
  await buildTarget(build, 'stand-in-gpu');
  const folder = t.testdir({ lib: {}, server: {} });
  const libraries = join(folder, 'lib');
  for (const file of readdirSync(nativeFolder())) {
    if (file !== 'libggml-cuda.so') linkSync(join(nativeFolder(), file), join(libraries, file));
  }
  // The process that looks at models reads this folder alone.
  copyFileSync(join(build, 'references/gpu/libggml-cuda.so'), join(libraries, 'libggml-cuda.so'));
  copyFileSync(join(build, 'references/driver/libcuda.so.1'), join(libraries, 'libcuda.so.1'));
  const failure = join(folder, 'failure');
  const server = await startServer(t, {
    folder: join(folder, 'server'),
    env: { SVC_NATIVE_DIR: libraries, LD_LIBRARY_PATH: libraries, SVC_STAND_IN_FAILURE: failure, ...env },
  });
  const modelsDir = join(folder, 'server', 'models');
  return { server, modelsDir, fail: (reason: string) => writeFileSync(failure, reason) };
}

const detail = async ({ url }: ChildServer) => (await send(`${url}/api/v1/inference/models/${chatModel}`)).json;
const gpuOf = async ({ url }: ChildServer) => {
  const { json } = await send(`${url}/health`);
  return (json as { inference: { gpu?: unknown } }).inference.gpu;
};

t.test('a full GPU ends what runs there with the reason, and the CPU goes on with the same answers', { skip }, async (t) => {
  const { server, fail, modelsDir } = await startWithGpu(t);
  const show = () => runCli(['models', 'show', chatModel, '--url', server.url], { env: { SVC_MODELS_DIR: modelsDir } });
  const chat = () => post(`${server.url}/v1/chat/completions`, body);
  const before = await chat();
  t.match(before, { status: 200 });
  t.match(await detail(server), { gpu_layers: Number, gpu_memory_bytes: Number });
  t.ok(((await detail(server)) as { gpu_layers: number }).gpu_layers > 1);
  t.match(await gpuOf(server), { devices: [{ name: 'CUDA0', description: 'stand-in GPU' }] });
  t.match(await show(), { code: 0, stdout: /on GPU +\d+ layers, .*\nGPU +stand-in GPU \(/ });

  fail('out of memory');
  t.match(await chat(), { status: 503, json: { error: { code: 'device_failed' } } });
  const after = await retried(chat);
  t.match(after, { status: 200 });
  t.strictSame(contentOf(after), contentOf(before));
  t.match(await detail(server), { gpu_layers: 0, gpu_memory_bytes: 0 });
  t.match(await gpuOf(server), { unused: 'gpu_memory_full', reason: /out of memory/, remedy: /inference\.max_device_bytes/ });
  t.match(await show(), { code: 0, stdout: /GPU +the GPU is not used: .*out of memory.*; lower inference\.gpu_layers/ });
});

t.test('a stream that a lost GPU breaks off ends with an error frame', { skip }, async (t) => {
  const { server, fail } = await startWithGpu(t);
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, max_tokens: 400, stream: true, ignore_eos: true }),
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.length > 200) fail('an illegal memory access was encountered');
  }
  t.match(text, /"error":\{[^}]*device_failed/);
  t.notMatch(text, /\[DONE\]|"finish_reason":"/);
  t.match(await retried(() => post(`${server.url}/v1/chat/completions`, body)), { status: 200 });
  t.match(await gpuOf(server), { unused: 'library_unusable', reason: /illegal memory access/ });
  t.equal((await server.stop()).code, 0, 'what lies on a lost GPU is not freed');
});

t.test('with inference.gpu_required the model is refused until the server starts again', { skip }, async (t) => {
  const { server, fail } = await startWithGpu(t, { SVC_INFERENCE_GPU_REQUIRED: 'true' });
  const chat = () => post(`${server.url}/v1/chat/completions`, body);
  t.match(await chat(), { status: 200 });
  fail('no kernel image is available for execution on the device');
  t.match(await chat(), { status: 503, json: { error: { code: 'device_failed' } } });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  t.match(await chat(), { status: 503, json: { error: { code: 'device_failed', message: /inference\.gpu_required/ } } });
  t.match(await gpuOf(server), { unused: 'gpu_not_supported', remedy: /SVC_CUDA_ARCHITECTURES/ });
});

type Answer = Awaited<ReturnType<typeof post>>;

const contentOf = ({ json }: Answer) => (json as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

/** Tries again, as clients do at 503. */
async function retried(send: () => Promise<Answer>): Promise<Answer> {
  for (let n = 0; ; n++) {
    const answer = await send();
    if (answer.status !== 503 || n > 60) return answer;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
