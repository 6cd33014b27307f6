import type { RunResult, ToolCall } from '../../src/index.ts'
import { result, runEvents } from './sample-run.ts'

type Events = ReturnType<typeof runEvents>

const shown = (calls: readonly ToolCall[]): Events =>
  calls.map(({ id, name, arguments: args }) => [
    'provider-event',
    { type: 'tool-call', toolCallId: id, toolName: name, args, _sourceData: { source: 'client' } },
  ])

/** A run that emits tool calls, waits for the result of each, and then completes. */
export function waitingRun(calls: readonly ToolCall[]): { events: Events; waitsAt: number } {
  const answered = calls.map(({ id, name, arguments: args }): Events[number] => [
    'provider-event',
    { type: 'tool-result', toolCallId: id, toolName: name, args, result: 'taken', isError: false },
  ])
  const run = runEvents(['Sun', 'ny.'])
  const events = [...run.slice(0, 4), ...shown(calls), ...answered, ...run.slice(4)]
  return { events, waitsAt: 4 + calls.length }
}

export function endingWith(calls: readonly ToolCall[]): Events {
  const run = runEvents([])
  const ended = run.map(([event, data]): Events[number] =>
    data.type === 'chain-completed' ? [event, { ...data, toolCalls: calls, toolRequests: calls }] : [event, data],
  )
  return [...ended.slice(0, 4), ...shown(calls), ...ended.slice(4)]
}

export function jsonEndingWith(calls: readonly ToolCall[]): RunResult {
  return { ...result(''), toolRequests: [...calls] }
}
