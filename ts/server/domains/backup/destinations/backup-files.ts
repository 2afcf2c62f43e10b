/** Where the files of a backup folder are kept: a folder, a bucket, an SFTP server. Names are plain ones with slashes that svc made itself. */

export interface ListedFile {
  readonly path: string;
  /** Unix milliseconds, by the clock of who keeps the files. */
  readonly modifiedAt: number;
}

/** What does not work is a DomainError `destination_unusable`, unless a member says otherwise. */
export interface BackupFiles {
  /** For people; holds no credential. */
  readonly shown: string;
  /** How many chunks should be under way at once: a distant server answers late, and takes several meanwhile. */
  readonly parallel: number;
  /** Undefined: it is not there. Throws `backup_damaged` for what is larger than `maxBytes`, or no plain file. */
  read(path: string, maxBytes: number): Promise<Buffer | undefined>;
  /** The file appears whole or not at all, in the place of one that is there. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Whether it is there; it is then as young as a new one. */
  renew(path: string): Promise<boolean>;
  /** Everything below a folder, in its subfolders too; nothing where there is no such folder. */
  list(folder: string): Promise<ListedFile[]>;
  /** A file that is not there is no fault. */
  delete(path: string): Promise<void>;
  /** Makes what was written survive a power cut. */
  sync(): Promise<void>;
  /** Lets connections go. */
  close(): Promise<void>;
}

/** A name as svc makes them: what a foreign server lists beside them is left alone. */
export const FILE_NAME = /^[0-9A-Za-z][0-9A-Za-z.-]{0,127}$/;
