/** Schemas for routes whose body is a stream: the type that the handler gets, and what the reference shows. */
import Type, { type TProperties, type TUnsafe } from 'typebox';
import type { BodyStream } from './body-stream.ts';
import type { MultipartBody, Part } from './multipart.ts';

/** The schema for `bodyKind: 'bytes'`. */
export const RawBody: TUnsafe<BodyStream> = Type.Unsafe<BodyStream>({ type: 'string', format: 'binary' });

/** A file within a form. */
export const FormFile = Type.Unsafe<never>({ type: 'string', format: 'binary' });

/** Makes the schema for `bodyKind: 'multipart'`; the handler itself checks which parts come. */
export function formBody(properties: TProperties): TUnsafe<MultipartBody> {
  return Type.Unsafe<MultipartBody>(Type.Object(properties));
}

/** Makes the schema for `bodyKind: 'form'`, of which the same is said. */
export function formOrJsonBody(properties: TProperties): TUnsafe<AsyncIterable<Part>> {
  return Type.Unsafe<AsyncIterable<Part>>(Type.Object(properties));
}
