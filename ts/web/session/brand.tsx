/** The product's mark and name, or those of the tenant. */
import { branding, productName } from './branding.ts';

export function Brand() {
  const { logo, name } = branding.value;
  if (logo !== null) {
    return (
      <span class="brand">
        <img src={logo} alt={productName()} />
        {name !== null && <span aria-hidden="true">{name}</span>}
      </span>
    );
  }
  return (
    <span class="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d="M4 7.5c0-2 1.6-3.5 4-3.5h8c2.4 0 4 1.5 4 3.5S18.4 11 16 11H8c-2.4 0-4 1.5-4 3.5" />
        <path d="M20 16.5c0 2-1.6 3.5-4 3.5H8c-2.4 0-4-1.5-4-3.5" />
      </svg>
      {productName()}
    </span>
  );
}
