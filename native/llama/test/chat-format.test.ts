/**
 * A template is analysed once and then only rendered. For each of upstream's templates (models/templates), a conversation must come
 * out the same whether it is the first with this template or follows another one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { vocabularyFolder } from '../../../models/random/vocabulary.ts';
import { LlamaModel } from '../../../ts/server/native/llama.ts';

const folder = join(await vocabularyFolder(), 'templates');
const path = await randomModel({ arch: 'llama', shape: 'tiny', seed: 1 });
const chat = (messages: object[]) => ({ kind: 'chat', messagesJson: JSON.stringify(messages) }) as const;
const first = chat([{ role: 'user', content: 'One' }]);
const second = chat([
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Two' },
  { role: 'assistant', content: 'Three' },
  { role: 'user', content: 'Four' },
]);

/** The prompt that each conversation renders to, or the code of the refusal: some templates demand tools or forbid roles. */
async function render(chatTemplate: string, conversations: (typeof first)[]): Promise<string[]> {
  const model = await LlamaModel.load({ path, chatTemplate });
  const prompts: string[] = [];
  for (const conversation of conversations) {
    prompts.push(
      await model.renderChat(conversation).then(
        ({ prompt }) => prompt,
        (error) => `refused: ${error.code}`,
      ),
    );
  }
  await model.close();
  return prompts;
}

t.test("upstream's templates", async (t) => {
  let nRendered = 0;
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jinja'))) {
    const template = readFileSync(join(folder, name), 'utf8');
    // Some need what a model without their tokens has not, and are refused when it is loaded.
    const [alone] = await render(template, [second]).catch(() => []);
    if (alone === undefined) continue;
    const [, after] = await render(template, [first, second]);
    t.equal(after, alone, name);
    if (!alone?.startsWith('refused')) nRendered++;
  }
  t.ok(nRendered > 30, `${nRendered} templates rendered`);
});
