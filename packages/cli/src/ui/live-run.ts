import { resolve } from 'node:path'
import type { RunResult, RunStream, Stet } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError, codeOfSignal, type FailureCode } from '../exit-code.ts'
import { maxReconnects } from '../settings/client.ts'
import { writeNamedFile } from '../settings/write-file.ts'
import { Interruption } from './interruption.ts'
import { rememberConversation } from './recent-conversations.ts'
import { type RunHead, RunOutput, type Shown } from './run-output.ts'

export interface Following {
  client: Stet
  onInterrupt: 'stop' | 'leave'
  shown: Shown
  head: RunHead
  saveTo?: string | undefined
}

/** Prints a run until it ends. The first Ctrl-C stops or leaves the run (`onInterrupt`). The second ends the program. */
export async function showRun(stream: RunStream, following: Following, ctx: Context): Promise<RunResult> {
  const output = new RunOutput(ctx, following.shown, following.head)
  const remembered = listen(stream, output, ctx)
  let interruption: Promise<CliError> | undefined
  const release = ctx.io.onInterrupt((signal) => {
    release()
    interruption = interrupt(stream, following, codeOfSignal(signal))
    // Prevents an unhandled rejection: nothing awaits `interruption` if the run succeeds.
    interruption.catch(() => {})
  })
  let result: RunResult
  try {
    result = await stream.finalResult()
  } catch (error) {
    throw interruption ? await interruption : error
  } finally {
    release()
    output.endLine()
    await remembered.last
  }
  output.end(result)
  await saveResult(result, following.saveTo, ctx)
  return result
}

/** Waits for a run that is not streamed. Ctrl-C ends the wait. */
export async function showWholeRun(
  start: (signal: AbortSignal) => PromiseLike<RunResult>,
  { shown, head, saveTo }: Pick<Following, 'shown' | 'head' | 'saveTo'>,
  ctx: Context,
): Promise<RunResult> {
  const output = new RunOutput(ctx, shown, head)
  const interruption = new Interruption(ctx)
  try {
    const result = await start(interruption.signal)
    await rememberConversation(result.uuid, ctx)
    output.whole(result)
    await saveResult(result, saveTo, ctx)
    return result
  } catch (error) {
    interruption.throwIfInterrupted(
      'Disconnected; the run ends after its grace period unless another reader is attached',
    )
    throw error
  } finally {
    interruption.end()
  }
}

/** Calls `follow`. Adds the prompt's path to the message of a RunError, if the key may read the conversation. */
export async function namingPrompt<T>(client: Stet, uuid: string, follow: () => Promise<T>): Promise<T> {
  try {
    return await follow()
  } catch (error) {
    const { RunError } = await import('@stet/sdk')
    if (error instanceof RunError) {
      const path = await client.conversations.get(uuid).then(
        (conversation) => conversation.path,
        () => undefined,
      )
      if (path !== undefined) error.message = withPrompt(error.message, path)
    }
    throw error
  }
}

/** Inserts the path before the request id, or at the end if the message has no request id. */
function withPrompt(message: string, path: string): string {
  const end = message.endsWith(']') ? message.lastIndexOf(' [') : message.length
  const at = end === -1 ? message.length : end
  return `${message.slice(0, at)} (prompt ${path})${message.slice(at)}`
}

/** @returns `last`, the latest write of the recent-conversations file. Await this write before the program exits. */
function listen(stream: RunStream, output: RunOutput, ctx: Context): { last: Promise<void> } {
  const remembered = { last: Promise.resolve() }
  stream.on('started', (uuid) => {
    remembered.last = rememberConversation(uuid, ctx)
  })
  stream.on('event', (event) => output.event(event))
  stream.on('text', (delta) => output.text(delta))
  stream.on('sdk', (event) => {
    if (event.type === 'reconnecting') output.reconnecting(event.attempt, maxReconnects)
    // Text after a tool call starts on its own line.
    if (event.type === 'tool-started') output.endLine()
  })
  return remembered
}

/** Stops reading. If `onInterrupt` is `stop`, also stops the run. Returns the failure to report. */
async function interrupt(stream: RunStream, { client, onInterrupt }: Following, code: FailureCode): Promise<CliError> {
  if (onInterrupt === 'leave') {
    const uuid = stream.detach()
    return new CliError(code, 'Detached; the run continues', { hint: `run stet attach ${uuid ?? ''}`.trim() })
  }
  // Waits for the uuid, which arrives with the response headers. The stop request needs this uuid.
  const uuid = await stream.started()
  stream.detach()
  const conversation = { lines: [`conversation ${uuid}`] }
  try {
    // Reports a failed stop, which `stream.abort()` would hide.
    await client.runs.stop(uuid)
    return new CliError(code, 'Stopped', conversation)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return new CliError(code, `Disconnected, but the run could not be stopped: ${reason}`, conversation)
  }
}

async function saveResult(result: RunResult, file: string | undefined, ctx: Context): Promise<void> {
  if (file === undefined) return
  await writeNamedFile(resolve(ctx.io.cwd, file), `${JSON.stringify(result, null, 2)}\n`)
  ctx.say(`  saved to ${file}`)
}
