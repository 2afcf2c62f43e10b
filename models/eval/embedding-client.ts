/** Embeds texts through a running server. */
export interface EmbeddingClient {
  url: string;
  model: string;
}

const textsPerRequest = 64;

/** One vector a text, in their order. */
export async function embedTexts({ url, model }: EmbeddingClient, texts: readonly string[]): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += textsPerRequest) {
    const response = await fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ model, input: texts.slice(start, start + textsPerRequest) }),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}: ${await response.text()}`);
    const { data } = (await response.json()) as { data: { embedding: number[] }[] };
    vectors.push(...data.map(({ embedding }) => Float32Array.from(embedding)));
  }
  return vectors;
}
