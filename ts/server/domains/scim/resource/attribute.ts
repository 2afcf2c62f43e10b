/** Attributes of SCIM resources as data (RFC 7643 section 2): `/Schemas`, reading, patching and filtering all go by these. */

export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'complex';
  readonly description: string;
  readonly multiValued?: boolean;
  readonly required?: boolean;
  readonly caseExact?: boolean;
  /** `readWrite` where absent. */
  readonly mutability?: 'readOnly' | 'writeOnly' | 'immutable';
  readonly uniqueness?: 'server' | 'global';
  readonly sub?: readonly Attribute[];
}

export interface ResourceSchema {
  readonly urn: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

/** What a kind of resource has: its own attributes, and those of extensions, which stand in a member named by their URN. */
export interface ResourceKind {
  readonly name: 'User' | 'Group';
  /** Path of its endpoint. */
  readonly endpoint: string;
  readonly core: ResourceSchema;
  readonly extensions: readonly ResourceSchema[];
}

export const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0:';

/** Attributes that every resource has (RFC 7643 section 3.1). */
export const COMMON: readonly Attribute[] = [
  { name: 'id', type: 'string', description: 'Id here.', caseExact: true, mutability: 'readOnly' },
  { name: 'externalId', type: 'string', description: 'Id in the directory.', caseExact: true },
  {
    name: 'meta',
    type: 'complex',
    description: 'About the resource itself.',
    mutability: 'readOnly',
    sub: [
      { name: 'resourceType', type: 'string', description: 'Kind of the resource.', caseExact: true, mutability: 'readOnly' },
      { name: 'created', type: 'dateTime', description: 'When it was made.', mutability: 'readOnly' },
      { name: 'lastModified', type: 'dateTime', description: 'When it last changed.', mutability: 'readOnly' },
      { name: 'location', type: 'reference', description: 'Its path.', caseExact: true, mutability: 'readOnly' },
      { name: 'version', type: 'string', description: 'Its entity tag.', caseExact: true, mutability: 'readOnly' },
    ],
  },
];

/** Names are compared without regard to case (RFC 7643 section 2.1). */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((attribute) => attribute.name.toLowerCase() === wanted);
}

export function attributesOf({ core }: ResourceKind): readonly Attribute[] {
  return [...COMMON, ...core.attributes];
}
