/** Writing a device: the tool iot.write by a route of its own, so that a variable's rule holds for people as for models. */
import type { Static } from 'typebox';
import { DomainError } from '../../platform/errors/domain-error.ts';
import { json, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { auditSource } from '../identity/index.ts';
import { iotErrors, WriteAsked, WriteVariable, Written } from '../iot/index.ts';
import { quotaErrors } from '../metering/index.ts';
import { toolCallErrors } from '../security/index.ts';
import { DIRECT_RUN, type ToolExecutor } from './calls/tool-executor.ts';
import { edgeError, edgeErrors } from './errors.ts';

const { post } = routes({ tag: 'IoT', auth: 'developer', scope: 'iot:write', errors: edgeErrors });

export function writeRoute(executor: Pick<ToolExecutor, 'execute'>): Route {
  return post('/api/v1/iot/write', {
    summary: 'Write a variable of a device, once',
    description:
      'Role, scope, type, range, step, rate, interlocks and halts are asked before a byte leaves. The value is read back: `verified` says whether it is the ' +
      'one. Where the variable asks for approval the answer is 202, and the write is made when it is approved; it is not sent again.',
    body: WriteVariable,
    responses: { 200: Written, 202: WriteAsked },
    errors: [
      ...iotErrors.specs(
        'value_out_of_range',
        'value_type_mismatch',
        'approval_missing',
        'device_not_found',
        'variable_not_found',
        'interlock_open',
        'write_rate_exceeded',
        'device_failed',
        'device_offline',
        'writes_halted',
        'write_outcome_unknown',
      ),
      'insufficient_scope',
      'forbidden',
      'approval_used',
      'tool_changed',
      'budget_exceeded',
      'client_closed',
      'tool_unavailable',
      'tool_timeout',
      'tool_failed',
      ...toolCallErrors,
      ...quotaErrors,
    ],
    handle: async (context) => {
      const { approval_id: approvalId, ...written } = context.body;
      const call = { tool: 'iot.write', arguments: written, source: auditSource(context), signal: context.signal };
      const outcome = await executor
        .execute({ ...call, isDirect: true, isOwnRoute: true, isTainted: false, run: DIRECT_RUN, approvalId })
        .catch((error: unknown) => refuse(error, written.device_id));
      if ('approval_id' in outcome) return json(202, outcome);
      if (outcome.isDone) return json(200, outcome.result as Static<typeof Written>);
      throw outcome.refusal ?? edgeError('tool_failed', outcome.error?.detail ?? 'The write failed.');
    },
  });
}

/** Whoever has no device has no such tool. */
function refuse(error: unknown, device: string): Static<typeof WriteAsked> {
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'approval_required') return { approval_id: String(error.extra['approval_id']) };
  if (error.code === 'tool_not_found') throw iotErrors.error('device_not_found', `There is no device ${JSON.stringify(device)}.`);
  throw error;
}
