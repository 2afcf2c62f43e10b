import t from 'tap';
import { Speaker } from './speaker.ts';

const tiny = { demonstration: 'shows that it runs', nParams: 8_000_000 };
const large = { nParams: 7_000_000_000 };

t.test('documents answer in place of demonstration models and small ones, unless a setting says who does', async (t) => {
  for (const [setting, model, isSilent] of [
    ['auto', tiny, true],
    ['auto', { nParams: 135_000_000 }, true],
    ['auto', large, false],
    ['auto', {}, false],
    ['quotes', large, true],
    ['model', tiny, false],
  ] as const)
    t.equal(new Speaker(setting, 'none').isSilent(model), isSilent, `${setting} ${JSON.stringify(model)}`);
});

t.test('behind "nothing was found" a model speaks where the request wants it and it may speak at all', async (t) => {
  t.ok(new Speaker('model', 'none').isSilentBehindNothing(large));
  t.notOk(new Speaker('auto', 'model').isSilentBehindNothing(large));
  t.ok(new Speaker('auto', 'model').isSilentBehindNothing(tiny));
});
