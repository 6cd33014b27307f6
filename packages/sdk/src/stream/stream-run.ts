import type { RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { inlineTools, noToolsInBackground, type RunStart, requestOnly, sentOptions } from '../run-start.ts'
import type { Api } from '../transport/api.ts'
import { observe } from '../transport/request.ts'
import { RunStream } from './run-stream.ts'

/** Starts a run and immediately returns its stream. Without `isReadable`, the stream stores no events. */
export function streamRun<O extends OutputKind>(api: Api, start: RunStart<O>, isReadable = true): RunStream<O> {
  const { operation, fields, options, path } = start
  const { streaming, logger, runtime, hooks } = api.settings
  const tools = inlineTools(start)
  const { runUuid } = options
  const request = requestOnly(options)
  const join = (conversationUuid: string, options: RequestOptions) =>
    api.open('runs.attach', { conversationUuid, runUuid, stream: true }, { ...request, ...options })
  return new RunStream<O>({
    async open(signal, onUuid) {
      const sent = { ...sentOptions(start), signal }
      if (!options.background) return api.open(operation, { ...fields, ...(tools && { tools }), stream: true }, sent)
      if (options.tools) throw noToolsInBackground()
      // Start the run in the background, then attach, so that the run does not depend on its reader.
      const { data } = await api.answer<{ uuid: string }>(operation, fields, sent)
      onUuid(data.uuid)
      return join(data.uuid, { signal })
    },
    attach: (conversationUuid, lastEventId, signal) => {
      const headers = { ...request.headers, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) }
      // `readRun` counts the attempts itself and resets the count after every event.
      return join(conversationUuid, { headers, signal, maxRetries: 0 })
    },
    stop: (conversationUuid) => api.stopRun(conversationUuid, options),
    tools:
      options.tools &&
      (async (host) => {
        const { ToolLoop } = await import('../tools/tool-loop.ts')
        return new ToolLoop(api, start, host)
      }),
    resume: options.resume ?? streaming?.resume,
    onAbort: options.onAbort,
    signal: options.signal,
    lastEventId: start.lastEventId,
    idleTimeout: options.idleTimeout ?? streaming?.idleTimeout,
    bufferEvents: isReadable && (options.bufferEvents ?? streaming?.bufferEvents),
    callbacks: options,
    hook:
      hooks?.onStreamEvent &&
      ((event, conversationUuid) => {
        const about = { ...(conversationUuid && { conversationUuid }), ...(path && { path }) }
        observe(api.settings, () => hooks.onStreamEvent?.(event, about))
      }),
    prompt: path,
    logger,
    runtime,
  })
}
