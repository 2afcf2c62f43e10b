/** The server that the conformance suite of the protocol asks for: its tools, resources and prompts, word for word. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult, McpServer, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import type { McpLibrary } from '../../ts/server/domains/edge/mcp-server/mcp-endpoint.ts';

type Schema = Parameters<McpLibrary['fromJsonSchema']>[0];
type Handler = (
  args: Record<string, unknown>,
  context: ServerContext,
) => Promise<CallToolResult | object> | CallToolResult | object;

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
/** An empty sound: the 44 bytes of its head. */
const WAV = Buffer.from(
  '524946462400000057415645666d74201000000001000100401f0000803e0000020010006461746100000000',
  'hex',
).toString('base64');
const KEY = 'only for the conformance suite, 32 bytes';
const NAME_FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const OK_FORM = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

export function fixtureServer(library: McpLibrary): McpServerFactory {
  const codec = library.createRequestStateCodec<string>({ key: KEY, bind: (context) => context.mcpReq.method });
  return ({ era }) => {
    const server = new library.McpServer(
      { name: 'conformance-fixture', version: '1.0.0' },
      {
        capabilities: {
          logging: {},
          completions: {},
          tools: {},
          prompts: {},
          resources: era === 'legacy' ? { subscribe: true } : {},
        },
        requestState: { verify: codec.verify },
      },
    );
    const tool = (name: string, description: string, run: Handler, schema: object = { type: 'object', properties: {} }) =>
      server.registerTool(name, { description, inputSchema: library.fromJsonSchema(schema as Schema) }, run as never);
    addContentTools(tool);
    addMovingTools(tool);
    addAskingTools(tool, library, era);
    addStatefulTools(tool, library, codec);
    addResources(server, library, era);
    addPrompts(server, library);
    return server;
  };
}

type AddTool = (name: string, description: string, run: Handler, schema?: object) => unknown;

function addContentTools(tool: AddTool): void {
  const image = { type: 'image', data: PNG, mimeType: 'image/png' };
  const resource = (uri: string, mimeType: string, words: string) => ({
    type: 'resource',
    resource: { uri, mimeType, text: words },
  });
  tool('test_simple_text', 'A text', () => text('This is a simple text response for testing.'));
  tool('test_image_content', 'An image', () => ({ content: [image] }));
  tool('test_audio_content', 'A sound', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  tool('test_embedded_resource', 'A resource', () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }));
  tool('test_multiple_content_types', 'Several kinds', () => ({
    content: [
      ...text('Multiple content types test:').content,
      image,
      resource('test://mixed-content-resource', 'application/json', JSON.stringify({ test: 'data', value: 123 })),
    ],
  }));
  tool('test_error_handling', 'Fails', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('json_schema_2020_12_tool', 'Tool with JSON Schema 2020-12 features', () => text('fits'), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  });
}

function addMovingTools(tool: AddTool): void {
  const log = (context: ServerContext, words: string) => context.mcpReq.log('info', words);
  tool('test_tool_with_logging', 'Says what it does', async (_args, context) => {
    await log(context, 'Tool execution started');
    await sleep(50);
    await log(context, 'Tool processing data');
    await sleep(50);
    await log(context, 'Tool execution completed');
    return text('Tool with logging executed successfully');
  });
  tool('test_logging_tool', 'Says one thing', async (_args, context) => {
    await log(context, 'Logged');
    return text('logged');
  });
  tool('test_tool_with_progress', 'Says how far it is', async (_args, context) => {
    const { progressToken } = context.mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return text(`progress ${String(progressToken)}`);
  });
  tool('test_reconnection', 'Closes its stream', async (_args, context) => {
    context.http?.closeSSE?.();
    await sleep(100);
    return text('Reconnection test completed');
  });
}

/** Tools that ask something of the client: before 2026 by a request of the server, since then by an answer that wants input. */
function addAskingTools(tool: AddTool, library: McpLibrary, era: 'legacy' | 'modern'): void {
  const elicit = (message: string, requestedSchema: object) =>
    library.inputRequired.elicit({ message, requestedSchema: requestedSchema as never });
  const asks = (
    name: string,
    key: string,
    request: (args: Record<string, unknown>) => never,
    done: (given: unknown) => string,
    schema?: object,
  ) =>
    tool(
      name,
      `Asks for ${key}`,
      (args, context) => {
        const given = library.inputResponse(context.mcpReq.inputResponses, key);
        if (given.kind === 'missing') return library.inputRequired({ inputRequests: { [key]: request(args) } });
        return text(done(given));
      },
      schema,
    );
  const ofElicitation = (given: unknown) => {
    const { action, content } = given as { action: string; content?: object };
    return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
  };
  const string = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
  const sample = (prompt: string, maxTokens: number) =>
    library.inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens,
    });
  const sampled = (given: unknown) => {
    const { result } = given as { result: { content: { text?: string } } };
    return `LLM response: ${result.content.text ?? ''}`;
  };
  asks('test_sampling', 'sample', ({ prompt }) => sample(String(prompt), 100) as never, sampled, string('prompt'));
  asks(
    'test_elicitation',
    'user',
    ({ message }) =>
      elicit(String(message), {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      }) as never,
    (given) => `User response: ${ofElicitation(given)}`,
    string('message'),
  );
  asks(
    'test_elicitation_sep1034_defaults',
    'defaults',
    () =>
      elicit('Look at these', {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        required: [],
      }) as never,
    ofElicitation,
  );
  const titled = (of: string, word: string) =>
    ['1', '2', '3'].map((n, i) => ({ const: `${of}${n}`, title: `${['First', 'Second', 'Third'][i]} ${word}` }));
  asks(
    'test_elicitation_sep1330_enums',
    'enums',
    () =>
      elicit('Choose', {
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
          legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
          untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
          titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
        },
        required: [],
      }) as never,
    ofElicitation,
  );
  if (era === 'legacy') return;
  const named = (given: unknown) => (given as { content?: { name?: unknown } }).content?.name;
  tool('test_input_required_result_elicitation', 'Asks for a name', (_args, context) => {
    const name = named(library.inputResponse(context.mcpReq.inputResponses, 'user_name'));
    if (typeof name === 'string') return text(`Hello, ${name}!`);
    return library.inputRequired({ inputRequests: { user_name: elicit('What is your name?', NAME_FORM) } });
  });
  tool('test_streaming_elicitation', 'Asks on a stream', async (_args, context) => {
    if (library.inputResponse(context.mcpReq.inputResponses, 'user_name').kind === 'elicit') return text('done');
    return library.inputRequired({ inputRequests: { user_name: elicit('What is your name?', NAME_FORM) } });
  });
  asks(
    'test_input_required_result_sampling',
    'capital_question',
    () => sample('What is the capital of France?', 100) as never,
    sampled,
  );
  asks(
    'test_input_required_result_list_roots',
    'client_roots',
    () => library.inputRequired.listRoots() as never,
    (given) => `roots: ${JSON.stringify((given as { roots: unknown }).roots)}`,
  );
  tool('test_input_required_result_capabilities', 'Asks what the client can answer', (_args, context) => {
    const envelope = context.mcpReq.envelope as Record<string, { elicitation?: object; sampling?: object }> | undefined;
    const can = envelope?.['io.modelcontextprotocol/clientCapabilities'];
    const requests = {
      ...(can?.elicitation !== undefined && { name: elicit('What is your name?', NAME_FORM) }),
      ...(can?.sampling !== undefined && { words: sample('Say something', 20) }),
    };
    const isAnswered = context.mcpReq.inputResponses !== undefined;
    return isAnswered ? text('done') : library.inputRequired({ inputRequests: requests });
  });
  tool('test_missing_capability', 'Needs sampling', (_args, context) => {
    if (context.mcpReq.inputResponses !== undefined) return text('done');
    return library.inputRequired({ inputRequests: { words: sample('Say something', 20) } });
  });
}

/** Tools whose rounds belong together by a state that the client only carries. */
function addStatefulTools(tool: AddTool, library: McpLibrary, codec: ReturnType<McpLibrary['createRequestStateCodec']>): void {
  const elicit = (message: string, requestedSchema: object) =>
    library.inputRequired.elicit({ message, requestedSchema: requestedSchema as never });
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state'])
    tool(name, 'Carries a state', async (_args, context) => {
      if (context.mcpReq.requestState() === 'waiting' && context.mcpReq.inputResponses !== undefined) return text('state-ok');
      return library.inputRequired({
        inputRequests: { confirm: elicit('Please confirm', OK_FORM) },
        requestState: await codec.mint('waiting', context),
      });
    });
  tool('test_input_required_result_multiple_inputs', 'Asks three things', async (_args, context) => {
    if (Object.keys(context.mcpReq.inputResponses ?? {}).length >= 3) return text('All inputs received');
    return library.inputRequired({
      inputRequests: {
        user_name: elicit('What is your name?', NAME_FORM),
        greeting: library.inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
          maxTokens: 50,
        }),
        client_roots: library.inputRequired.listRoots(),
      },
      requestState: await codec.mint('three', context),
    });
  });
  tool('test_input_required_result_multi_round', 'Asks twice', async (_args, context) => {
    const state = context.mcpReq.requestState();
    if (state === 'second') return text('Both steps are done');
    if (state === 'first')
      return library.inputRequired({
        inputRequests: {
          step2: elicit('Step 2: What is your favorite color?', {
            type: 'object',
            properties: { color: { type: 'string' } },
            required: ['color'],
          }),
        },
        requestState: await codec.mint('second', context),
      });
    return library.inputRequired({
      inputRequests: { step1: elicit('Step 1: What is your name?', NAME_FORM) },
      requestState: await codec.mint('first', context),
    });
  });
}

function addResources(server: McpServer, library: McpLibrary, era: 'legacy' | 'modern'): void {
  const named = (description: string, mimeType: string) => ({ description, mimeType });
  server.registerResource('static-text', 'test://static-text', named('A text', 'text/plain'), ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('static-binary', 'test://static-binary', named('An image', 'image/png'), ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource('watched', 'test://watched-resource', named('A text that changes', 'text/plain'), ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched resource content' }],
  }));
  const template = new library.ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, named('A record', 'application/json'), ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
  if (era === 'modern') return;
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server: McpServer, library: McpLibrary): void {
  const said = (content: object) => ({ role: 'user' as const, content: content as never });
  const words = (of: string) => said({ type: 'text', text: of });
  const strings = (...names: string[]) =>
    library.fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }])),
      required: names,
    } as Schema);
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt' }, () => ({
    messages: [words('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'A prompt with arguments', argsSchema: strings('arg1', 'arg2') },
    ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', argsSchema: strings('resourceUri') },
    ({ resourceUri }) => ({
      messages: [
        said({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        words('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => ({
    messages: [said({ type: 'image', data: PNG, mimeType: 'image/png' }), words('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'A prompt that asks' }, ((context: ServerContext) => {
    const given = library.inputResponse(context.mcpReq.inputResponses, 'user_context');
    if (given.kind === 'elicit') return { messages: [words(`Context: ${JSON.stringify(given.content)}`)] };
    return library.inputRequired({
      inputRequests: {
        user_context: library.inputRequired.elicit({
          message: 'What context should the prompt use?',
          requestedSchema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
        }),
      },
    });
  }) as never);
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }));
}
