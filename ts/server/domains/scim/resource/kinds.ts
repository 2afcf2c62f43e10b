/** The resources that directories provision: accounts and groups. */
import type { Attribute, ResourceKind } from './attribute.ts';

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...more,
});

/** A list of values with a type and one that is preferred, as addresses and telephone numbers are. */
const values = (name: string, description: string, more: readonly Attribute[] = []): Attribute => ({
  name,
  type: 'complex',
  multiValued: true,
  description,
  sub: [
    text('value', 'The value.'),
    text('display', 'For people.'),
    text('type', 'For example work.'),
    { name: 'primary', type: 'boolean', description: 'Whether it is the preferred one.' },
    ...more,
  ],
});

const reference = (what: string): readonly Attribute[] => [
  text('value', `Id of the ${what}.`, { caseExact: true, mutability: 'immutable' }),
  { name: '$ref', type: 'reference', description: 'Its path.', caseExact: true, mutability: 'readOnly' },
  text('display', 'Its name.', { mutability: 'readOnly' }),
  text('type', 'Its kind.', { mutability: 'immutable' }),
];

const NAME_PARTS = ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'];
const ADDRESS_PARTS = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'];
const MANAGER: readonly Attribute[] = [
  text('value', 'Id of the manager.', { caseExact: true }),
  { name: '$ref', type: 'reference', description: 'Path of the manager.', caseExact: true },
  text('displayName', 'Name of the manager.'),
];

export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

export const USER: ResourceKind = {
  name: 'User',
  endpoint: '/Users',
  core: {
    urn: 'urn:ietf:params:scim:schemas:core:2.0:User',
    name: 'User',
    description: 'An account.',
    attributes: [
      text('userName', 'Name of the account, unique in the installation.', { required: true, uniqueness: 'global' }),
      {
        name: 'name',
        type: 'complex',
        description: 'The person’s name.',
        sub: NAME_PARTS.map((part) => text(part, 'Part of the name.')),
      },
      text('displayName', 'Name to show.'),
      text('nickName', 'What others call the person.'),
      { name: 'profileUrl', type: 'reference', description: 'Page about the person.', caseExact: true },
      text('title', 'For example Vice President.'),
      text('userType', 'For example Employee.'),
      text('preferredLanguage', 'For example en-US.'),
      text('locale', 'For example en-US.'),
      text('timezone', 'For example Europe/Berlin.'),
      { name: 'active', type: 'boolean', description: 'False: sessions end, and keys and sign-in are refused.' },
      text('password', 'Password for sign-in without the provider; never shown.', { mutability: 'writeOnly', caseExact: true }),
      values('emails', 'E-mail addresses.'),
      values('phoneNumbers', 'Telephone numbers.'),
      values('ims', 'Addresses for messages.'),
      values('photos', 'Addresses of photos.'),
      values(
        'addresses',
        'Postal addresses.',
        ADDRESS_PARTS.map((part) => text(part, 'Part of the address.')),
      ),
      values('entitlements', 'Kept as they come.'),
      values('roles', 'Kept as they come; roles here are given by groups.'),
      {
        name: 'groups',
        type: 'complex',
        multiValued: true,
        description: 'Groups of the account.',
        mutability: 'readOnly',
        sub: reference('group'),
      },
    ],
  },
  extensions: [
    {
      urn: ENTERPRISE,
      name: 'EnterpriseUser',
      description: 'What companies know of a person.',
      attributes: [
        ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) =>
          text(name, 'Kept as it comes.'),
        ),
        { name: 'manager', type: 'complex', description: 'Who manages the person.', sub: MANAGER },
      ],
    },
  ],
};

export const GROUP: ResourceKind = {
  name: 'Group',
  endpoint: '/Groups',
  core: {
    urn: 'urn:ietf:params:scim:schemas:core:2.0:Group',
    name: 'Group',
    description: 'A group of accounts.',
    attributes: [
      text('displayName', 'Name of the group, unique in the tenant.', { required: true, uniqueness: 'server' }),
      { name: 'members', type: 'complex', multiValued: true, description: 'Accounts of the group.', sub: reference('account') },
    ],
  },
  extensions: [],
};
