/** Refusals of the log collection. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const logsErrors = defineErrors('logs', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  invalid_query: [
    400,
    'The text of a search is not one of its language; `position` says where.',
    'Correct it there: words, "phrases", -without, prefix* and field:value; quotes look for a text as it is.',
  ],
  invalid_rule: [400, 'The text is no Sigma rule; `detail` says why.', 'Correct it as `detail` says, and send it again.'],
  forbidden: [
    403,
    'The caller is no administrator, or no sender of collected lines is assigned to the tenant.',
    'Use an administrator’s credential, and ask a superadmin to assign the tenant’s networks with `sources`.',
  ],
  incident_not_found: [404, 'There is no such incident.', 'List them: `svc logs incidents`.'],
  rule_not_found: [404, 'There is no such rule.', 'List them: `svc logs rules`.'],
  blocklist_not_found: [404, 'There is no such block list.', 'List them: `svc logs blocklists`.'],
  invalid_incident_state: [
    409,
    'The incident cannot go from its state to that one.',
    'Read it again: closed incidents are opened before they are acknowledged.',
  ],
  rule_is_own: [
    409,
    'The rule comes with the program, and is neither replaced nor removed.',
    'Switch it off, and install another one under an id of its own.',
  ],
  rsyslog_not_configured: [
    409,
    'No collection was configured on this node.',
    'Send a configuration first: `svc logs config FILE`, or PUT /api/v1/logs/rsyslog/config.',
  ],
  store_not_configured: [
    409,
    'No database for collected lines is set on this node.',
    'Set `logs.store.url` (SVC_LOGS_STORE_URL), and start the node again.',
  ],
  rsyslog_config_invalid: [
    422,
    'rsyslog does not take the configuration, or a line through each of its listeners did not arrive in both copies; the one before is in force.',
    'Correct what `rsyslog` says, and apply again.',
  ],
  logs_unavailable: [
    503,
    'The collected lines cannot be read now.',
    'See with `svc logs status` which copy cannot be read, and ask again.',
  ],
  rsyslog_missing: [503, 'rsyslog is not installed on this node.', 'Install rsyslog, rsyslog-openssl and rsyslog-relp.'],
});

export const logsError = logsErrors.error;
