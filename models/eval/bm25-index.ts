import Database from 'better-sqlite3';

/** Passages in an SQLite FTS5 index in memory, scored by its BM25 with its own settings. */
export class Bm25Index {
  readonly #database = new Database(':memory:');
  readonly #nPassages: number;

  constructor(passages: readonly string[]) {
    this.#nPassages = passages.length;
    this.#database.exec("CREATE VIRTUAL TABLE passage USING fts5(text, tokenize = 'unicode61')");
    const insert = this.#database.prepare('INSERT INTO passage(rowid, text) VALUES (?, ?)');
    for (const [index, text] of passages.entries()) insert.run(index, text);
  }

  /** One score a passage, higher is better; 0 where no word of the question occurs. */
  scores(question: string): Float64Array {
    const words = question.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    const scores = new Float64Array(this.#nPassages);
    if (words.length === 0) return scores;
    const query = words.map((word) => `"${word}"`).join(' OR ');
    const rows = this.#database
      .prepare('SELECT rowid AS id, bm25(passage) AS score FROM passage WHERE passage MATCH ?')
      .all(query);
    for (const { id, score } of rows as { id: number; score: number }[]) scores[id] = -score;
    return scores;
  }

  close(): void {
    this.#database.close();
  }
}
