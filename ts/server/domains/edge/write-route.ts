/** Writing a device: the tool iot.write by a route of its own, so that a variable's rule holds for people as for models. */
import type { Static } from 'typebox';
import { json, type Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { iotErrors, WriteAsked, WriteVariable, Written } from '../iot/index.ts';
import { callByOwnRoute, type OwnRouteRunner, ownRouteErrors } from './calls/own-route.ts';
import { edgeErrors } from './errors.ts';

const { post } = routes({ tag: 'IoT', auth: 'developer', scope: 'iot:write', errors: edgeErrors });

export function writeRoute(executor: OwnRouteRunner): Route {
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
      'approval_used',
      ...ownRouteErrors,
    ],
    handle: async (context) => {
      const { approval_id: approvalId, ...written } = context.body;
      // Whoever has no device has no such tool.
      const missing = () => iotErrors.error('device_not_found', `There is no device ${JSON.stringify(written.device_id)}.`);
      const call = { tool: 'iot.write', arguments: written, approvalId, missing };
      const outcome = await callByOwnRoute<Static<typeof Written>>(executor, context, call);
      return 'result' in outcome ? json(200, outcome.result) : json(202, outcome);
    },
  });
}
