/** A backend in a list: its name, and below what it is and where. */
interface BackendNameProps {
  backend: { id: string; kind: string; base_url: string };
}

export function BackendName({ backend: { id, kind, base_url: url } }: BackendNameProps) {
  return (
    <div class="two-lines">
      <span>{id}</span>
      <span class="small quiet breakable">
        {kind} · {url}
      </span>
    </div>
  );
}
