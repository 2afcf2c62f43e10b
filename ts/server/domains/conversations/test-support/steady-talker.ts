/**
 * Appends messages whose ids count up, several at a time, and prints a JSON line with each id that was acknowledged. Usage: node
 * steady-talker.ts URL. Ends by being killed.
 */
import { createStorage } from '../../../platform/storage/index.ts';
import { ConversationService } from '../service.ts';
import { conversationMigrations } from '../store/migrations.ts';
import { owner } from './conversation-owners.ts';

const TALKERS = 4;
const ann = owner('red', 'ann');
const storage = createStorage({
  url: process.argv[2] ?? '',
  modules: [{ module: 'conversations', migrations: conversationMigrations }],
});
await storage.open();
const service = new ConversationService({ storage, temporaryMs: 1_000 });
let last = 0;

async function talk(conversationId: string): Promise<never> {
  await service.create(ann, { id: conversationId });
  for (;;) {
    last += 1;
    const id = `m${last}`;
    await service.append(ann, conversationId, { id, role: 'user', content: `message ${id}` });
    process.stdout.write(`${JSON.stringify({ conversationId, id })}\n`);
  }
}

await Promise.all(Array.from({ length: TALKERS }, (_, i) => talk(`c${i}`)));
