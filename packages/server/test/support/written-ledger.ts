/** Writers that are killed: each records the rows that were acknowledged to it in a ledger. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { programEnd, startProgram } from './child-program.ts'
import { seed } from './counts.ts'
import { openTestDatabase } from './database-open.ts'
import { seededRandom } from './random.ts'
import type { TestDatabase } from './test-database.ts'

export interface WrittenAndKilled {
  kills: number
  /** The rows that each writer has acknowledged before its random last moments. */
  rowsEach: number
  mostMs: number
  /** Called at each kill, before the writer is killed as well. */
  kill?: () => Promise<void>
  /** Called when the writer has ended. */
  recover?: () => Promise<void>
}

/** Expects that the database holds every row that was acknowledged to a writer. */
export async function expectNothingLost(
  target: Pick<TestDatabase, 'databaseUrl' | 'dataDir'>,
  { kills, rowsEach, mostMs, kill, recover }: WrittenAndKilled,
): Promise<void> {
  const random = seededRandom(seed)
  const ledger = join(target.dataDir, 'ledger')
  const acknowledged = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').slice(0, -1) : [])
  for (let round = 0; round < kills; round += 1) {
    const before = acknowledged().length
    // Each process gets new numbers, because an unacknowledged write of the previous one may have been stored.
    const writer = startProgram('writer-child.ts', JSON.stringify({ ...target, ledger, first: 1 + round * 1_000_000 }))
    const end = programEnd(writer)
    let hasEnded = false
    void end.then(() => (hasEnded = true))
    while (acknowledged().length < before + rowsEach && !hasEnded) await delay(5)
    expect(hasEnded, hasEnded ? (await end).stderr : '').toBe(false)
    await delay(random() * mostMs)
    await kill?.()
    writer.kill('SIGKILL')
    await end
    await recover?.()
  }
  const database = await openTestDatabase(target)
  const stored = new Set((await database.client.workspace.findMany({ select: { id: true } })).map(({ id }) => id))
  await database.close()
  const lost = acknowledged().filter((id) => !stored.has(Number(id)))
  expect(lost, `seed ${seed}`).toEqual([])
  expect(acknowledged().length).toBeGreaterThanOrEqual(rowsEach * kills)
}
