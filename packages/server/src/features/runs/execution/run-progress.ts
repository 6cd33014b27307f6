/** What a run has come to so far: its conversation, spending and last response. Whoever executes the run fills it, its driver reads it. */
import { addUsage, type Usage, usageOf } from '../../providers/usage.ts'
import type { Message } from '../../templates/message.ts'
import { createMessageList, type MessageList } from '../encoding/message-list.ts'
import type { RunSpending, StepResponse } from '../run.ts'

/** Model calls made so far, over all steps and agents. */
interface RunBudget {
  modelCalls: number
}

export interface RunProgress {
  readonly list: MessageList
  spending: RunSpending
  /** Shared with the runs of agents. */
  readonly budget: RunBudget
  /** Tool calls that wait for the caller right now. */
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
    cost: roundCost(left.cost + right.cost),
    costUnknown: left.costUnknown || right.costUnknown,
  }
}

export function spendingOf(usage: Usage, price: { cost: number; known: boolean }): RunSpending {
  return { tokenUsage: usage, cost: price.cost, costUnknown: !price.known }
}

// Sums of binary fractions drift; prices are given to 12 decimals.
function roundCost(cost: number): number {
  return Math.round(cost * 1e12) / 1e12
}
