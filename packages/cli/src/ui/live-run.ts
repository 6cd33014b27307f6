import { resolve } from 'node:path'
import type { RunResult, RunStream, Stet } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError, type FailureCode } from '../exit-code.ts'
import type { EndSignal } from '../io.ts'
import { maxReconnects } from '../settings/client.ts'
import { rememberConversation } from '../settings/recent.ts'
import { writeNamedFile } from '../settings/write-file.ts'
import { type RunHead, RunOutput, type Shown } from './run-output.ts'

/** How a run is shown. */
export interface Following {
  client: Stet
  /** What Ctrl-C means for the run itself. */
  onInterrupt: 'stop' | 'leave'
  shown: Shown
  head: RunHead
  /** A file for the result. */
  saveTo?: string | undefined
}

/** Prints a run to its end. Ctrl-C ends the reading once; a second one finds no listener and ends the program as usual. */
export async function showRun(stream: RunStream, following: Following, ctx: Context): Promise<RunResult> {
  const output = new RunOutput(ctx, following.shown, following.head)
  const remembered = listen(stream, output, ctx)
  let interruption: Promise<CliError> | undefined
  const release = ctx.io.onInterrupt((signal) => {
    release()
    interruption = interrupt(stream, following, codeOf(signal))
    // awaited below, unless the run ends well before the stop arrives
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

/** Waits for a run that is not streamed; Ctrl-C gives up the waiting. */
export async function showWholeRun(
  start: (signal: AbortSignal) => PromiseLike<RunResult>,
  { shown, head, saveTo }: Pick<Following, 'shown' | 'head' | 'saveTo'>,
  ctx: Context,
): Promise<RunResult> {
  const output = new RunOutput(ctx, shown, head)
  const controller = new AbortController()
  let leftBy: FailureCode | undefined
  const release = ctx.io.onInterrupt((signal) => {
    leftBy = codeOf(signal)
    controller.abort()
  })
  try {
    const result = await start(controller.signal)
    await rememberConversation(result.uuid, ctx)
    output.whole(result)
    await saveResult(result, saveTo, ctx)
    return result
  } catch (error) {
    if (leftBy === undefined) throw error
    throw new CliError(leftBy, 'Left; a run without other readers ends after its grace period')
  } finally {
    release()
  }
}

function codeOf(signal: EndSignal): FailureCode {
  return signal === 'SIGINT' ? 'interrupted' : 'terminated'
}

/** @returns the writing of what is remembered of the run, which the program must not end before */
function listen(stream: RunStream, output: RunOutput, ctx: Context): { last: Promise<void> } {
  const remembered = { last: Promise.resolve() }
  stream.on('started', (uuid) => {
    remembered.last = rememberConversation(uuid, ctx)
  })
  stream.on('event', (event) => output.event(event))
  stream.on('text', (delta) => output.text(delta))
  stream.on('sdk', (event) => {
    if (event.type === 'reconnecting') output.reconnecting(event.attempt, maxReconnects)
    // what the model says after a call begins on a line of its own
    if (event.type === 'tool-started') output.endLine()
  })
  return remembered
}

/** Ends the reading, and the run where that is meant; gives the failure that says what happened. */
async function interrupt(stream: RunStream, { client, onInterrupt }: Following, code: FailureCode): Promise<CliError> {
  if (onInterrupt === 'leave') {
    const uuid = stream.detach()
    return new CliError(code, 'Left; the run goes on', { hint: `stet attach ${uuid ?? ''}`.trim() })
  }
  // A run whose uuid has not arrived yet cannot be stopped by name; it arrives with the head of the answer.
  const uuid = await stream.started()
  stream.detach()
  const conversation = { lines: [`conversation ${uuid}`] }
  try {
    // not stream.abort(), which keeps a stop that failed to itself
    await client.runs.stop(uuid)
    return new CliError(code, 'Stopped', conversation)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return new CliError(code, `Left, but the run could not be stopped: ${reason}`, conversation)
  }
}

async function saveResult(result: RunResult, file: string | undefined, ctx: Context): Promise<void> {
  if (file === undefined) return
  await writeNamedFile(resolve(ctx.io.cwd, file), `${JSON.stringify(result, null, 2)}\n`)
  ctx.say(`  saved to ${file}`)
}
