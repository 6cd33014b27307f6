import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunResult, RunStream, Stet } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { writeFileAtomically } from '../settings/json-file.ts'
import { rememberConversation } from '../settings/recent.ts'
import { type RunHead, RunOutput, type Shown } from './run-output.ts'
import { answerToolCalls, type ToolHandlers } from './tool-handlers.ts'

const maxReconnects = 3
const firstDelayMs = 500
// The turns of a conversation that handlers may cause: a model that never stops calling ends here.
const maxToolRounds = 20

/** How a run is shown. */
export interface Following {
  client: Stet
  /** What Ctrl-C means for the run itself. */
  onInterrupt: 'stop' | 'leave'
  shown: Shown
  head: RunHead
  /** The event that the stream begins behind. */
  from?: string | undefined
  /** A file for the result. */
  saveTo?: string | undefined
  handlers?: ToolHandlers | undefined
}

/** Prints a run to its end, through cuts of the connection and over the turns that its tools need. */
export async function showRun(first: RunStream, following: Following, ctx: Context): Promise<RunResult> {
  const output = new RunOutput(ctx, following.shown, following.head)
  let result = await follow(first, following, output, ctx)
  for (let round = 0; following.handlers && round < maxToolRounds; round += 1) {
    const answer = await answerToolCalls(result.toolRequests, following.handlers)
    if (!answer) break
    result = await follow(following.client.prompts.chatStream(result.uuid, [answer]), following, output, ctx)
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

/** Where a run stands. */
interface Course {
  stream: RunStream
  uuid: string | undefined
  lastEventId: string | undefined
  /** Aborted by the first Ctrl-C. */
  readonly interrupted: AbortController
}

async function follow(stream: RunStream, following: Following, output: RunOutput, ctx: Context): Promise<RunResult> {
  const course: Course = { stream, uuid: undefined, lastEventId: following.from, interrupted: new AbortController() }
  const { signal } = course.interrupted
  const release = ctx.io.onInterrupt(() => {
    // The second Ctrl-C finds no listener and ends the program as usual.
    release()
    course.interrupted.abort()
  })
  const left = new Promise<never>((_, fail) => {
    signal.addEventListener('abort', () => void interrupt(course, following).then(fail, fail))
  })
  const ended = followThroughCuts(course, following, output, ctx).catch((error: unknown) => {
    if (signal.aborted) return left
    throw error
  })
  try {
    return await Promise.race([ended, left])
  } finally {
    release()
    output.endLine()
  }
}

async function followThroughCuts(
  course: Course,
  { client, from }: Following,
  output: RunOutput,
  ctx: Context,
): Promise<RunResult> {
  let cut: unknown
  let attempt = 0
  for (;;) {
    const seen = course.lastEventId
    try {
      listen(course, output, ctx)
      return await course.stream.finalResult()
    } catch (error) {
      // What arrived is worth more than what failed: after any event the attempts begin anew.
      if (course.lastEventId !== seen) attempt = 0
      if (attempt === 0) cut = error
      if (!(await isCut(error, attempt)) || !course.uuid || course.interrupted.signal.aborted) throw error
      const isSilent = from !== undefined && course.lastEventId === from && isClean(error)
      if (isSilent && (await hasEnded(client, course.uuid))) return client.runs.attach(course.uuid)
      if (attempt === maxReconnects || !ctx.flags.retry) throw cut
    }
    attempt += 1
    output.reconnecting(attempt, maxReconnects)
    await delay(firstDelayMs * 2 ** (attempt - 1), undefined, { signal: course.interrupted.signal })
    const { uuid = '', lastEventId } = course
    course.stream = client.runs.attachStream(uuid, lastEventId === undefined ? {} : { lastEventId })
  }
}

function listen(course: Course, output: RunOutput, ctx: Context): void {
  const { stream } = course
  stream.on('started', (uuid) => {
    if (course.uuid === undefined) void rememberConversation(uuid, ctx)
    course.uuid = uuid
  })
  stream.on('event', (event) => {
    if (event.id) course.lastEventId = event.id
    output.event(event)
  })
  stream.on('text', (delta) => output.text(delta))
}

// A stream that begins behind the last event is empty. Its run has ended all the same: with a result or a failure.
function isClean(error: unknown): boolean {
  return error instanceof Error && error.cause === undefined
}

async function hasEnded(client: Stet, uuid: string): Promise<boolean> {
  const { status } = await client.conversations.get(uuid).catch(() => ({ status: undefined }))
  return status !== undefined && status !== 'queued' && status !== 'running'
}

// A server that is just starting again refuses for a moment.
async function isCut(error: unknown, attempt: number): Promise<boolean> {
  const { ApiError, ConnectionError } = await import('@stet/sdk')
  return error instanceof ConnectionError || (attempt > 0 && error instanceof ApiError && error.status === 503)
}

/** Ends the reading, and the run where that is meant; gives the failure that says what happened. */
async function interrupt(course: Course, { client, onInterrupt }: Following): Promise<CliError> {
  if (onInterrupt === 'leave') {
    course.stream.detach()
    return new CliError('interrupted', 'Left; the run goes on', { hint: `stet attach ${course.uuid ?? ''}`.trim() })
  }
  // A run whose uuid has not arrived yet cannot be stopped by name; it arrives with the head of the answer.
  const uuid = course.uuid ?? (await course.stream.started())
  course.stream.detach()
  const conversation = { lines: [`conversation ${uuid}`] }
  try {
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
