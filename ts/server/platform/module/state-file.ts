/** What a module keeps in the data folder beside the database: part of every backup, and what a restore may replace. */
export interface StateFile {
  /** A name directly inside data_dir. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** The rows that name files of the folder; absent: none does. */
  readonly rows?: StateRows;
}

export interface StateRows {
  readonly table: string;
  /** Text columns, which are also those of `unless`. */
  readonly columns: readonly string[];
  /** Where the row of a file that lies in the database instead is. */
  readonly unless: string;
  /** Inside the folder, from the values of the columns. */
  pathOf(values: readonly string[]): string;
}
