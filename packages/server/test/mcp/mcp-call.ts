/** Sends MCP requests over HTTP as clients of both protocol eras do, and parses their answers. */
type Json = Record<string, unknown>

export interface McpAnswer {
  status: number
  text: string
  headers: Headers
  result: Json | undefined
  error: { code: number; message: string; data?: unknown } | undefined
  /** The messages before the answer. */
  notifications: { method: string; params: Json }[]
}

export interface McpOptions {
  era?: 'legacy' | 'modern'
  headers?: Record<string, string>
  signal?: AbortSignal
}

export type McpCaller = ReturnType<typeof mcpCaller>

const modern = '2026-07-28'

export function mcpCaller(url: string, key: string | undefined, common: McpOptions = {}) {
  return async (method: string, params: Json = {}, options: McpOptions = {}): Promise<McpAnswer> => {
    const { era = 'legacy', headers, signal } = { ...common, ...options }
    const request = era === 'modern' ? modernRequest(method, params) : { params, headers: {} }
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...request.headers,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: request.params }),
      ...(signal && { signal }),
    })
    return answerOf(response, await response.text())
  }
}

function modernRequest(method: string, params: Json) {
  const own = params['_meta'] as Json | undefined
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': modern,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...own,
  }
  const name = params['name'] ?? params['uri']
  const headers = { 'mcp-protocol-version': modern, 'mcp-method': method }
  return {
    params: { ...params, _meta },
    headers: { ...headers, ...(typeof name === 'string' && { 'mcp-name': name }) },
  }
}

function answerOf(response: Response, text: string): McpAnswer {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const lines = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text]
  const messages = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  const last = messages.find((message) => 'result' in message || 'error' in message)
  return {
    status: response.status,
    text,
    headers: response.headers,
    result: last?.result,
    error: last?.error,
    notifications: messages.filter((message) => 'method' in message),
  }
}

/** Calls a tool, and returns its result. */
export async function callTool(call: McpCaller, name: string, args: Json = {}, options: McpOptions = {}) {
  const answer = await call('tools/call', { name, arguments: args }, options)
  const { isError = false, structuredContent = {}, content = [], _meta = {} } = answer.result ?? {}
  return {
    ...answer,
    isError: isError === true,
    data: structuredContent as Json,
    texts: (content as { text: string }[]).map(({ text }) => text),
    meta: _meta as Json,
  }
}

export async function toolNames(call: McpCaller): Promise<string[]> {
  const { result } = await call('tools/list')
  return ((result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name)
}
