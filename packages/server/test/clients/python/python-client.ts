/** The published Python client 5.10's calls, request by request, and its response handling. */
import type { z } from 'zod'
import {
  Annotation,
  AttachedResult,
  BackgroundResult,
  CreatedProject,
  DeclaredEvent,
  DeletedPrompt,
  Log,
  Project,
  Prompt,
  ProviderEvent,
  RunResult,
  ToolCallEvent,
  Version,
} from '../matrix/wire.ts'
import {
  PythonApiError,
  type PythonOptions,
  type PythonRequest,
  pythonEvents,
  pythonRequest,
  textOf,
} from './python-http.ts'

type Body = Record<string, unknown>
export type ToolHandler = (args: Body, details: Body) => Promise<unknown>

export interface StreamOptions {
  stream?: boolean
  tools?: Record<string, ToolHandler>
  mcp_headers?: Record<string, Record<string, string>>
  on_event?(event: Body): void
  on_finished?(result: Body): void
  on_error?(error: PythonApiError): void
}

export interface RunOptions extends StreamOptions {
  version_uuid?: string
  parameters?: Body
  custom_identifier?: string
  background?: boolean
  messages?: unknown[]
}

export interface FinishedResult {
  uuid: string
  conversation: unknown[]
  response: Body & { text: string }
}

interface VersionOption {
  version_uuid?: string
}

const api = '/api/v3'
const conversation = (uuid: string) => `${api}/conversations/${uuid}`
const documents = (project: number, { version_uuid }: VersionOption) =>
  `${api}/projects/${project}/versions/${version_uuid ?? 'live'}/documents`

export type PythonClient = ReturnType<typeof pythonClient>

export function pythonClient(options: PythonOptions, projectId = 1) {
  const ask = async <T>(model: z.ZodType<T>, call: PythonRequest): Promise<T> =>
    model.parse(JSON.parse(await textOf(await pythonRequest(options, call))))
  const documentsOf = (one: VersionOption) => documents(projectId, one)

  /** Streams by default. A failure throws, or calls `on_error` and returns no result. */
  async function start(call: Omit<PythonRequest, 'stream'>, model: z.ZodType, one: StreamOptions) {
    try {
      const stream = one.stream ?? true
      const response = await pythonRequest(options, { ...call, stream })
      const result = stream
        ? await follow(pythonEvents(response, response.headers['content-type']), one)
        : (model.parse(JSON.parse(await textOf(response))) as FinishedResult)
      one.on_finished?.({ ...result })
      return result
    } catch (error) {
      const shown =
        error instanceof PythonApiError ? error : new PythonApiError(500, 'internal_server_error', String(error))
      if (!one.on_error) throw shown
      one.on_error(shown)
      return undefined
    }
  }

  async function follow(events: ReturnType<typeof pythonEvents>, one: StreamOptions): Promise<FinishedResult> {
    let shown: z.infer<typeof DeclaredEvent> | undefined
    let response: FinishedResult['response'] | undefined
    for await (const { event, data } of events) {
      if (event === 'latitude-event') {
        shown = DeclaredEvent.parse(JSON.parse(data))
        if (shown.type === 'provider-completed') response = shown.response
        if (shown.type === 'chain-error') throw new PythonApiError(400, 'ai_run_error', shown.error.message)
        one.on_event?.(shown)
      } else if (event === 'provider-event') {
        const part = ProviderEvent.parse(JSON.parse(data))
        one.on_event?.(part)
        if (part.type === 'tool-call') await answer(ToolCallEvent.parse(part), one.tools ?? {})
      } else {
        throw new PythonApiError(500, 'internal_server_error', `Unknown stream event: ${event}`)
      }
    }
    if (!shown || !response) throw new PythonApiError(500, 'internal_server_error', 'The stream ended without a result')
    return { uuid: shown.uuid, conversation: shown.messages, response }
  }

  async function answer(call: z.infer<typeof ToolCallEvent>, tools: Record<string, ToolHandler>): Promise<void> {
    const { toolCallId, toolName, args } = call
    const handler = tools[toolName]
    if (!handler) return
    const outcome = await handler(args, { id: toolCallId, name: toolName, arguments: args }).then(
      (result) => ({ result, isError: false }),
      (error: Error) => ({ result: error.message, isError: true }),
    )
    const body = { toolCallId, ...outcome }
    const response = await pythonRequest(options, { method: 'POST', path: `${api}/tools/results`, body })
    response.resume()
  }

  return {
    projects: {
      get_all: () => ask(Project.array(), { method: 'GET', path: `${api}/projects` }),
      create: (name: string) => ask(CreatedProject, { method: 'POST', path: `${api}/projects`, body: { name } }),
    },
    versions: {
      get_all: (project = projectId) =>
        ask(Version.array(), { method: 'GET', path: `${api}/projects/${project}/versions` }),
    },
    prompts: {
      get: (path: string, one: VersionOption = {}) =>
        ask(Prompt, { method: 'GET', path: `${documentsOf(one)}/${path}` }),
      get_all: (one: VersionOption = {}) => ask(Prompt.array(), { method: 'GET', path: documentsOf(one) }),
      get_or_create: (path: string, { prompt, ...one }: VersionOption & { prompt?: string } = {}) =>
        ask(Prompt, { method: 'POST', path: `${documentsOf(one)}/get-or-create`, body: given({ path, prompt }) }),
      delete: (path: string, one: VersionOption = {}) =>
        ask(DeletedPrompt, { method: 'DELETE', path: `${documentsOf(one)}/${path}` }),
      run: (path: string, one: RunOptions = {}) =>
        start(
          {
            method: 'POST',
            path: `${documentsOf(one)}/run`,
            body: given({
              path,
              parameters: one.parameters,
              customIdentifier: one.custom_identifier,
              tools: one.tools && Object.keys(one.tools),
              stream: one.stream ?? true,
              background: one.background,
              mcpHeaders: one.mcp_headers,
              messages: one.messages,
            }),
          },
          one.background === true ? BackgroundResult : RunResult,
          one,
        ),
      chat: (uuid: string, messages: unknown[], one: StreamOptions = {}) =>
        start(
          {
            method: 'POST',
            path: `${conversation(uuid)}/chat`,
            body: given({
              messages,
              tools: one.tools && Object.keys(one.tools),
              stream: one.stream ?? true,
              mcpHeaders: one.mcp_headers,
            }),
          },
          RunResult,
          one,
        ),
    },
    runs: {
      attach: (uuid: string, one: StreamOptions = {}) =>
        start(
          { method: 'POST', path: `${conversation(uuid)}/attach`, body: { stream: one.stream ?? true } },
          AttachedResult,
          one,
        ),
      stop: async (uuid: string) => {
        const response = await pythonRequest(options, { method: 'POST', path: `${conversation(uuid)}/stop` })
        response.resume()
      },
    },
    logs: {
      create: (path: string, messages: unknown[], { response, ...one }: VersionOption & { response?: string } = {}) =>
        ask(Log, { method: 'POST', path: `${documentsOf(one)}/logs`, body: given({ path, messages, response }) }),
    },
    evaluations: {
      annotate: (uuid: string, score: number, evaluation: string, { reason }: { reason?: string } = {}) =>
        ask(Annotation, {
          method: 'POST',
          path: `${conversation(uuid)}/evaluations/${evaluation}/annotate`,
          body: given({ score, metadata: reason === undefined ? undefined : { reason } }),
        }),
    },
  }
}

function given(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
