/** Remembers the conversation of each prompt in this tab, so that a reload loses neither it nor what is being written. */
import { base, queryClient, sessionQuery } from '../../app/session.ts'
import { store, stored, unstore } from '../../app/storage.ts'
import { mayKeep, unsavedPrefix } from '../../app/unsaved.ts'
import { type KnownCall, type RunView, toolCallsOf } from '../follow-run.ts'
import { isUnsaid, type Round } from './round.ts'

export interface KeptRun {
  /** Null before the run has started. Then only the reply is kept. */
  conversationUuid: string | null
  /** The message that the last run answers. Null for the prompt's own run. */
  said: string | null
  /** The earlier runs of the conversation, oldest first. */
  earlier: readonly KeptRound[]
  /** How many messages precede the first answer of the conversation. */
  messagesBefore: number | null
  /** Client tools whose results are entered in the pane. */
  tools: readonly string[]
  /** In milliseconds since 1970, because `performance.now()` starts again with the page. */
  startedAt: number
  firstTokenMs: number | null
  /** Null while the run may be active on the server. */
  durationMs: number | null
  /** Tool calls by their id. Their times are in milliseconds since 1970. */
  calls: Readonly<Record<string, KnownCall>>
  /** Results of client tools that are being written, by the id of the tool call. */
  results: Readonly<Record<string, string>>
  /** The reply that is being written. */
  reply: string
}

/** The conversation as the API returns it has the messages of a run, but not how the run ended. */
export interface KeptRound extends Pick<RunView, 'phase' | 'trouble'> {
  said: string | null
}

export type Written = Pick<KeptRun, 'tools' | 'results' | 'reply'>

/** The part of a conversation that is kept, with the texts written below it. Null if there is none. */
export function keptOf(shown: readonly Round[], written: Written): KeptRun | null {
  const last = shown.at(-1)
  // A message that the server does not have is kept as the reply that it was.
  const unsaid = last && isUnsaid(last) ? last.said : null
  const rounds = unsaid === null ? shown : shown.slice(0, -1)
  const { said = null, view } = rounds.at(-1) ?? {}
  const reply = written.reply || (unsaid ?? '')
  if (!view?.conversationUuid && !reply) return null
  return {
    ...written,
    reply,
    conversationUuid: view?.conversationUuid ?? null,
    said,
    earlier: rounds.slice(0, -1).map(({ said, view }) => ({ said, phase: view.phase, trouble: view.trouble })),
    messagesBefore: rounds[0]?.view.messagesBefore ?? null,
    startedAt: (view?.startedAt ?? 0) + performance.timeOrigin,
    firstTokenMs: view?.firstTokenMs ?? null,
    durationMs: view?.trouble?.isLost ? null : (view?.durationMs ?? null),
    calls: callsOf(rounds),
  }
}

function callsOf(rounds: readonly Round[]): KeptRun['calls'] {
  const seen = rounds.flatMap(({ view }) => [...Object.entries(view.knownCalls), ...toolCallsOf(view).map(entryOf)])
  return movedCalls(Object.fromEntries(seen), performance.timeOrigin)
}

function entryOf({ key, source, calledAt, durationMs }: ReturnType<typeof toolCallsOf>[number]): [string, KnownCall] {
  return [key, { source, calledAt, durationMs }]
}

/** The calls as a new page counts time. */
export function knownCalls({ calls }: KeptRun): KeptRun['calls'] {
  return movedCalls(calls, -performance.timeOrigin)
}

function movedCalls(calls: KeptRun['calls'], byMs: number): KeptRun['calls'] {
  const moved = ([id, call]: [string, KnownCall]) => [id, { ...call, calledAt: call.calledAt + byMs }] as const
  return Object.fromEntries(Object.entries(calls).map(moved))
}

/** Another person in the same tab gets neither the conversation nor the texts. */
function storageKey(key: string): string {
  const author = queryClient.getQueryData(sessionQuery.queryKey)?.apiKey.author.id
  return `${unsavedPrefix}run#${base.pathname}#${author}#${key}`
}

export function readRun(key: string): KeptRun | null {
  return stored(storageKey(key), 'sessionStorage') as KeptRun | null
}

/** Without room in the browser, a reload shows no conversation. */
export function keepRun(key: string, run: KeptRun | null): void {
  if (!mayKeep()) return
  const name = storageKey(key)
  if (!run || !store(name, run, 'sessionStorage')) unstore(name, 'sessionStorage')
}
