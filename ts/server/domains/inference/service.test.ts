import t from 'tap';
import { MetricsRegistry } from '../../platform/metrics/registry.ts';
import type { CompletionRequest, CompletionSink, InferenceBackend, ModelCard } from './backend.ts';
import { InferenceService } from './service.ts';
import { NO_CAPABILITIES } from './test-support/capabilities.ts';
import { scriptedUsage } from './test-support/scripted-engine.ts';
import { unmetered } from './test-support/unmetered.ts';
import { InferenceMetrics } from './usage/metrics.ts';

const WORK = { kind: 'work' } as const;
const capabilities = { ...NO_CAPABILITIES, chat: true, tools: true };

/** Makes the card of a backend elsewhere, which does not know what its model is made of. */
function cardOf(id: string): ModelCard {
  return { id, kind: 'chat', family: 'far', capabilities, createdAt: 0, ownedBy: 'far', state: 'loaded' };
}

/** Answers a turn of the event loop after it was asked. */
class FarBackend implements InferenceBackend {
  readonly #card: ModelCard;
  nRunning = 0;

  constructor(id: string) {
    this.#card = cardOf(id);
  }

  unavailableReason(): undefined {
    return undefined;
  }

  async models(): Promise<ModelCard[]> {
    return [this.#card];
  }

  async complete(_: ModelCard, request: CompletionRequest, sink: CompletionSink) {
    this.nRunning += 1;
    setImmediate(() => {
      sink.onStart(1, 0);
      sink.onContent(0, Buffer.from(`${this.#card.id} to ${request.model}`));
      sink.onFinish(0, 'stop', '');
      sink.onDone(scriptedUsage);
      sink.onFlush();
    });
    const release = () => {
      this.nRunning -= 1;
    };
    return { cancel: () => {}, pause: () => {}, resume: () => {}, release };
  }

  embed = refuse;
  rank = refuse;
  countTokens = refuse;
  tokenize = refuse;
  detokenize = refuse;
}

async function refuse(): Promise<never> {
  throw new Error('it only chats');
}

function newService(id?: string): InferenceService {
  return new InferenceService({
    defaultModel: { id },
    metrics: new InferenceMetrics(new MetricsRegistry()),
    metering: unmetered,
  });
}

function requestOf(model: string): CompletionRequest {
  const job = { prompt: { kind: 'chat', messagesJson: '[]' }, maxTokens: 7 } as const;
  return { model, needsTools: false, needsVision: false, needsAudio: false, job };
}

/** Resolves with the text of the answer. */
async function ask(service: InferenceService, model: string): Promise<string> {
  const request = requestOf(model);
  const resolved = await service.resolve({ ability: 'chat', ...request }, WORK);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const silent = {
    onReasoning: () => {},
    onReasoningDetail: () => {},
    onToolCall: () => {},
    onToolArguments: () => {},
    onLogprobs: () => {},
    onFlush: () => {},
  };
  const sink: CompletionSink = {
    ...silent,
    isStreamed: true,
    begin: (usage) => {
      sink.onDone = (used) => {
        usage.completed(used);
        resolve(text);
      };
    },
    onStart: () => {},
    onContent: (_, bytes) => {
      text += bytes.toString();
    },
    onFinish: () => {},
    onDone: () => {},
    onError: reject,
  };
  await service.complete(resolved, request, sink, { tenant: 'red', signal: new AbortController().signal });
  return await promise;
}

t.test('a backend can be asked from when it is added until it is taken out', async (t) => {
  const service = newService();
  await t.rejects(ask(service, 'far'), { code: 'model_not_found' });
  const remove = service.addBackend(new FarBackend('far'));
  t.strictSame(
    (await service.models(WORK)).map(({ id }) => id),
    ['far'],
  );
  t.equal(await ask(service, 'far'), 'far to far');
  remove();
  remove();
  t.strictSame(await service.models(WORK), []);
  await t.rejects(ask(service, 'far'), { code: 'model_not_found' });
});

t.test('backends come and go under load: each request is answered by one that was there, and none is lost', async (t) => {
  const service = newService('home');
  const [home, far] = [new FarBackend('home'), new FarBackend('far')];
  service.addBackend(home);
  let isOver = false;
  let nSwitches = 0;
  const switching = (async () => {
    while (!isOver) {
      const remove = service.addBackend(far);
      await new Promise(setImmediate);
      remove();
      await new Promise(setImmediate);
      nSwitches += 1;
    }
  })();
  const answers: string[] = [];
  const askMany = async () => {
    for (let n = 0; n < 200; n += 1) answers.push(await ask(service, n % 2 === 0 ? 'far' : 'home'));
  };
  await Promise.all([askMany(), askMany(), askMany(), askMany()]);
  isOver = true;
  await switching;
  t.ok(nSwitches > 10);
  t.equal(answers.length, 800);
  const count = (text: string) => answers.filter((answer) => answer === text).length;
  t.equal(count('home to home'), 400);
  t.ok(count('far to far') > 0, 'the far one answered while it was there');
  t.equal(count('far to far') + count('home to far'), 400, 'the default model answered in its place');
  t.strictSame([home.nRunning, far.nRunning], [0, 0], 'each backend got its work back');
});
