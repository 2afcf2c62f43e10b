/** Refusals of the iot module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const iotErrors = defineErrors('iot', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  value_out_of_range: [
    400,
    'The value lies outside the range of the variable, or between its steps.',
    'Send one of `min` to `max`, in steps of `step`.',
  ],
  value_type_mismatch: [
    400,
    'The value has another type than the variable.',
    'Send a value of its type: `svc iot devices` shows it.',
  ],
  unsafe_address: [
    400,
    'The device lies inside the network, or is reached without encryption, and its host is not named.',
    'Have the operator name its host in iot.allowed_hosts.',
  ],
  approval_missing: [
    403,
    'The variable is written by approval, and the call has none of the kind.',
    'Make the call again: it asks.',
  ],
  device_not_found: [404, 'There is no such device that the caller may use.', 'List them: `svc iot devices`.'],
  variable_not_found: [404, 'The device has no such variable that the caller may use so.', 'List them: `svc iot show DEVICE`.'],
  device_exists: [409, 'The tenant has a device of that name.', 'Choose another name, or change that one.'],
  interlock_open: [
    409,
    'An interlock of the variable does not hold, or what it goes by is not known for certain.',
    'Bring the device into the state that `detail` names, and write then.',
  ],
  write_rate_exceeded: [
    429,
    'The variable would change more in a minute than it may, or another write to the device runs.',
    'Write a value that is nearer, or after `Retry-After`.',
  ],
  device_failed: [
    502,
    'The device answered that it does not do that; `detail` has its reason.',
    'Look at its profile and its state.',
  ],
  device_offline: [
    503,
    'The device cannot be reached now, so that nothing was sent.',
    'Look why: `svc iot show DEVICE`; a write is not sent later.',
  ],
  writes_halted: [
    503,
    'An administrator has halted all writes to devices.',
    'Wait until an administrator ends it: `svc iot resume`.',
  ],
  write_outcome_unknown: [
    504,
    'The write was sent, and no answer came: whether the device took it is not known.',
    'Read the variable before you write it again.',
  ],
});

export const iotError = iotErrors.error;
