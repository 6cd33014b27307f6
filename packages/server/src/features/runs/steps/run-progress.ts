/** The state of a run while it executes: its messages, spending and budget. */
import { addUsage, type Usage, usageOf } from '../../providers/usage.ts'
import type { Message, ToolCall } from '../../templates/message.ts'
import { createMessageList, type MessageList } from '../encoding/message-list.ts'
import type { LatitudeEvent, RunEvent, ShowEvents } from '../events/run-event.ts'
import type { RunSpending, StepResponse } from '../run.ts'

export interface RunWatch {
  showEvents: ShowEvents
  signal: AbortSignal
}

export interface RunCompletion {
  response: StepResponse
  toolRequests: ToolCall[]
}

export function latitude(progress: RunProgress, event: LatitudeEvent): RunEvent {
  return { latitude: event, covers: progress.list.messages.length }
}

interface RunBudget {
  modelCalls: number
}

export interface RunProgress {
  readonly list: MessageList
  spending: RunSpending
  /** Shared with the runs of agents. */
  readonly budget: RunBudget
  /** Tool calls that currently wait for the caller. */
  awaitedCalls: number
  response: StepResponse | undefined
}

export function createRunProgress(earlier: readonly Message[], budget: RunBudget = { modelCalls: 0 }): RunProgress {
  return { list: createMessageList(earlier), spending: nothingSpent(), budget, awaitedCalls: 0, response: undefined }
}

export function nothingSpent(): RunSpending {
  return { tokenUsage: usageOf({}), cost: 0, costUnknown: false }
}

export function addSpending(left: RunSpending, right: RunSpending): RunSpending {
  return {
    tokenUsage: addUsage(left.tokenUsage, right.tokenUsage),
    // Sums of binary fractions drift; prices have 12 decimals.
    cost: Math.round((left.cost + right.cost) * 1e12) / 1e12,
    costUnknown: left.costUnknown || right.costUnknown,
  }
}

export function spendingOf(usage: Usage, price: { cost: number; known: boolean }): RunSpending {
  return { tokenUsage: usage, cost: price.cost, costUnknown: !price.known }
}
