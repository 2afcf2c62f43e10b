import t from 'tap';
import type { NativeError } from '../../../native/native-error.ts';
import type { CompletionRequest, CompletionSink, ModelCard } from '../backend.ts';
import { NO_CAPABILITIES } from '../test-support/capabilities.ts';
import { scriptedUsage } from '../test-support/scripted-engine.ts';
import { answersFromDocuments } from './abilities.ts';
import { ModelProbe } from './model-probe.ts';
import { makeProbeTasks } from './probe-tasks.ts';

const capabilities = { ...NO_CAPABILITIES, chat: true, tools: true };
const facts = { kind: 'chat', architecture: 'llama', family: 'llama', nCtxTrain: 4096, sizeBytes: 1, createdAt: 5 } as const;
const card: ModelCard = { ...facts, id: 'm', capabilities, ownedBy: 'local', state: 'loaded', nParams: 135e6 };

interface Said {
  text?: string;
  call?: { name: string; arguments: string };
}

/** Answers as a model would that does all that it is asked. */
function able({ prompt, jsonSchema }: CompletionRequest['job']): Said {
  if (prompt.kind !== 'chat') throw new Error('not a chat');
  const messages = JSON.parse(String(prompt.messagesJson)) as { role: string; content: string }[];
  const asked = messages.at(-1)?.content ?? '';
  if (prompt.toolsJson !== undefined) {
    const [, city] = /\bin ([A-Z]\p{L}+)/u.exec(asked) ?? [];
    return { call: { name: 'get_weather', arguments: JSON.stringify({ city }) } };
  }
  if (jsonSchema !== undefined) {
    const [, name, age, town] = /^(\p{L}+) (?:is|ist) (\d+) .* (?:lives in|wohnt in) (\p{L}+)\./u.exec(asked) ?? [];
    return { text: JSON.stringify({ name, age: Number(age), town }) };
  }
  if (messages.length === 3) return { text: /(?:called|heißt) (\p{L}+)/u.exec(messages[0]?.content ?? '')?.[1] ?? '' };
  if (/^(?:Who|Wer) /m.test(asked)) return { text: 'The passages do not say.' };
  const [, town] = /(?:harbour of|Hafen von) (\p{L}+) (?:opened|eröffnet)\?/u.exec(asked) ?? [];
  const [, number, year] = new RegExp(`\\[(\\d)\\] [^\\n]*${town}[^\\n]* (\\d{4})`).exec(asked) ?? [];
  return { text: `It was in “${year}” [${number}].` };
}

function backendOf(answer: (job: CompletionRequest['job']) => Said | NativeError | undefined) {
  const asked: CompletionRequest[] = [];
  const inside = (text: string): Buffer => Buffer.from(JSON.stringify(text).slice(1, -1));
  return {
    asked,
    models: async () => [card],
    complete: async (_card: ModelCard, request: CompletionRequest, sink: CompletionSink) => {
      asked.push(request);
      setImmediate(() => {
        const said = answer(request.job);
        if (said === undefined) return;
        if (said instanceof Error) return sink.onError(said);
        // A character of several bytes may come in pieces.
        for (const byte of inside(said.text ?? '')) sink.onContent(0, Buffer.of(byte));
        if (said.call) {
          sink.onToolCall(0, 0, 'call', said.call.name);
          sink.onToolArguments(0, 0, inside(said.call.arguments));
        }
        sink.onFinish(0, 'stop', '');
        sink.onDone(scriptedUsage);
      });
      return { cancel: () => {}, pause: () => {}, resume: () => {}, release: () => {} };
    },
  };
}

const never = new AbortController().signal;
const all = { answers: 1, cites: 1, denies: 1, follows_schema: 1, calls_tools: 1, refers: 1, tasks: 24 };

t.test('a model that does all it is asked has all abilities, and answers from documents whatever its size', async (t) => {
  const progress: number[] = [];
  const probe = new ModelProbe({ backend: backendOf(able), isBusy: () => false });
  const abilities = await probe.run('m', never, (done) => progress.push(done));
  t.strictSame(abilities, all);
  t.strictSame(
    progress,
    Array.from({ length: 24 }, (_, i) => i),
  );
  t.equal(answersFromDocuments({ nParams: 135e6, abilities }), true);
  t.equal(answersFromDocuments({ nParams: 135e6 }), false, 'of one that was not probed the size decides');
  t.equal(answersFromDocuments({ demonstration: 'for trying', abilities }), false);
});

t.test('a model that says whatever comes has none, and quotes', async (t) => {
  // No task has this name or one of these years.
  const backend = backendOf(() => ({ text: 'The harbour of Wexby was opened in 1785, in 1875 and in 1965 [1] [2].' }));
  const abilities = await new ModelProbe({ backend, isBusy: () => false }).run('m', never, () => {});
  t.match(abilities, { answers: 0, cites: 0, denies: 0, follows_schema: 0, calls_tools: 0, refers: 0, tasks: 24 });
  t.equal(answersFromDocuments({ nParams: 70e9, abilities }), false, 'however large it is');
});

t.test('nothing is asked while others wait', async (t) => {
  const backend = backendOf(able);
  let isBusy = true;
  const probed = new ModelProbe({ backend, isBusy: () => isBusy }).run('m', never, () => {});
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(backend.asked.length, 0);
  isBusy = false;
  t.equal((await probed).tasks, 24);
});

t.test('a probe that is cancelled ends with the reason, and one of a model that fails with the failure', async (t) => {
  const given = new AbortController();
  const silent = backendOf(() => {
    given.abort(new Error('enough'));
    return undefined;
  });
  const run = (backend: typeof silent, id: string, signal = never) =>
    new ModelProbe({ backend, isBusy: () => false }).run(id, signal, () => {});
  await t.rejects(run(silent, 'm', given.signal), { message: 'enough' });
  const broken = backendOf(() => Object.assign(new Error('no memory is left'), { code: 'out_of_memory' }) as NativeError);
  await t.rejects(run(broken, 'm'), { code: 'out_of_memory' });
  await t.rejects(run(broken, 'x'), { code: 'model_not_found' });
});

t.test('tasks are others for every seed, and the same for the same', (t) => {
  t.equal(JSON.stringify(makeProbeTasks(7)), JSON.stringify(makeProbeTasks(7)));
  t.not(JSON.stringify(makeProbeTasks(7)), JSON.stringify(makeProbeTasks(8)));
  t.equal(makeProbeTasks(1).length, 24);
  t.end();
});

t.test('no two passages of a task tell of the same place', (t) => {
  let nPlaces = 0;
  for (let seed = 0; seed < 500; seed++)
    for (const { prompt } of makeProbeTasks(seed)) {
      const lines = String(prompt.messagesJson)
        .split('\\n')
        .filter((line) => /\[\d\] /.test(line));
      const places = lines.map((line) => /(?:harbour of|Hafen von) (\p{L}+)/u.exec(line)?.[1]);
      if (new Set(places).size < places.length) t.fail(`seed ${seed}: ${places}`);
      nPlaces += places.length;
    }
  t.ok(nPlaces > 10_000, String(nPlaces));
  t.end();
});
