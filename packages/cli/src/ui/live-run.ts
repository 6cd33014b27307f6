import type { RunResult, RunStream, StreamEvent } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'

/** What the head line says before the model is known. */
export interface RunHead {
  path: string
  versionName: string
}

/** Prints a run while it happens: the answer on standard output, everything else on standard error. */
export async function showRun(stream: RunStream, head: RunHead, ctx: Context): Promise<RunResult> {
  const startedMs = performance.now()
  let firstTextMs: number | undefined
  let isAtLineStart = true
  stream.on('event', (event) => {
    if (ctx.flags.json) ctx.io.out(`${JSON.stringify({ id: event.id, event: event.event, data: event.data })}\n`)
    else if (event.type === 'provider-started') sayModel(event, head, ctx)
  })
  if (!ctx.flags.json) {
    stream.on('text', (delta) => {
      firstTextMs ??= performance.now() - startedMs
      ctx.io.out(delta)
      isAtLineStart = delta.endsWith('\n')
    })
  }
  const result = await untilEndOrInterrupt(stream, ctx, () => {
    if (!isAtLineStart) ctx.io.out('\n')
  })
  if (ctx.flags.json) ctx.io.out(`${JSON.stringify({ event: 'result', data: result })}\n`)
  else sayFoot(result, { totalMs: performance.now() - startedMs, firstTextMs }, ctx)
  return result
}

// The first Ctrl-C leaves; the listener is gone then, so that a second one ends the program as usual.
async function untilEndOrInterrupt(stream: RunStream, ctx: Context, onLineEnd: () => void): Promise<RunResult> {
  let isInterrupted = false
  const release = ctx.io.onInterrupt(() => {
    isInterrupted = true
    release()
    stream.detach()
  })
  try {
    return await stream.finalResult()
  } catch (error) {
    if (!isInterrupted) throw error
    throw new CliError('interrupted', 'Left; the server ends the run after its grace period', {
      ...(stream.conversationUuid && { lines: [`conversation ${stream.conversationUuid}`] }),
    })
  } finally {
    release()
    onLineEnd()
  }
}

function sayModel(event: Extract<StreamEvent, { type: 'provider-started' }>, head: RunHead, ctx: Context): void {
  const { provider, model } = event.data.config
  const names = [provider, model].filter((name) => typeof name === 'string').join('/')
  ctx.say(ctx.style.dim(`◌ ${[head.path, head.versionName, names].filter(Boolean).join(' · ')}`))
}

/** The closing line of a run, and its conversation. */
export function sayFoot(
  result: RunResult,
  { totalMs, firstTextMs }: { totalMs: number; firstTextMs: number | undefined },
  ctx: Context,
): void {
  const { tokenUsage: usage, response, cost } = result
  const parts = [`${response.finishReason}`, `${usage.inputTokens} in / ${usage.outputTokens} out tokens`]
  if (cost > 0) parts.push(`$${cost.toFixed(4)}`)
  parts.push(`${(totalMs / 1000).toFixed(1)} s`)
  if (firstTextMs !== undefined) parts.push(`first token ${(firstTextMs / 1000).toFixed(1)} s`)
  ctx.say(`${ctx.style.ok} ${parts.join(' · ')}`)
  for (const call of result.toolRequests) ctx.say(`  tool call ${call.name} ${JSON.stringify(call.arguments)}`)
  ctx.say(`  conversation ${result.uuid}`)
}
