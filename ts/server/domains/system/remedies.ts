/** What an operator can do about a reason of /health, by its code. */
const REMEDIES: Readonly<Record<string, string>> = {
  cpu_lacks_avx2: 'Run local models on a machine whose processor has AVX2. Everything else works here.',
  cpu_lacks_arm_extensions:
    'Run local models on a Raspberry Pi 5 or another processor with these extensions. Everything else works here.',
  default_model_failed:
    'Set default_model to a model that fits into memory, or free memory by unloading others, and load it again.',
  no_data_role:
    'Switch the role data on where knowledge bases are wanted: `svc roles enable data`, or Node roles in the console.',
  syslog_unreachable:
    'Check its address, its certificates and the firewall: `svc syslog test` says what goes wrong. Lines wait meanwhile, as many as there is space for.',
  syslog_unverified: 'Name the authority that signed its certificate with SVC_SYSLOG_CA_CERT.',
  rsyslog_missing: 'Install it: `apt install rsyslog rsyslog-openssl rsyslog-relp`, then restart the node.',
  rsyslog_stopped:
    'See what rsyslog says in the log of this node, or with `systemctl status svc-rsyslog`, and apply again: `svc logs apply`.',
  logs_full: 'Make space on a disk of the copies, or keep less: `retention` of `svc logs config`. Collecting goes on by itself.',
  logs_copy_full: 'Make space on the disk of that copy (`svc logs status`), or keep less. The other copy goes on.',
  logs_copy_behind:
    'See which one with `svc logs status`; hours that are over are repaired by themselves, or at once: `svc logs repair`.',
  detection_incident: 'See whom it is about with `svc logs incidents`, or Incidents in the console, and close it with a verdict.',
  flows_not_received:
    'Free that port, or name another one with `logs.flows_listen`, and restart the node. Lines are collected all the same.',
  revocations_late: 'Check that the node reaches PostgreSQL without a pooler that drops LISTEN connections.',
  storage_unavailable:
    'Look at free space and at errors of the disk, or at the connection to PostgreSQL. The node goes on by itself when writes work.',
  backup_failed: 'See its job under Backups in the console or with `svc jobs list`, then make one: `svc backup create`.',
  backup_late:
    'See whether the destination can be reached and has room (`svc backup destination`), then make one: `svc backup create`.',
  license_grace:
    'Install a new license before the grace period ends: License in the console, or the file that license.file names.',
  license_expired: 'Install a new license: License in the console, or the file that license.file names.',
  license_evaluation_ended: 'Install a license: License in the console, or the file that license.file names.',
  license_not_yet_valid: 'Check the clock of this machine, or wait until the license begins.',
};

export function remedyOf(code: string): string | undefined {
  return Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
}
