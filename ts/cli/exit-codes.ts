/** What `svc` ends with. Scripts rely on these: numbers are never given another meaning. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'it did not work, or `doctor` found something broken' },
  usage: { code: 2, meaning: 'the command line or the configuration is wrong' },
  unreachable: { code: 3, meaning: 'the server, or the host of a download, does not answer' },
  not_found: { code: 4, meaning: 'there is no such model or file' },
  verification_failed: { code: 5, meaning: 'a file is damaged, or is not what was promised' },
  conflict: { code: 6, meaning: 'something of that name exists, or another process works on it' },
  no_space: { code: 7, meaning: 'the disk is too full' },
  restart: {
    code: 75,
    meaning:
      '`serve` ended so that its next start finishes a restore or a change of primaries; a service manager starts it by itself',
  },
  interrupted: { code: 130, meaning: 'stopped with Ctrl-C' },
} as const satisfies Record<string, { code: number; meaning: string }>;

export type ExitName = keyof typeof exitCodes;
