/** Every command of `svc`, in the order of `svc help`, by the file that has it. */
import type { Command } from './command.ts';

export const commands: readonly CommandEntry[] = [
  ...commandsOf(() => import('./commands/serve.ts'), 'serve'),
  ...commandsOf(() => import('./commands/status.ts'), 'status'),
  ...commandsOf(() => import('./commands/chat.ts'), 'chat'),
  ...commandsOf(() => import('./commands/speak.ts'), 'speak', 'voices'),
  ...commandsOf(() => import('./commands/transcribe.ts'), 'transcribe'),
  ...commandsOf(() => import('./commands/eval-stt.ts'), 'eval stt'),
  ...commandsOf(() => import('./commands/video.ts'), 'video frames', 'video analyze'),
  ...commandsOf(() => import('./commands/doctor.ts'), 'doctor'),
  ...commandsOf(() => import('./commands/support-bundle.ts'), 'support-bundle'),
  ...commandsOf(() => import('./commands/models.ts'), 'models list'),
  ...commandsOf(() => import('./commands/models-pull.ts'), 'models pull'),
  ...commandsOf(() => import('./commands/models-import.ts'), 'models import'),
  ...commandsOf(() => import('./commands/models.ts'), 'models show', 'models verify', 'models rm'),
  ...commandsOf(() => import('./commands/models-probe.ts'), 'models probe'),
  ...commandsOf(() => import('./commands/models-memory.ts'), 'models load', 'models unload'),
  ...commandsOf(() => import('./commands/kb-add.ts'), 'kb add'),
  ...commandsOf(() => import('./commands/kb-ask.ts'), 'kb ask'),
  ...commandsOf(() => import('./commands/kb.ts'), 'kb search', 'kb list', 'kb rm', 'kb rebuild'),
  ...commandsOf(() => import('./commands/kb-eval.ts'), 'kb eval'),
  ...commandsOf(() => import('./commands/admin-create.ts'), 'admin create'),
  ...commandsOf(() => import('./commands/users.ts'), 'user list', 'user create', 'user role'),
  ...commandsOf(() => import('./commands/users.ts'), 'user disable', 'user enable', 'user reset'),
  ...commandsOf(() => import('./commands/groups.ts'), 'group list', 'group create', 'group set', 'group delete'),
  ...commandsOf(() => import('./commands/groups.ts'), 'group members', 'group add', 'group remove'),
  ...commandsOf(() => import('./commands/invitations.ts'), 'invite', 'invite list', 'invite revoke'),
  ...commandsOf(() => import('./commands/tenants.ts'), 'tenant list', 'tenant create', 'tenant access'),
  ...commandsOf(() => import('./commands/keys.ts'), 'key list', 'key create', 'key revoke'),
  ...commandsOf(() => import('./commands/audit.ts'), 'audit', 'audit verify'),
  ...commandsOf(() => import('./commands/capabilities.ts'), 'capability list', 'capability create'),
  ...commandsOf(() => import('./commands/capabilities.ts'), 'capability derive', 'capability revoke'),
  ...commandsOf(() => import('./commands/usage.ts'), 'usage'),
  ...commandsOf(() => import('./commands/quotas.ts'), 'quota list', 'quota set'),
  ...commandsOf(() => import('./commands/backends.ts'), 'backend list', 'backend show', 'backend add', 'backend key'),
  ...commandsOf(() => import('./commands/backends.ts'), 'backend recheck', 'backend enable', 'backend disable', 'backend rm'),
  ...commandsOf(() => import('./commands/backends.ts'), 'backend elsewhere', 'backend take'),
  ...commandsOf(() => import('./commands/backends.ts'), 'route list', 'route set', 'route rm'),
  ...commandsOf(() => import('./commands/tools.ts'), 'tool list', 'tool run', 'tool policy', 'tool policy set'),
  ...commandsOf(
    () => import('./commands/mcp.ts'),
    'mcp list',
    'mcp add',
    'mcp refresh',
    'mcp approve',
    'mcp enable',
    'mcp disable',
    'mcp rm',
    'mcp sign-in',
  ),
  ...commandsOf(() => import('./commands/tools.ts'), 'approval list', 'approval show', 'approval approve', 'approval deny'),
  ...commandsOf(() => import('./commands/plugins.ts'), 'plugin list', 'plugin add', 'plugin enable', 'plugin disable'),
  ...commandsOf(() => import('./commands/goals.ts'), 'goal create', 'goal list', 'goal show', 'goal approve', 'goal execute'),
  ...commandsOf(() => import('./commands/goals.ts'), 'goal pause', 'goal cancel', 'goal resolve', 'goal follow'),
  ...commandsOf(() => import('./commands/goals.ts'), 'schedule list', 'schedule create', 'schedule enable', 'schedule disable'),
  ...commandsOf(() => import('./commands/goals.ts'), 'schedule run', 'schedule rm'),
  ...commandsOf(() => import('./commands/license.ts'), 'license show', 'license install', 'license verify'),
  ...commandsOf(() => import('./commands/security.ts'), 'security enforcement', 'security decisions'),
  ...commandsOf(() => import('./commands/jobs.ts'), 'jobs list', 'jobs show', 'jobs follow', 'jobs cancel'),
  ...commandsOf(
    () => import('./commands/nodes.ts'),
    'node list',
    'node drain',
    'node resume',
    'node roles',
    'node token',
    'node join',
    'node leave',
    'node rm',
    'node storage',
    'node sync',
    'node promote',
  ),
  ...commandsOf(() => import('./commands/webhooks.ts'), 'webhook list', 'webhook events', 'webhook create'),
  ...commandsOf(() => import('./commands/webhooks.ts'), 'webhook enable', 'webhook rotate', 'webhook rm'),
  ...commandsOf(() => import('./commands/webhooks.ts'), 'webhook deliveries', 'webhook replay'),
  ...commandsOf(() => import('./commands/syslog.ts'), 'syslog show', 'syslog set', 'syslog clear'),
  ...commandsOf(() => import('./commands/syslog.ts'), 'syslog test', 'syslog stats', 'syslog route'),
  ...commandsOf(() => import('./commands/science.ts'), 'science sources', 'science enable', 'science disable'),
  ...commandsOf(() => import('./commands/science.ts'), 'science request', 'science requests', 'science decline'),
  ...commandsOf(() => import('./commands/science.ts'), 'science query'),
  ...commandsOf(() => import('./commands/memory.ts'), 'memory list', 'memory add', 'memory search', 'memory forget'),
  ...commandsOf(() => import('./commands/memory.ts'), 'memory dream', 'memory undo'),
  ...commandsOf(() => import('./commands/memory.ts'), 'memory export', 'memory load'),
  ...commandsOf(() => import('./commands/memory-eval.ts'), 'memory eval'),
  ...commandsOf(() => import('./commands/router.ts'), 'router eval'),
  ...commandsOf(() => import('./commands/forecast.ts'), 'forecast'),
  ...commandsOf(() => import('./commands/iot.ts'), 'iot devices', 'iot show', 'iot add', 'iot change', 'iot enable'),
  ...commandsOf(() => import('./commands/iot.ts'), 'iot disable', 'iot rm', 'iot read', 'iot write', 'iot history'),
  ...commandsOf(() => import('./commands/iot.ts'), 'iot halt', 'iot resume'),
  ...commandsOf(
    () => import('./commands/comm.ts'),
    'comm accounts',
    'comm add',
    'comm send',
    'comm messages',
    'comm show',
    'comm resend',
  ),
  ...commandsOf(() => import('./commands/comm.ts'), 'comm rm', 'comm test', 'comm enable', 'comm disable'),
  ...commandsOf(() => import('./commands/comm.ts'), 'call start', 'call list', 'call show', 'call hangup'),
  ...commandsOf(() => import('./commands/logs.ts'), 'logs config', 'logs apply', 'logs status', 'logs repair', 'logs migrate'),
  ...commandsOf(() => import('./commands/logs-search.ts'), 'logs search', 'logs tail', 'logs rebuild'),
  ...commandsOf(() => import('./commands/logs-flows.ts'), 'logs flows'),
  ...commandsOf(
    () => import('./commands/logs-detection.ts'),
    ...[
      'logs incidents',
      'logs incident',
      'logs rules',
      'logs rule put',
      'logs rule enable',
      'logs rule disable',
      'logs rule rm',
    ],
    ...['logs blocklists', 'logs blocklist add', 'logs blocklist rm'],
  ),
  ...commandsOf(() => import('./commands/backup.ts'), 'backup create'),
  ...commandsOf(() => import('./commands/backup-read.ts'), 'backup list', 'backup show', 'backup verify'),
  ...commandsOf(() => import('./commands/backup-restore.ts'), 'backup restore'),
  ...commandsOf(() => import('./commands/backup.ts'), 'backup destination'),
  ...commandsOf(() => import('./commands/roles.ts'), 'roles'),
  ...commandsOf(() => import('./commands/config.ts'), 'config'),
  ...commandsOf(() => import('./commands/edge-config.ts'), 'edge config'),
  ...commandsOf(() => import('./commands/migrate.ts'), 'migrate'),
  ...commandsOf(() => import('./commands/purge.ts'), 'purge'),
  ...commandsOf(() => import('./commands/tls-self-signed.ts'), 'tls self-signed'),
  ...commandsOf(() => import('./commands/bench.ts'), 'bench'),
  ...commandsOf(() => import('./commands/version.ts'), 'version'),
  { words: ['help'], load: async () => (await import('./commands/help.ts')).helpCommand(loadCommands) },
];

/** All of them with their code, for what describes them: the help, the manual pages, docs/reference. */
export function loadCommands(): Promise<Command[]> {
  return Promise.all(commands.map((entry) => entry.load()));
}

/** A command before its code is loaded: `svc version` reads one small file, and not every command's. */
interface CommandEntry {
  /** Words after `svc`. */
  words: readonly string[];
  load(): Promise<Command>;
}

/** The commands of one file, which exports a `Command` for each of these names ("models pull"). */
function commandsOf(file: () => Promise<object>, ...names: readonly string[]): CommandEntry[] {
  return names.map((name) => ({
    words: name.split(' '),
    load: async () => {
      const found = Object.values(await file()).find((value) => isCommand(value) && value.words.join(' ') === name);
      if (found === undefined) throw new Error(`no file exports the command ${name}`);
      return found as Command;
    },
  }));
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Command>).words);
}
