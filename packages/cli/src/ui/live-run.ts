import { resolve } from 'node:path'
import type { RunResult, RunStream, Stet } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { maxReconnects } from '../settings/client.ts'
import { writeFileAtomically } from '../settings/json-file.ts'
import { rememberConversation } from '../settings/recent.ts'
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
  listen(stream, output, ctx)
  let interruption: Promise<CliError> | undefined
  const release = ctx.io.onInterrupt(() => {
    release()
    interruption = interrupt(stream, following)
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
  const release = ctx.io.onInterrupt(() => controller.abort())
  try {
    const result = await start(controller.signal)
    await rememberConversation(result.uuid, ctx)
    output.whole(result)
    await saveResult(result, saveTo, ctx)
    return result
  } catch (error) {
    if (!controller.signal.aborted) throw error
    throw new CliError('interrupted', 'Left; a run without other readers ends after its grace period')
  } finally {
    release()
  }
}

function listen(stream: RunStream, output: RunOutput, ctx: Context): void {
  stream.on('started', (uuid) => void rememberConversation(uuid, ctx))
  stream.on('event', (event) => output.event(event))
  stream.on('text', (delta) => output.text(delta))
  stream.on('sdk', (event) => {
    if (event.type === 'reconnecting') output.reconnecting(event.attempt, maxReconnects)
    // what the model says after a call begins on a line of its own
    if (event.type === 'tool-started') output.endLine()
  })
}

/** Ends the reading, and the run where that is meant; gives the failure that says what happened. */
async function interrupt(stream: RunStream, { client, onInterrupt }: Following): Promise<CliError> {
  if (onInterrupt === 'leave') {
    const uuid = stream.detach()
    return new CliError('interrupted', 'Left; the run goes on', { hint: `stet attach ${uuid ?? ''}`.trim() })
  }
  // A run whose uuid has not arrived yet cannot be stopped by name; it arrives with the head of the answer.
  const uuid = await stream.started()
  stream.detach()
  const conversation = { lines: [`conversation ${uuid}`] }
  try {
    // not stream.abort(), which keeps a stop that failed to itself
    await client.runs.stop(uuid)
    return new CliError('interrupted', 'Stopped', conversation)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return new CliError('interrupted', `Left, but the run could not be stopped: ${reason}`, conversation)
  }
}

async function saveResult(result: RunResult, file: string | undefined, ctx: Context): Promise<void> {
  if (file === undefined) return
  await writeFileAtomically(resolve(ctx.io.cwd, file), `${JSON.stringify(result, null, 2)}\n`)
  ctx.say(`  saved to ${file}`)
}
