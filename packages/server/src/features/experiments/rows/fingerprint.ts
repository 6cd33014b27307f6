/** Hashes of rows, and the uuids of items, which follow from their place in the experiment. */
import { hash } from 'node:crypto'
import type { CannedResult, Message } from '@stet/contract/vocabulary'
import { uuidV5 } from '../../../shared/ids.ts'

export interface RowInputs {
  parameters: Record<string, unknown>
  messages: readonly Message[]
  toolResults: Record<string, CannedResult[]>
}

/** What an answer depends on, in stored order. `expected` and the checks change the score, not the run. */
export function rowHashOf({ parameters, messages, toolResults }: RowInputs): string {
  return hash('sha256', JSON.stringify([parameters, messages, toolResults]))
}

/** The same arms over the same rows. */
export function contentKeyOf(
  fingerprints: readonly string[],
  rows: Iterable<readonly [uuid: string, hash: string]>,
  trials: number,
): string {
  const sorted = [...rows].map(([uuid, rowHash]) => `${uuid} ${rowHash}`).sort()
  return hash('sha256', JSON.stringify([fingerprints, sorted, trials]))
}

/** Every repetition finds the same item. */
export function itemUuid(experiment: string, arm: number, example: string, trial: number): string {
  return uuidV5('item', experiment, arm, example, trial)
}

/** The conversation of an attempt. */
export function attemptUuid(item: string, attempt: number): string {
  return uuidV5('attempt', item, attempt)
}
