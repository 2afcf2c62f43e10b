/** How the pages of a tenant look. Reading is open: the sign-in page shows it. */
import Type from 'typebox';
import { RawBody } from '../../../platform/http/body/body-schema.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { auditSource } from '../audit/audit-entry.ts';
import type { Branding, Theme } from '../branding/branding.ts';
import { MAX_LOGO_BYTES } from '../branding/logo-image.ts';
import { identityErrors } from '../errors.ts';
import { TenantId } from '../schemas.ts';

const THEME = '/api/v1/tenants/{tenantId}/theme';
const LOGO = '/api/v1/tenants/{tenantId}/branding/logo';
const params = Type.Object({ tenantId: TenantId });
const Text = (maxLength: number, description: string) =>
  Type.Union(
    [
      Type.String({
        minLength: 1,
        maxLength,
        pattern: '^[^\\u0000-\\u001f\\u007f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$',
      }),
      Type.Null(),
    ],
    {
      description: `${description} Plain text; null: that of the product.`,
    },
  );
const Colour = (description: string) =>
  Type.Union([Type.String({ pattern: '^#[0-9a-fA-F]{6}$' }), Type.Null()], {
    description: `${description} #rrggbb; null: the product’s.`,
  });
const ThemeShape = {
  name: Text(60, 'What the pages call themselves.'),
  accent: Colour('Colour of links and buttons on light pages.'),
  accent_dark: Colour('The same on dark pages.'),
  welcome: Text(300, 'A sentence on the sign-in page.'),
};
const ThemeChange = named(
  'ThemeChange',
  Type.Object({
    name: Type.Optional(ThemeShape.name),
    accent: Type.Optional(ThemeShape.accent),
    accent_dark: Type.Optional(ThemeShape.accent_dark),
    welcome: Type.Optional(ThemeShape.welcome),
  }),
);
const ThemeBody = named(
  'Theme',
  Type.Object({
    ...ThemeShape,
    logo: Type.Union([Type.String(), Type.Null()], { description: 'Path of the logo; it changes with the picture.' }),
  }),
);

const isolated = {
  'content-type': 'image/png',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
};

const { get, put, del } = routes({ tag: 'Branding', auth: 'admin', errors: identityErrors });

export function brandingRoutes(branding: Branding): Route[] {
  return [
    get(THEME, {
      auth: 'open',
      summary: 'Name, colours and words of a tenant’s pages',
      description: 'An unknown tenant has the product’s own, like one that chose nothing.',
      params,
      answer: ThemeBody,
      headers: { 'cache-control': 'no-cache' },
      handle: async ({ params: { tenantId } }) => bodyOf(tenantId, await branding.theme(tenantId)),
    }),
    put(THEME, {
      scope: 'identity:manage',
      summary: 'Choose name, colours and words of a tenant’s pages',
      description: 'What is not named is the product’s own again. Colours in which text could not be read are refused.',
      params,
      body: ThemeChange,
      answer: ThemeBody,
      errors: ['accent_unreadable', 'tenant_not_found'],
      handle: async (context) => {
        const { name = null, accent = null, accent_dark = null, welcome = null } = context.body;
        const { tenantId } = context.params;
        const theme = await branding.setTheme(tenantId, { name, accent, accent_dark, welcome }, auditSource(context));
        return bodyOf(tenantId, theme);
      },
    }),
    ...logoRoutes(branding),
  ];
}

function logoRoutes(branding: Branding): Route[] {
  return [
    get(LOGO, {
      auth: 'open',
      summary: 'The logo of a tenant’s pages, a PNG',
      params,
      responses: { 200: Type.String({ description: 'image/png' }) },
      errors: ['logo_not_found'],
      handle: async ({ params: { tenantId } }) => {
        const { png, hash } = await branding.logo(tenantId);
        return {
          kind: 'bytes',
          status: 200,
          headers: { ...isolated, etag: `"${hash}"`, 'cache-control': 'public, max-age=3600' },
          body: png,
        };
      },
    }),
    put(LOGO, {
      scope: 'identity:manage',
      params,
      maxBody: MAX_LOGO_BYTES,
      bodyKind: 'bytes',
      summary: 'Give a tenant’s pages a logo',
      description:
        'The body is the file: PNG, JPEG or WebP. It is decoded and encoded anew as a PNG of at most 480 by 128 pixels, in a confined process. SVG is refused.',
      body: RawBody,
      answer: ThemeBody,
      errors: ['invalid_logo', 'tenant_not_found'],
      handle: async (context) => {
        const { tenantId } = context.params;
        return bodyOf(tenantId, await branding.setLogo(tenantId, context.body, auditSource(context)));
      },
    }),
    del(LOGO, {
      scope: 'identity:manage',
      params,
      summary: 'Take the logo away',
      errors: ['tenant_not_found'],
      handle: async (context) => {
        await branding.removeLogo(context.params.tenantId, auditSource(context));
      },
    }),
  ];
}

function bodyOf(tenant: string, { logo_hash: hash, ...theme }: Theme & { logo_hash: string | null }) {
  const logo = hash === null ? null : `/api/v1/tenants/${encodeURIComponent(tenant)}/branding/logo?v=${hash}`;
  return { ...theme, logo };
}
