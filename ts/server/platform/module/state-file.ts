/** What a module keeps in the data folder beside the database: part of every backup, and what a restore may replace. */
export interface StateFile {
  /** A name directly inside data_dir. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
}
