/** Approvals: the calls that wait, the decision, and what became of a call that was made with it. */
import { DomainError } from '../../platform/errors/domain-error.ts';
import { listOf, page, pageRead } from '../../platform/http/page.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { type AuditSource, auditSource, type IdentityApi } from '../identity/index.ts';
import { type Approvals, approvalEntry, DECIDE_SCOPE, delegationOf } from './approvals/approvals.ts';
import { DIRECT_RUN, type ToolExecutor } from './calls/tool-executor.ts';
import { edgeErrors } from './errors.ts';
import { ApprovalId, ApprovalShape, ApprovalsQuery, approvalBody, DecideApproval } from './schemas.ts';
import type { ApprovalRow } from './tables.ts';

interface ApprovalRouteDeps {
  readonly approvals: Approvals;
  readonly executor: Pick<ToolExecutor, 'execute'>;
  readonly delegations: Pick<IdentityApi['delegations'], 'principalOf'>;
  readonly recordAct: IdentityApi['recordAct'];
  readonly now: () => number;
}

export const APPROVALS_PATH = '/api/v1/security/approvals';
/** Arguments may hold a program or a page. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

const { get, post } = routes({ tag: 'Tools', auth: 'viewer', scope: DECIDE_SCOPE, maxBody: MAX_BODY_BYTES, errors: edgeErrors });

export function approvalRoutes(deps: ApprovalRouteDeps): Route[] {
  const { approvals, recordAct, now } = deps;
  return [
    get(APPROVALS_PATH, {
      summary: 'Your calls of tools that asked, newest first',
      description:
        'For administrators of the tenant also those of others that cannot be undone, and for developers those that another person decides.',
      query: ApprovalsQuery,
      answer: listOf(ApprovalShape),
      handle: async ({ caller, query }) => {
        const rows = await approvals.list(caller, { state: query.state, ...pageRead(query) });
        return page(rows, query.limit, (row) => approvalBody(row, now()));
      },
    }),
    get(`${APPROVALS_PATH}/{id}`, {
      summary: 'An approval, with the outcome of a call that was made when it was approved',
      params: ApprovalId,
      answer: ApprovalShape,
      errors: ['approval_not_found'],
      handle: async ({ caller, params }) => approvalBody(await approvals.get(caller, params.id), now()),
    }),
    post(`${APPROVALS_PATH}/{id}`, {
      summary: 'Approve or deny a call of a tool',
      description:
        'Whoever owns the call decides; what cannot be undone, an administrator of the tenant; and where a device asks for it, another person. An approval ' +
        'holds for this one call, as it is shown, once, until `expires_at`. A write to a device is made at once, in the name of whoever asked.',
      params: ApprovalId,
      body: DecideApproval,
      bodyTexts: 'free',
      answer: ApprovalShape,
      errors: ['invalid_request', 'forbidden', 'approval_not_found', 'approval_closed', 'tool_not_found', 'tool_failed'],
      handle: async (context) => {
        const { params, body, caller } = context;
        const { decision, remember = 'once', reason } = body;
        const row = await approvals.decide(caller, params.id, { decision, remember, reason, arguments: body.arguments });
        const source = auditSource(context);
        await recordAct(approvalEntry(source, row, { decision, remember }));
        return approvalBody(row.state === 'approved' ? await made(deps, row, source) : row, now());
      },
    }),
  ];
}

/** Makes the call in the name of its owner as that is now. One that its caller makes again is left to it. */
async function made(
  { approvals, executor, delegations }: ApprovalRouteDeps,
  row: ApprovalRow,
  decider: AuditSource,
): Promise<ApprovalRow> {
  const delegation = delegationOf(row);
  if (delegation === undefined) return row;
  const caller = await delegations.principalOf(delegation);
  if (caller === undefined)
    return await approvals.keepOutcome(row, decider.caller, failure('forbidden', 'Whoever asked may do nothing any more.'));
  // What was begun goes on when whoever decided goes away.
  const { signal } = new AbortController();
  const call = { tool: row.tool, arguments: JSON.parse(row.arguments) as unknown, source: { ...decider, caller }, signal };
  const outcome = await executor
    .execute({ ...call, isDirect: true, isOwnRoute: true, isTainted: false, run: DIRECT_RUN, approvalId: row.id })
    .then(
      ({ isDone, result, error }) => (isDone ? { ok: true, result } : failure(error?.error ?? 'internal', error?.detail ?? '')),
      (error: unknown) => {
        if (error instanceof DomainError) return failure(error.code, error.message);
        throw error;
      },
    );
  return await approvals.keepOutcome(row, decider.caller, outcome);
}

function failure(error: string, detail: string) {
  return { ok: false, error, detail };
}
