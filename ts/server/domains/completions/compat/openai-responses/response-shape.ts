/** The response object in the reference. */
import Type from 'typebox';
import { named } from '../../../../platform/schema/named.ts';

export const ResponseShape = named(
  'Response',
  Type.Object({
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String({ description: 'The model that answered.' }),
    status: Type.String({
      description:
        'completed, incomplete (see incomplete_details) or failed (see error); queued, in_progress or cancelled in the background.',
    }),
    store: Type.Boolean({ description: 'Whether the response is kept.' }),
    previous_response_id: Type.Union([Type.String(), Type.Null()]),
    output: Type.Array(Type.Object({ id: Type.String(), type: Type.String(), status: Type.String() })),
  }),
);

export const ResponseEvent = named('ResponseEvent', Type.Object({ type: Type.String(), sequence_number: Type.Integer() }));
