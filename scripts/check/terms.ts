/** Names that the literature's words replaced: one word for one thing, and the one that engineers of this field already use. */
export interface ReplacedTerm {
  /** Words that follow each other in a name, in lowercase; a plural is meant too. */
  words: readonly string[];
  write: string;
  /** Words together with which a word is ordinary. */
  ordinary?: readonly string[];
  /** Paths where a word has another, established meaning, with that meaning. */
  elsewhere?: Readonly<Record<string, string>>;
}

/**
 * Words with a second, ordinary meaning (turn, row, gap, present, drain, settle, offer, tier, lease, follower) are not listed: only together with
 * the word that makes them ours.
 */
export const replacedTerms: readonly ReplacedTerm[] = [
  {
    words: ['room'],
    write: 'module; of memory or a queue: space, capacity',
    elsewhere: { 'test/openai-tools.test.ts': 'a room of a house, in a tool', 'test/anthropic-client.test.ts': 'the same' },
  },
  { words: ['door'], write: 'binding (to native code), public interface (of a module)' },
  { words: ['seam'], write: 'test overrides' },
  {
    words: ['verdict'],
    write: 'inspection result',
    elsewhere: {
      'bench/': 'whether a figure reached its goal',
      'models/eval/': 'the same',
      'docs/operate/log-detection.md': 'what an incident turned out to be',
      'ts/cli/commands/logs-detection.ts': 'the same',
      'ts/client/routes.ts': 'the same',
      'ts/server/domains/logs/': 'the same',
      'ts/web/admin/': 'the same',
    },
  },
  { words: ['model table'], write: 'model registry' },
  { words: ['newcomer'], write: 'candidate' },
  { words: ['leaving', 'choose leaving'], write: 'victim, select victims' },
  { words: ['patience'], write: 'header timeout' },
  { words: ['hurry', 'hasty', 'haste'], write: 'priority' },
  { words: ['guess', 'guessed', 'guesses'], write: 'estimate (of tokens), draft (of what follows)' },
  { words: ['give', 'giving'], write: 'release', ordinary: ['give up'] },
  { words: ['lend', 'lent', 'memory lease', 'leased sink'], write: 'reserve' },
  { words: ['outage'], write: 'unavailable reason' },
  { words: ['usual', 'usually'], write: 'default' },
  { words: ['give way', 'gives way', 'step back', 'set aside'], write: 'evict, preempt or swap out' },
  { words: ['make way', 'clear the way', 'relieve'], write: 'preempt, save before evict or free cells' },
  { words: ['compute turn'], write: 'core arbitration' },
  { words: ['embed turn', 'tenant turn'], write: 'fair queue' },
  { words: ['adapter turn'], write: 'LoRA batch rotation' },
  { words: ['sleeper'], write: 'slow reader' },
  { words: ['dispensable'], write: 'evictable' },
  { words: ['ledger'], write: 'reference counts' },
  { words: ['settle draft', 'settle queue', 'settle embedder', 'settle tree'], write: 'verify, reconcile, complete or attach' },
  { words: ['prefix leader'], write: 'prefix owner' },
  { words: ['prefix follower'], write: 'prefix waiter' },
  { words: ['equip'], write: 'build samplers' },
  { words: ['defuse', 'defused'], write: 'escape special tokens' },
  { words: ['company'], write: 'CPU contention' },
  { words: ['drain rate'], write: 'service rate' },
  { words: ['queue bound'], write: 'admission control' },
  { words: ['filler', 'fill gap'], write: 'padding row' },
  { words: ['common buffer', 'one buffer'], write: 'unified KV' },
  { words: ['buffer each'], write: 'per-sequence KV' },
  { words: ['nudge', 'nudged', 'doorbell'], write: 'notify, wake-up' },
  { words: ['wish'], write: 'draft request; of a client: request' },
  { words: ['offer draft', 'draft offer'], write: 'draft candidate' },
  { words: ['judge draft'], write: 'record acceptance' },
  { words: ['trouble'], write: 'I/O error' },
  { words: ['kv tier'], write: 'KV offload' },
  { words: ['licence', 'licences'], write: 'license' },
];
