/** Refusals of the edge module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const edgeErrors = defineErrors('edge', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  insufficient_scope: [
    403,
    'The credential lacks the scope that the tool needs; `scope` names it.',
    'Use a credential that has it: `svc key create`.',
  ],
  forbidden: [403, 'A destructive call is approved by an administrator of the tenant.', 'Ask an administrator.'],
  tool_not_found: [404, 'There is no such tool, or the caller may not use it.', 'List the tools: `svc tool list`.'],
  approval_not_found: [404, 'There is no such approval that the caller may decide.', 'List them: `svc approval list`.'],
  mcp_session_missing: [
    400,
    'The request belongs to no MCP session.',
    'Send `initialize` first, or use the revision 2026-07-28.',
  ],
  mcp_session_not_found: [404, 'There is no such MCP session, or it is another caller’s.', 'Send `initialize` again.'],
  mcp_server_exists: [409, 'The tenant has an MCP server of that label.', 'Choose another label, or change that one.'],
  mcp_server_not_found: [404, 'The tenant has no such MCP server.', 'List them: `svc mcp list`.'],
  mcp_sign_in_needed: [401, 'The MCP server wants to know who is calling.', 'Sign in there: `svc mcp sign-in LABEL`.'],
  mcp_sign_in_failed: [502, 'Signing in to the MCP server failed.', 'Start again; the log has the reason.'],
  mcp_server_failed: [502, 'The MCP server gave no answer that can be used; `detail` says why.', 'Try again later.'],
  tool_failed: [502, 'The tool of another server failed; `detail` has its words.', 'Call it otherwise, or ask its operator.'],
  no_token_provider: [
    404,
    'The node takes no tokens of an OpenID provider.',
    'Use an API key, or set identity.oidc.* and edge.public_url.',
  ],
  approval_required: [
    409,
    'The call waits for the approval `approval_id`.',
    'Have it approved (`svc approval approve ID`), and send the same call again with `approval_id`.',
  ],
  approval_closed: [409, 'The approval was decided, used, or is over.', 'Make the call again, which asks again.'],
  approval_used: [409, 'The approved call was made already.', 'See its outcome: `svc approval show ID`.'],
  tool_changed: [
    409,
    'The tool is another one than when the call was approved or offered.',
    'Look at it again (`svc tool list`), and make the call without `approval_id`.',
  ],
  budget_exceeded: [
    429,
    'The caller has as many calls running, or waiting for approval, as it may have.',
    'Wait for one to end; `tools.calls_at_once` is the setting.',
  ],
  client_closed: [499, 'The client went away before the answer; nobody reads this.', 'Ask again, and wait for the answer.'],
  tool_unavailable: [503, 'The module that has the tool does not run on this node.', 'Switch its role on: `svc roles`.'],
  unsafe_address: [
    400,
    'The address is not https, or lies inside a network that tools may not reach.',
    'Name an https address on the internet, or the host in tools.allowed_hosts.',
  ],
  fetch_failed: [
    502,
    'Another server gave no answer that could be used; `detail` says why.',
    'Try again later, or another address.',
  ],
  plugin_not_found: [404, 'There is no such plugin on the node.', 'Place it there: `svc plugin add FOLDER`.'],
  plugin_invalid: [422, 'The folder is no whole plugin; `detail` says why.', 'Correct it, and place it again: `svc plugin add`.'],
  plugin_changed: [
    409,
    'The files of the plugin are not those that an administrator enabled.',
    'Look at what changed, and enable it again: `svc plugin enable ID`.',
  ],
  plugin_failed: [502, 'The plugin failed; `detail` says why.', 'Ask whoever wrote it; the log of the node has what it said.'],
  confinement_missing: [
    503,
    'Programs of others cannot be confined on this node, so that none runs; `detail` says what is missing.',
    'Use Linux 5.13 or later with Landlock and seccomp, and the whole package of svc.',
  ],
  python_missing: [
    503,
    'The Python interpreter for code.run is not installed on this node.',
    'Unpack the npm package pyodide, and name its folder in tools.python_dir.',
  ],
  tool_timeout: [504, 'The tool did not end in its time.', 'Ask for less, or give it longer (`timeout_seconds`).'],
});

export const edgeError = edgeErrors.error;
