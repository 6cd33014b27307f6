export type Body = Record<string, unknown>

export interface ToolDetails extends Body {
  id?: string
  name?: string
  toolId?: string
  toolName?: string
  conversationUuid?: string
  pauseExecution?: () => never
}

export interface RunOptions extends Body {
  projectId?: number
  versionUuid?: string
  parameters?: Body
  stream?: boolean
  background?: boolean
  signal?: AbortSignal
  tools?: Record<string, (args: Body, details: ToolDetails) => unknown>
  onEvent?(event: { event: string; data: Body }): void
  onFinished?(data: RunResult): void
  onError?(error: ApiError): void
}

export interface RunResult {
  uuid: string
  conversation: Body[]
  response: { text: string; object?: unknown; toolCalls: Body[] }
  toolRequests?: Body[]
  agentResponse?: unknown
}

export interface ApiError extends Error {
  status: number
  errorCode: string
  serverResponse: string
}

export interface RenderOptions extends Body {
  prompt: Body
  parameters: Body
  onStep?(step: { messages: Body[]; config: Body }): Promise<unknown>
  tools?: Record<string, (args: Body, details: ToolDetails) => Promise<unknown>>
}

interface Rendered {
  config: Body
  messages: Body[]
  result?: unknown
}

export interface PublishedClient {
  prompts: {
    get(path: string, options?: Body): Promise<Body>
    getAll(options?: Body): Promise<Body[]>
    getOrCreate(path: string, options?: Body): Promise<Body>
    create(path: string, options?: Body): Promise<Body>
    run(path: string, options: RunOptions): Promise<RunResult | undefined>
    chat(uuid: string, messages: unknown[], options?: RunOptions): Promise<RunResult | undefined>
    render(options: RenderOptions): Promise<Rendered>
    renderChain(options: RenderOptions): Promise<Rendered>
    renderAgent(options: RenderOptions): Promise<Rendered>
  }
  versions: {
    get(projectId: number, versionUuid: string): Promise<Body>
    getAll(projectId?: number): Promise<Body[]>
    create(name: string, options?: Body): Promise<Body>
    push(projectId: number, versionUuid: string, changes: Body[]): Promise<Body>
  }
  projects: { getAll(): Promise<Body[]>; create(name: string): Promise<Body> }
  logs: { create(path: string, messages: unknown[], options?: Body): Promise<Body> }
  evaluations: { annotate(uuid: string, score: number, evaluationUuid: string, options?: Body): Promise<Body> }
}

export interface PublishedClass {
  new (apiKey: string, options?: Body): PublishedClient
  instrument(
    instrumentation: Record<string, (call: (...args: unknown[]) => unknown, ...args: unknown[]) => unknown>,
  ): void
  uninstrument(): void
}
